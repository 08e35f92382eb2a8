"""Word alignment by edit distance, within the beam that TER searches.

TER aligns words by a dynamic program that looks only at cells near a diagonal. Its beam rarely
matters, so the whole table is computed first, a row at a time in the bits of one integer, and the
beam's own table only when the best path leaves the beam.

References
----------
G. Myers (1999). A fast bit-vector algorithm for approximate string matching based on dynamic
programming. Journal of the ACM 46(3), 395-415.

H. Hyyrö (2003). A bit-vector algorithm for computing Levenshtein and Damerau edit distances.
Nordic Journal of Computing 10(1), 29-39.
"""

import math
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Ints

__all__ = ["Alignment", "Beam", "aligned", "beam_distances"]

Words = Sequence[Hashable]

_BEAM_WIDTH = 25
_UNREACHED = 1 << 40

# the steps of a path through the table
_BOTH, _DELETE, _INSERT = 0, 1, 2


class Beam:
    """The columns that the search looks at in each row, for lengths of output and reference.

    Row i stands for the first i words of the output, column j for the first j words of the
    reference; column j belongs to the beam in row i when ``low[i] <= j < high[i]``.
    """

    def __init__(self, output: int, reference: int) -> None:
        ratio = reference / output if output else 1
        width = _BEAM_WIDTH
        if width < ratio / 2:
            width = math.ceil(ratio / 2 + width)
        diagonal = [math.floor(i * ratio) for i in range(output + 1)]
        self.low = [max(0, j - width) for j in diagonal]
        self.high = [min(reference + 1, j + width) for j in diagonal]
        self.low[0], self.high[0] = 0, reference + 1
        self.high[output] = reference + 1

    def holds(self, path: Sequence[int], output: int, reference: int) -> bool:
        """Whether a path stays inside, from the last cell back to the first."""
        i, j = output, reference
        for step in path:
            if not self.low[i] <= j < self.high[i]:
                return False
            i -= step != _INSERT
            j -= step != _DELETE
        return True


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the words of an output are edited into those of a reference.

    Attributes
    ----------
    distance : int
        Number of edits.
    target : list of int
        For each word of the reference, the position of the word of the output that becomes it;
        for a word that is inserted, of the last word before it (-1 for none).
    output_wrong, reference_wrong : list of bool
        Whether each word is deleted, inserted or substituted.
    inside : bool
        Whether the whole table's best path stays inside the beam.
    """

    distance: int
    target: list[int]
    output_wrong: list[bool]
    reference_wrong: list[bool]
    inside: bool


def aligned(output: Words, reference: Words, beam: Beam) -> Alignment:
    """Align an output with a reference as TER's search does.

    Parameters
    ----------
    output, reference : sequences of words
        Any hashable words; a string is a sequence of one-letter words.
    beam : Beam
        The beam for their lengths.

    Returns
    -------
    Alignment
        Of the fewest edits inside the beam; where several paths have as many, the one that,
        read from the end, keeps or substitutes a word rather than delete one, and deletes rather
        than inserts.

    Notes
    -----
    The best path of the whole table, with those preferences, is the one of the beam's table
    too when it stays inside the beam: its cells have the same values in both tables, and all
    others have at least as high ones in the beam's.

    Examples
    --------
    >>> one = aligned("abcd", "acd", Beam(4, 3))
    >>> one.distance, one.target, one.output_wrong
    (1, [0, 2, 3], [False, True, False, False])
    """
    path = _path(output, reference)
    inside = beam.holds(path, len(output), len(reference))
    if not inside:
        path = _beam_path(output, reference, beam)
    i, j = len(output), len(reference)
    target = [-1] * j
    output_wrong, reference_wrong = [True] * i, [True] * j
    for step in path:
        i -= step != _INSERT
        if step != _DELETE:
            j -= 1
            target[j] = i - (step == _INSERT)
        if step == _BOTH and output[i] == reference[j]:
            output_wrong[i] = reference_wrong[j] = False
    distance = len(path) - output_wrong.count(False)
    return Alignment(distance, target, output_wrong, reference_wrong, inside)


def _path(output: Words, reference: Words) -> list[int]:
    """The best path through the whole table, from its end."""
    equal, rises = _rows(output, reference)
    path = []
    i, j = len(output), len(reference)
    while i and j:
        bit = 1 << j - 1
        if output[i - 1] == reference[j - 1] or not equal[i - 1] & bit:
            step = _BOTH
            i, j = i - 1, j - 1
        elif rises[i - 1] & bit:
            step = _DELETE
            i -= 1
        else:
            step = _INSERT
            j -= 1
        path.append(step)
    return path + [_DELETE] * i + [_INSERT] * j


def _rows(output: Words, reference: Words) -> tuple[list[int], list[int]]:
    """Two bits for every cell of the whole table, those of a row in one integer.

    Bit j - 1 of the first integer of row i tells whether cell (i, j) equals cell (i - 1, j - 1),
    of the second whether it is one more than cell (i - 1, j).
    """
    place: dict[Hashable, int] = {}
    for j, word in enumerate(reference):
        place[word] = place.get(word, 0) | 1 << j
    mask = (1 << len(reference)) - 1
    up, down = mask, 0
    equal, rises = [], []
    for word in output:
        match = place.get(word, 0)
        diagonal = ((match & up) + up ^ up | match | down) & mask
        rise = down | mask ^ (diagonal | up)
        equal.append(diagonal)
        rises.append(rise)
        rise = (rise << 1 | 1) & mask
        up = (diagonal & up) << 1 & mask | mask ^ (diagonal | rise)
        down = rise & diagonal
    return equal, rises


def _beam_path(output: Words, reference: Words, beam: Beam) -> list[int]:
    """The best path through the beam's table, from its end."""
    number: dict[Hashable, int] = {}
    coded = [
        np.array([[number.setdefault(word, len(number)) for word in words]], dtype=np.int64)
        for words in (output, reference)
    ]
    rows = _beam_rows(coded[0], coded[1][0], beam)
    table = [dict(enumerate(row[0].tolist(), low)) for row, low in zip(rows, beam.low, strict=True)]
    path = []
    i, j = len(output), len(reference)
    while i and j:
        wrong = output[i - 1] != reference[j - 1]
        here = table[i][j]
        if table[i - 1].get(j - 1, _UNREACHED) + wrong == here:
            step = _BOTH
            i, j = i - 1, j - 1
        elif table[i - 1].get(j, _UNREACHED) + 1 == here:
            step = _DELETE
            i -= 1
        else:
            step = _INSERT
            j -= 1
        path.append(step)
    return path + [_DELETE] * i + [_INSERT] * j


def beam_distances(outputs: Ints, reference: Ints, beam: Beam) -> Ints:
    """Fewest edits inside the beam, for many outputs of one length.

    Parameters
    ----------
    outputs : (n_outputs, length) array of int
        Words of each output.
    reference : (n_reference,) array of int
        Words of the reference.
    beam : Beam
        The beam for their lengths.

    Returns
    -------
    (n_outputs,) array of int

    Examples
    --------
    >>> beam_distances(np.array([[1, 2], [2, 1]]), np.array([2, 2]), Beam(2, 2))
    array([1, 1])
    """
    # only the last row is needed; the others are not held
    last: Ints = deque(_beam_rows(outputs, reference, beam), maxlen=1).pop()
    return last[:, -1]


def _beam_rows(outputs: Ints, reference: Ints, beam: Beam) -> Iterator[Ints]:
    """Rows of the beam's tables, each of shape (n_outputs, high[i] - low[i])."""
    row = np.tile(np.arange(len(reference) + 1), (len(outputs), 1))
    yield row
    for i, word in enumerate(outputs.T, 1):
        low, high = beam.low[i], beam.high[i]
        # the row before, from one column left of this row's first column to its last
        before = np.full((len(row), high - low + 1), _UNREACHED)
        first, last = max(low - 1, beam.low[i - 1]), min(high, beam.high[i - 1])
        shared = row[:, first - beam.low[i - 1] : last - beam.low[i - 1]]
        before[:, first - low + 1 : last - low + 1] = shared
        wrong = np.ones((len(row), high - low), dtype=np.int64)
        start = max(low, 1)
        wrong[:, start - low :] = word[:, np.newaxis] != reference[start - 1 : high - 1]
        best = np.minimum(before[:, :-1] + wrong, before[:, 1:] + 1)
        # an insertion adds one to the cell on the left
        column = np.arange(high - low)
        row = np.minimum.accumulate(best - column, axis=1) + column
        yield row
