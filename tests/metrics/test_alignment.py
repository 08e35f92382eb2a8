import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import BeamEditDistance, _flip_trace, trace_to_alignment

from steelyard.metrics import alignment as alignment_module
from steelyard.metrics.alignment import Beam, aligned, beam_distances

words = st.text("abc", max_size=40)


def agrees_with_sacrebleu(output, reference):
    distance, trace = BeamEditDistance(list(reference))(list(output))
    target, reference_wrong, output_wrong = trace_to_alignment(_flip_trace(trace))
    got = aligned(output, reference, Beam(len(output), len(reference)))
    assert got.distance == distance
    assert dict(enumerate(got.target)) == target
    assert got.output_wrong == [bool(wrong) for wrong in output_wrong]
    assert got.reference_wrong == [bool(wrong) for wrong in reference_wrong]
    return got


@settings(deadline=None)
@given(words, words.filter(bool))
def test_equals_sacrebleu(output, reference):
    agrees_with_sacrebleu(output, reference)


@settings(deadline=None)
@given(words, words.filter(bool))
def test_equals_sacrebleu_by_the_table_of_the_beam(output, reference):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Beam, "holds", lambda *_: False)
        agrees_with_sacrebleu(output, reference)


def test_equals_sacrebleu_where_the_best_path_leaves_the_beam():
    rng = np.random.default_rng(24)
    outside = 0
    for _ in range(40):
        reference = "".join(map(chr, rng.integers(65, 150, size=100)))
        output = reference[rng.integers(30, 60) :] + reference[:20]
        outside += not agrees_with_sacrebleu(output, reference).inside
        output = "".join(map(chr, rng.integers(65, 150, size=rng.integers(1, 6))))
        outside += not agrees_with_sacrebleu(output, reference).inside
    assert outside > 10


def test_many_outputs_have_the_distances_they_have_alone():
    rng = np.random.default_rng(7)
    reference, outputs = rng.integers(0, 9, size=70), rng.integers(0, 9, size=(20, 12))
    peer = BeamEditDistance(reference.tolist())
    expected = [peer(output.tolist())[0] for output in outputs]
    assert beam_distances(outputs, reference, Beam(12, 70)).tolist() == expected


def test_the_beam_is_wider_for_a_very_short_output():
    beam = Beam(1, 120)
    assert (beam.low, beam.high) == ([0, 35], [121, 121])
    assert alignment_module._BEAM_WIDTH == 25
