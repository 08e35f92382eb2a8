"""Documents in the store: kept for who began them, on either database."""

from steelyard.collect.sampling.unit import Target, Unit
from steelyard.collect.store.leases import Lease

MINUTE = 60_000


def segments(document, size, first):
    """The segments of a document of one system, which begins at a place of the draw."""
    return [
        Unit(
            item=f"{document}-{place}",
            content={"output": f"{document} {place}"},
            wanted=1,
            targets=(
                Target(
                    item=f"{document}-{place}", system="s", draw=first + place, cluster=document
                ),
            ),
            document=document,
            place=place,
        )
        for place in range(1, size + 1)
    ]


def test_a_document_is_kept_for_who_began_it_and_freed_after_a_while(office):
    office.begin([*segments("a", 3, 0), *segments("b", 2, 3)])
    first, other = (office.next(name, documents=True) for name in ("ann", "bob"))
    (name, place), (another, other_place) = (
        lease.shown.content["output"].split() for lease in (first, other)
    )
    assert (place, other_place) == ("1", "1")
    assert another != name
    office.submit("ann", first)
    second = office.next("ann", documents=True)
    assert second.shown.content["output"] == f"{name} 2"
    # a draft keeps the rest for longer too
    office.now += 29 * MINUTE
    office.draft("ann", second, {}, documents=True)
    office.now += 2 * MINUTE
    while isinstance(other, Lease):
        assert other.shown.content["output"].split()[0] == another
        office.submit("bob", other)
        other = office.next("bob", documents=True)
    assert other == "wait"
    office.now += 29 * MINUTE
    assert office.next("bob", documents=True).shown.content["output"] == f"{name} 2"
    # who comes back gets nothing of it any more
    assert office.next("ann", documents=True) == "wait"
