"""A proof of optimality that goes on where the time limit stopped it."""

from __future__ import annotations

from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.interrupts import interruptible
from tellapart.progress import Progress, Stage, silent, solver_progress
from tellapart.selection.selection import Selection
from tellapart.strs.contract import Control


@interruptible()
def prove_further(
    selection: Selection,
    samples: Samples,
    time_limit: float,
    *,
    keep: bool = False,
    progress: Progress = silent,
) -> Selection:
    """Return the selection with what is proved of it after so many more seconds.

    Once it is proved to be optimal, the time goes into the runner-up and what is nearly as good.

    Parameters
    ----------
    selection : Selection
        A selection whose proof may not be complete.
    samples : Samples
        The rows it was made on.
    time_limit : float
        Seconds at most.
    keep : bool
        Whether the choice stays, even where the search meets a better one.
    progress : callable
        Called with what is being done.

    Raises
    ------
    InputError
        Where the selection is not proved to be optimal and holds no search that could go on.
    """
    if selection.status == "optimal":
        problem = selection.problem
        control = Control(time_limit=time_limit)
        return selection if problem is None else problem.look_around(selection, control)
    proof = selection.proof
    if proof is None:
        reason = selection.why_unproved or (
            "the search was not kept, as that of a large problem, of a bound at another λ or of "
            "one comparison of many; call again with a longer time_limit"
        )
        raise InputError(f"prove() has no proof to go on with: {reason}")
    control = Control(
        gap=proof.gap, time_limit=time_limit, progress=solver_progress(progress, "select")
    )
    stage = Stage("prove")
    proved = proof.resume(selection, samples, control, keep=keep)
    stage.done(proved.certificate)
    return proved
