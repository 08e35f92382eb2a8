"""Weekly looks at systems, judge and raters: false alarms of a year, and how soon a change is found.

``python -m benchmarks.weeks [YEARS]``: two systems, 52 weeks of 200 outputs each, every week 20 judgments of each
system by two of eight raters, every fifth output judged twice, and five outputs of earlier weeks judged again. The
change comes in week 21. *alone*: each week tested against the first eight by itself, at 5%.
"""

import sys

import numpy as np
import polars as pl

from steelyard.questions.weeks import Week, weeks

COUNT, POOL, JUDGED, AGAIN, RATERS, START = 52, 200, 20, 5, 8, 20
KINDS = {
    "nothing": {},
    "one system falls by 0.3": {"system": -0.3},
    "one system falls by 0.6": {"system": -0.6},
    "judge 0.3 higher": {"judge": 0.3},
    "judge 0.6 higher": {"judge": 0.6},
    "raters 0.3 stricter": {"raters": -0.3},
    "raters 0.6 stricter": {"raters": -0.6},
}


def year(change, rng):
    """Return the weeks of a year; sizes are in standard deviations of a judgment."""
    leniency = 0.2 * rng.standard_normal(RATERS)
    some, before = [], []
    for t in range(COUNT):
        late = t >= START
        quality = {
            s: 3
            + np.sqrt(0.5) * rng.standard_normal(POOL)
            + (change.get("system", 0) * late if s == "a" else 0)
            for s in "ab"
        }
        outputs = pl.DataFrame(
            {
                "item": [f"{t}-{i}" for _ in "ab" for i in range(POOL)],
                "system": [s for s in "ab" for _ in range(POOL)],
                "judge": np.concatenate(
                    [
                        q + 0.6 * rng.standard_normal(POOL) + change.get("judge", 0) * late
                        for q in quality.values()
                    ]
                ),
            }
        )
        shift = change.get("raters", 0) * late
        rows = []

        def judged(item, s, value, who, rows=rows):
            score = value + leniency[who] + np.sqrt(0.46) * rng.standard_normal()
            rows.append((item, s, f"r{who}", float(score)))

        for s, q in quality.items():
            for place, i in enumerate(rng.permutation(POOL)[:JUDGED]):
                for who in rng.permutation(RATERS)[: 2 if place % 5 == 0 else 1]:
                    judged(f"{t}-{i}", s, q[i] + shift, who)
                before.append((t, f"{t}-{i}", s, q[i]))
        old = [one for one in before if one[0] < t]
        for place in rng.permutation(len(old))[:AGAIN]:
            _, item, s, value = old[place]
            judged(item, s, value + shift, rng.integers(RATERS))
        judgments = pl.DataFrame(rows, ["item", "system", "rater", "score"], orient="row")
        some.append(Week(f"week {t + 1}", outputs, judgments))
    return some


def alone(stream):
    """Return the first week that differs from the first eight by itself."""
    mean, error = stream.mean[:8].mean(), np.sqrt(np.mean(stream.error[:8] ** 2) / 8)
    z = np.abs(stream.mean[8:] - mean) / np.sqrt(stream.error[8:] ** 2 + error**2)
    return 8 + int(np.argmax(z > 1.96)) if np.any(z > 1.96) else None


def main(years=200):
    """Print the table."""
    print(f"{years} years of {COUNT} weeks; the change comes in week {START + 1}")
    print(
        f"{'change':26} {'named':>6} {'other':>6} {'before':>7} {'weeks':>6} {'alone, too early':>17}"
    )
    for place, (name, change) in enumerate(KINDS.items()):
        rng = np.random.default_rng(place)
        right = other = early = by_itself = 0
        delays = []
        for _ in range(years):
            found = weeks(year(change, rng))
            asked = next(iter(change), None)
            for one in found.changes:
                noticed = int(one.noticed.split()[1]) - 1
                is_early = noticed < START or not change
                early += is_early
                is_right = one.what == asked and one.system in {None, "a"}
                right += is_right and not is_early
                other += not is_right and not is_early
                delays += [noticed - START + 1] if is_right and not is_early else []
            first = [alone(stream) for stream in (*found.systems.values(), found.judge)]
            by_itself += any(one is not None and (one < START or not change) for one in first)
        delay = f"{np.median(delays):.0f}" if delays else ""
        print(
            f"{name:26} {right / years:6.0%} {other / years:6.0%} {early / years:7.0%} {delay:>6} "
            f"{by_itself / years:17.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
