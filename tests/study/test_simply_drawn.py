import numpy as np
import polars as pl
import pytest

from steelyard.errors import NotEstimableError
from steelyard.sampling.sample import sample
from steelyard.study import Study
from steelyard.tables import read_outputs

RNG = np.random.default_rng(0)
OUTPUTS = pl.DataFrame(
    [
        {"item": f"i{i}", "system": system, "output": f"{i} {i % 2 and system}", "length": number}
        for system in "AB"
        for i, number in enumerate(RNG.uniform(1, 2, size=100))
    ]
)


def study(**options):
    """Draw 40 outputs of each system and judge each twice."""
    drawn = sample(read_outputs(OUTPUTS), 40, seed=1, **options).frame.drop("output", "length")
    return Study.read(OUTPUTS, judged(drawn, "p"))


def judged(drawn, prompt):
    rng = np.random.default_rng(2)
    chance = drawn["item"].str.slice(1).cast(pl.Int64).to_numpy() / 100
    return pl.concat(
        drawn.with_columns(
            rater=pl.lit(rater),
            prompt=pl.lit(prompt),
            score=pl.Series((rng.uniform(size=drawn.height) < chance).astype(float)),
        )
        for rater in ("r", "s")
    )


COMMANDS = {
    "diagnose": lambda one: one.diagnose(resamples=60),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_only_simple_draws_are_taken_as_such(command):
    ask = COMMANDS[command]
    assert ask(study())
    strata = {"design": "stratified", "quantiles": 4, "metric": "length"}
    with pytest.raises(
        NotEstimableError, match=r"drawn by strata or with unequal .*`steelyard est"
    ):
        ask(study(**strata))
    with pytest.raises(NotEstimableError, match="drawn by strata or with unequal"):
        ask(study(design="proportional-to-size", size="length"))
    with pytest.raises(NotEstimableError, match=r"paired draw, .* draw a simple sample"):
        ask(study(design="paired"))


def test_every_prompt_may_have_a_simple_draw_of_its_own():
    outputs = read_outputs(OUTPUTS)
    parts = [
        judged(sample(outputs, n, seed=n).frame.drop("output", "length"), prompt)
        for n, prompt in ((30, "p"), (40, "q"))
    ]
    both = Study.read(OUTPUTS, pl.concat(parts))
    for ask in COMMANDS.values():
        assert ask(both)
    assert len(both.estimate(())) == 4
