from hypothesis import given
from hypothesis import strategies as st

from steelyard.metrics.chunk_alignment import fewest_chunks


def cost(partners):
    """Unaligned words, chunks and distances of an alignment."""
    chunks = distance = 0
    before = -2
    for word, place in enumerate(partners):
        if place >= 0:
            chunks += place != before + 1
            distance += abs(place - word)
        before = place if place >= 0 else -2
    return partners.count(-1), chunks, distance


def alignments(options, taken=()):
    """Every one-to-one alignment."""
    if len(taken) == len(options):
        yield list(taken)
        return
    for place in (-1, *options[len(taken)]):
        if place < 0 or place not in taken:
            yield from alignments(options, (*taken, place))


@given(st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True), max_size=6))
def test_finds_what_trying_all_alignments_finds(options):
    found = fewest_chunks(options)
    assert all(place < 0 or place in places for place, places in zip(found, options, strict=True))
    aligned = [place for place in found if place >= 0]
    assert len(set(aligned)) == len(aligned)
    assert cost(found) == min(cost(one) for one in alignments(options))


def test_prefers_a_chunk_to_a_near_word():
    # "a b c a b" with "c a b": the last three words, though the first "a b" is as long
    assert fewest_chunks([[1], [2], [0], [1], [2]]) == [-1, -1, 0, 1, 2]


def test_continues_a_chunk_far_beyond_the_nearest_places():
    # fifty times "x" in the reference, then "y x": the "x" after "y" continues the chunk
    assert fewest_chunks([[50], [*range(50), 51]]) == [50, 51]


def test_no_words_give_no_partners():
    assert fewest_chunks([]) == []
