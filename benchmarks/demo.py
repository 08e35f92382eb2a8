"""What the demo prints, over many seeds: how often intervals hold the truth, and what plain means would cost.

python -m benchmarks.demo --seeds 100
"""

import argparse
import sys

import polars as pl

from steelyard.demo import campaign
from steelyard.questions.worth import worth
from steelyard.study import Study

__all__ = ["main"]


def main() -> None:
    """Print a line for each prompt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args().seeds
    rows = [row for seed in range(seeds) for row in _of_seed(seed)]
    found = pl.DataFrame(rows).group_by("prompt", maintain_order=True).mean()
    for row in found.iter_rows(named=True):
        sys.stdout.write(
            f"{row['prompt']}: {seeds} campaigns; {row['held']:.1%} of intervals hold the truth, "
            f"{row['plain_held']:.1%} of plain means'; plain means would need {row['times']:.2f} times the "
            f"judgments; a verdict on a pair is wrong in {row['wrong']:.1%} of campaigns, "
            f"{row['decided']:.1f} of 6 pairs are decided\n"
        )


def _of_seed(seed: int) -> list[dict[str, float | str]]:
    made = campaign(seed=seed)
    study = Study.read(pl.DataFrame(made.outputs), pl.DataFrame(made.judgments))
    rows: list[dict[str, float | str]] = []
    for prompt in study.prompts:
        found = study.estimate(prompts=[prompt])
        [compared] = study.compare(prompts=[prompt])
        truth = {one.system: made.truth[one.system, prompt] for one in found}
        saved = worth(found)
        assert saved is not None
        verdicts = [one for one in compared.pairs if one.verdict in {"a", "b"}]
        wrong = [one for one in verdicts if (truth[one.a] > truth[one.b]) != (one.verdict == "a")]
        rows.append(
            {
                "prompt": prompt,
                "held": sum(one.low <= truth[one.system] <= one.high for one in found) / len(found),
                "plain_held": sum(
                    one.baseline.low <= truth[one.system] <= one.baseline.high for one in found
                )
                / len(found),
                "times": 1 / saved.share,
                "wrong": float(bool(wrong)),
                "decided": float(len(verdicts)),
            }
        )
    return rows


if __name__ == "__main__":
    main()
