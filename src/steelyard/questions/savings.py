"""What earlier versions saved: estimates beside the same without them."""

from steelyard.questions.estimates import Estimate, Estimates

__all__ = ["with_savings"]


def with_savings(found: Estimates, alone: Estimates) -> Estimates:
    """Return estimates with a note on what earlier versions saved, system by system.

    Parameters
    ----------
    found, alone : Estimates
        With the earlier versions, and without them.
    """
    known = {(one.prompt, one.system, one.slice): one for one in alone}
    notes = []
    for one in found:
        other = known.get((one.prompt, one.system, one.slice))
        if other is not None:
            notes.append(f"{one.prompt}, {one.system}: {_saved(one, other)}")
    return Estimates(found, found.left_out, remarks=(*found.remarks, *notes))


def _saved(one: Estimate, alone: Estimate) -> str:
    width, before = one.high - one.low, alone.high - alone.low
    if width >= before:
        return "earlier versions save nothing here"
    share = 1 - (width / before) ** 2
    return (
        f"earlier versions save about {share:.0%} of the judgments: the interval is {width:.3g} wide, and "
        f"{before:.3g} without them"
    )
