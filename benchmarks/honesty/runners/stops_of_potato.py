"""potato-annotation: its contract "ppi" with a greatest width, evaluated again after every batch of labels.

The contract is asked as its engine asks it: each evaluation is one more look, and spends level.
"""

from types import SimpleNamespace

from loop import serve
from potato.labeling_engine.contracts.base import CalibrationView, CalItem, PopItem, TierPred
from potato.labeling_engine.contracts.ppi import PPI


def stops(case):
    """Whether the interval ever missed, the labels at the end, and whether it missed there."""
    batch, goal, truth = int(case["batch"]), float(case["goal"]), float(case["truth"])
    wanted = SimpleNamespace(
        confidence=0.95, estimand="mean", by=None, max_width=2 * goal, raw={"tier": "machine"}
    )
    labels = [str(end) for end in case["bounds"]]
    population = [
        PopItem(str(item), tiers=[TierPred(value)]) for item, value in enumerate(case["pool"])
    ]
    human, chosen = case["human"], case["chosen"]
    calibration, ever, look = [], False, 0
    for start in range(0, len(human), batch):
        new = slice(start, start + batch)
        for item, score in zip(chosen[new], human[new], strict=True):
            tiers = [TierPred(case["pool"][item])]
            calibration.append(CalItem(str(item), score, "cert", 0.1, tiers=tiers))
        view = CalibrationView("score", labels, ["machine"], calibration, population)
        got = PPI(wanted).evaluate(view, look + 1)
        if not got.ran:
            continue
        look += 1
        one = got.metrics["estimates"]["all"]["mean"]
        missed = not one["lo"] <= truth <= one["hi"]
        ever |= missed
        if got.status == "met":
            return ever, len(calibration), missed
    return ever, len(calibration), missed


serve({"potato ppi contract": stops})
