"""Which kinds of campaigns each device of `benchmarks.devices` is tried on, and how often."""

from itertools import product

from benchmarks.device_worlds import RATERS, SHAPES, Kind, Paper
from benchmarks.replays import PROMPTS

SIZES = (10, 20, 50, 200)


def leniency():
    """With one system nothing is taken out: its raters are those of the campaign."""
    for k, n, raters in product((2, 4, 12), SIZES, RATERS):
        yield Kind(k, n, raters=raters), _runs(k, n)
    for shape, n, raters in product(SHAPES[1:], (10, 20, 50), ("a few busy", "ten")):
        yield Kind(4, n, shape, raters=raters), 300
    for metrics in ("none", "good", "many"):
        yield Kind(4, 20, "normal", metrics, "a few busy"), 300
    for (task, prompt), n in product(PROMPTS, (10, 20, 50, 150)):
        yield Paper(task, prompt, n), 500 if n < 100 else 125
    yield Paper("cnndm", "hter", 150, reference=True), 600


def control():
    for k, n, metrics in product((1, 2, 4, 12), SIZES, ("useless", "good", "many", "difficulty")):
        yield Kind(k, n, "normal", metrics), 2 * _runs(k, n)
    for shape, n, metrics in product(SHAPES[1:], (10, 50), ("useless", "good")):
        yield Kind(4, n, shape, metrics), 400
    for n, raters in product((10, 50), ("a few busy", "ten")):
        yield Kind(4, n, raters=raters), 300
    for (task, prompt), n in product(PROMPTS, (10, 20, 50)):
        yield Paper(task, prompt, n), 300


def borrowed():
    """With fewer than four systems nothing is lent."""
    for k, shape, n in product((4, 12), SHAPES, SIZES):
        yield Kind(k, n, shape), 240 if k == 4 else 80
    for n, raters in product((10, 50), ("a few busy", "ten")):
        yield Kind(4, n, raters=raters), 200
    for (task, prompt), n in product(PROMPTS, (10, 20, 50)):
        yield Paper(task, prompt, n), 200


def pair_leniency():
    for k, n, raters in product((2, 4), (10, 20, 50), RATERS):
        yield Kind(k, n, raters=raters), 200
    for (task, prompt), n in product(PROMPTS, (20, 50)):
        yield Paper(task, prompt, n), 100


def pair_control():
    for k, n, metrics in product((2, 4), SIZES, ("useless", "good", "many", "difficulty")):
        yield Kind(k, n, "normal", metrics), 800 if k == 2 else 200
    for shape, n in product(SHAPES[1:], (20,)):
        yield Kind(4, n, shape, "useless"), 200
    for (task, prompt), n in product(PROMPTS, (20, 50)):
        yield Paper(task, prompt, n), 100


def scaled_control():
    for k, n, metrics in product((2, 4), (10, 20, 50), ("useless", "good", "many", "difficulty")):
        yield Kind(k, n, "normal", metrics), 600 if k == 2 else 200


def pair_tails():
    for k, shape, n in product((4, 12), SHAPES, (10, 20, 50)):
        yield Kind(k, n, shape, "none"), 120 if k == 4 else 30


def pairing():
    for shape, n in product(("normal", "nothing by item", "skewed", "binary"), (10, 20, 50, 200)):
        yield Kind(4, n, shape, "none"), 300
    for (task, prompt), n in product(PROMPTS, (20, 50)):
        yield Paper(task, prompt, n), 150


def _runs(k, n):
    """How many campaigns: enough for a standard error of about 0.01."""
    return {1: 800, 2: 500, 4: 400, 12: 120}[k] // (2 if n == 200 else 1)


KINDS = {
    one.__name__: one
    for one in (
        leniency,
        control,
        borrowed,
        pair_leniency,
        pair_control,
        scaled_control,
        pair_tails,
        pairing,
    )
}
