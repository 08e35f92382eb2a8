"""The replays of a cell through both trees, a few at a time."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from queue import SimpleQueue

from benchmarks.campaigns import plain
from benchmarks.campaigns.figures import OWN, row
from benchmarks.campaigns.trees import Tree


class Lanes:
    """Pairs of processes, one of each tree, that answer campaigns side by side."""

    def __init__(self, trees, *, jobs, level):
        self.level = level
        self._free = SimpleQueue()
        self._open = ExitStack()
        self._threads = self._open.enter_context(ThreadPoolExecutor(jobs))
        for _ in range(jobs):
            lane = {
                who: self._open.enter_context(closing(Tree(path))) for who, path in trees.items()
            }
            self._free.put(lane)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.close()

    def rows(self, cell, reps):
        """The figures of every contestant of a cell, by name."""
        campaigns, answers = self.answers(cell, reps)
        known = {"campaigns": campaigns, "plain": answers["t"]}
        return {
            who: row(cell, who, given, compared=not who.endswith(OWN), **known)
            for who, given in answers.items()
        }

    def answers(self, cell, reps):
        """The campaigns of all replays, and the answers of every contestant by name."""
        told = list(self._threads.map(lambda run: self._replay(cell, run), range(reps)))
        campaigns = [campaign for campaign, _ in told]
        return campaigns, {who: [one[who] for _, one in told] for who in told[0][1]}

    def _replay(self, cell, run):
        campaign = cell.campaign(run)
        answers = {"t": plain.answer(campaign, self.level)}
        lane = self._free.get()
        try:
            for who, tree in lane.items():
                answers[who] = tree.answer(campaign, level=self.level, compare=cell.k > 1)
            if cell.new_version:
                own = campaign.only(cell.k - 1)
                for who, tree in lane.items():
                    found = tree.answer(own, level=self.level, compare=False)
                    answers[who + OWN] = found
        finally:
            self._free.put(lane)
        return campaign, answers
