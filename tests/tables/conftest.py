"""A small pool and its judgments, in whatever form a test asks for."""

import polars as pl
import pytest


@pytest.fixture
def pool():
    return pl.DataFrame(
        {
            "item": ["1", "007", "x", "1"],
            "system": ["b", "b", "b", "a"],
            "output": ["", "a, b", 'say "hi"\nthen\r\ngo', "é — 中"],
            "input": ["q1", None, "q3", "q1"],
            "reference": [["one", 'two, "2"'], [], ["[1]"], ['["x"]']],
            "rouge-l": [0.5, 1e-300, -3.0, 0.1 + 0.2],
            "length": [0, 4, 17, 5],
            "note": ["", "n", None, "true"],
        }
    )


@pytest.fixture
def judged():
    return pl.DataFrame(
        {
            "item": ["1", "007", "x", "1"],
            "system": ["b", "b", "b", "a"],
            "rater": ["r1", "r1", "r\n2", "r1"],
            "prompt": ["fluency", "fluency", "fluency", "overall, all"],
            "score": [1.0, 0.0, 2.5, 1e-17],
            "seconds": [1.5, None, 3.0, 0.25],
            "time": ["2024-01-01T00:00:00Z", None, "", "later"],
            "probability": [0.5, 1.0, None, 0.25],
            "comment": ["ok", None, 'he said "no"', ""],
        }
    )
