"""A clock that tests hold in their hand: limits pass when the test says so, on any machine."""

from tellapart.strs.contract import Control


class HeldClock:
    """Stands still until `now` is set; with a `step`, moves that far at every reading."""

    def __init__(self, step=0.0):
        self.now = 0.0
        self.step = step

    def __call__(self):
        self.now += self.step
        return self.now


def stopped_after(readings, **settings):
    """Return a control whose limit passes once the clock has been read so many times."""
    return Control(time_limit=readings, clock=HeldClock(step=1.0), **settings)


def stopped_by_progress(**settings):
    """Return a control whose limit, far away by the wall, passes when a solver tells progress."""
    clock = HeldClock()

    def pass_limit(*_):
        clock.now = 1e6

    return Control(time_limit=1e6, clock=clock, progress=pass_limit, **settings)
