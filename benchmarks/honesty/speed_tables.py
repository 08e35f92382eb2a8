"""The tables of the page about speed and memory, and about faults, made from the results."""

from collections import defaultdict

from benchmarks.honesty.table_text import table
from benchmarks.speed.contests import CONTESTS, METRICS, US

_RATES = {name for name, _, _ in METRICS}


def seconds(value):
    """Processor time in a unit that reads well."""
    if value < 0.001:
        return f"{1e6 * value:.3g} µs"
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:,.3g} s"


def _measured(results):
    found = defaultdict(dict)
    for record in results.of("speed"):
        found[record["cell"]][record["who"], record["n"]] = record
    return found


def ratio(ours, theirs):
    """How many times as much as ours theirs is, in two digits."""
    found = theirs / ours
    if found >= 10:
        return f"{found:,.0f}"
    return f"{found:.1f}" if found >= 1 else f"{found:.2g}"


def growth(results):
    """Every contest at its largest size, and at the largest of a peer: time, memory, and the ratio of times."""
    found = _measured(results)
    body = []
    for contest in CONTESTS:
        own = {size: one for (who, size), one in found[contest.name].items() if who == US}
        if contest.name in _RATES or not own:
            continue
        beside = {size: who for who, size in found[contest.name] if who != US and size in own}
        for size in sorted({max(own), max(beside, default=max(own))}):
            peer = found[contest.name][beside[size], size] if size in beside else None
            body.append(
                [
                    contest.name,
                    _amount(size, contest.what),
                    *_cells(own[size]),
                    *_beside(own[size], peer),
                ]
            )
    head = ["job", "size", "steelyard", "memory", "peer", "its time", "its memory", "times ours"]
    return table(head, body)


def _amount(size, what):
    return f"1 {what.removesuffix('s')}" if size == 1 else f"{size:,} {what}"


def _cells(one):
    return [seconds(one["seconds"]), f"{one['megabytes']:,} MB"]


def _beside(own, peer):
    if peer is None:
        return [""] * 4
    return [peer["who"], *_cells(peer), ratio(own["seconds"], peer["seconds"])]


def rates(results):
    """Metrics: pairs per second of processor time, each at the largest number that it was given."""
    found = _measured(results)
    body = []
    for name, peer, _ in METRICS:
        ours, theirs = (_rate(found[name], who) for who in (US, peer))
        if ours and theirs:
            body.append([name, peer, f"{ours:,.0f}", f"{theirs:,.0f}", ratio(theirs, ours)])
    return table(["metric", "peer", "ours, pairs/s", "peer's", "ratio"], body)


def _rate(found, who):
    sizes = [size for name, size in found if name == who]
    return max(sizes) / found[who, max(sizes)]["seconds"] if sizes else None


def servers(results):
    """Annotation servers: processor time of a judgment, and memory."""
    body = [
        [
            f"{record['who']} {record['version']}",
            seconds(record["seconds"]),
            f"{record['megabytes']:,} MB",
            f"{record['judgments']:,}",
            str(record["n"]),
        ]
        for record in results.of("speed")
        if record["cell"] == "annotation server"
    ]
    head = ["server", "processor time of a judgment", "memory", "judgments", "raters at once"]
    return table(head, body)


def faults(results):
    """What was tried on whom, what went wrong, and what was lost."""
    body = [
        [
            record["who"],
            record["cell"],
            f"{record['tried']:,}",
            f"{record['wrong']:,}",
            f"{record['lost']:,} of {record['of']:,} {record['unit']}" if record["unit"] else "",
        ]
        for record in sorted(results.of("faults"), key=lambda one: (one["who"], one["cell"]))
    ]
    return table(["whom", "fault", "tried", "went wrong", "lost"], body)
