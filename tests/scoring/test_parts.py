from importlib.metadata import PackageNotFoundError, version

from steelyard.scoring.parts import libraries


def test_versions_of_the_libraries_of_a_metric_are_recorded():
    plain = libraries(["rouge-l"])
    assert {"steelyard", "numpy", "polars"} <= set(plain)
    assert "torch" not in plain
    neural = libraries(["rouge-l", "sentence-similarity:model=x"])
    try:
        expected = version("torch")
    except PackageNotFoundError:
        expected = "unknown"
    assert neural["torch"] == expected
    assert set(neural) - set(plain) == {"torch", "transformers", "sentence-transformers"}
