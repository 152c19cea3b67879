import numpy as np
import pytest

from reproduction.real_data import convolve, load_digits, load_patients
from tellapart.errors import InputError


def test_convolution_takes_means_of_windows_two_apart():
    image = np.arange(49).reshape(1, 7, 7)
    means = convolve(image)[0] * 255
    assert means.shape == (3, 3)
    assert means[0, 0] == pytest.approx(image[0, :3, :3].mean())
    assert means[1, 2] == pytest.approx(image[0, 2:5, 4:7].mean())


def test_bundled_data_stand_in():
    digits, patients = load_digits(None), load_patients(None)
    assert digits.values.shape == (1797, 64)
    assert digits.side == 8
    assert patients.without.shape == (357, 30)
    assert patients.with_it.shape == (212, 30)


def test_files_are_read_from_the_folder(tmp_path):
    images = np.zeros((3, 28, 28), dtype=np.uint8)
    images[1] = 255
    labels = np.array([0, 6, 8])
    np.savez(
        tmp_path / "mnist.npz",
        train_images=images,
        train_labels=labels,
        test_images=images,
        test_labels=labels,
    )
    digits = load_digits(tmp_path)
    assert digits.values.shape == (6, 169)
    assert digits.values[1].tolist() == [1.0] * 169
    (tmp_path / "critical_care.csv").write_text(
        "age,sex,pulse,sepsis\n70,Male,80.5,0\n60,Female,99,1\n50,Male,70,0\n"
    )
    patients = load_patients(tmp_path)
    assert patients.features == ("age", "pulse")
    assert patients.with_it.tolist() == [[60.0, 99.0]]


@pytest.mark.parametrize("load", [load_digits, load_patients])
def test_a_folder_without_the_file_is_refused(tmp_path, load):
    with pytest.raises(InputError, match="--data must be a folder that holds"):
        load(tmp_path)
