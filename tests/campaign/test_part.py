import numpy as np
import pytest

from steelyard.campaign.part import part_of
from steelyard.model.campaign import Campaign, Pools


@pytest.fixture
def made():
    """Three items, two systems, a second judgment of the last output."""
    output = np.array([0, 1, 2, 3, 4, 5, 5])
    item = np.array([0, 0, 1, 1, 2, 2])
    system = np.array([0, 1, 0, 1, 0, 1])
    pools = Pools.apart(
        np.array([9, 9]), np.zeros((2, 1)), np.ones((2, 1, 1)), np.full((2, 2), 9.0)
    )
    return Campaign(
        systems=("a", "b"),
        metrics=("m",),
        score=np.arange(7.0),
        output=output,
        item=item,
        writers=np.eye(2)[system],
        metric=np.arange(6.0)[:, np.newaxis],
        pools=pools,
        in_pool=np.ones((3, 2), dtype=bool),
        rater=np.array([4, 4, 4, 2, 2, 2, 4]),
    )


def test_a_part_holds_its_judgments_and_what_they_are_of(made):
    part = part_of(made, np.array([2, 5, 6]))
    assert part.score.tolist() == [2, 5, 6]
    assert part.output.tolist() == [0, 1, 1]
    assert part.item.tolist() == [0, 1]
    assert part.metric[:, 0].tolist() == [2, 5]
    assert part.writers.tolist() == [[1, 0], [0, 1]]
    assert part.rater.tolist() == [1, 0, 1]
    assert part.in_pool.shape == (2, 2)


def test_all_of_a_campaign_is_the_campaign(made):
    part = part_of(made, np.ones(7, dtype=bool))
    for name in ("score", "output", "item", "writers", "metric"):
        assert (getattr(part, name) == getattr(made, name)).all()


def test_copies_of_an_item_are_other_items(made):
    part = part_of(made, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
    assert part.output.tolist() == [0, 2, 1, 3]
    assert part.item[part.output].tolist() == [0, 0, 1, 1]
    assert part.score.tolist() == [0, 1, 0, 1]
