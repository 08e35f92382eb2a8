"""The benchmark of campaigns asks both trees the same, and marks what misses a target."""

import numpy as np
import pytest
from benchmarks.campaigns import __main__ as campaigns
from benchmarks.campaigns import plain
from benchmarks.campaigns.figures import Figure, ratio, share
from benchmarks.campaigns.replays import Lanes
from benchmarks.campaigns.targets import misses
from benchmarks.campaigns.trees import HERE, Tree, checked_tree
from benchmarks.campaigns.worlds import ALWAYS_EQUAL, KINDS, Cell
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel

# A package of plain means whose intervals reach REACH standard errors.
STAND_IN = """
from itertools import combinations
from types import SimpleNamespace as Found

class Study:
    @classmethod
    def read(cls, outputs, judgments):
        study = cls()
        study.scores = {name: rows["score"] for (name,), rows in judgments.group_by("system")}
        return study

    def estimate(self, level):
        for system, scores in self.scores.items():
            mean, error = scores.mean(), scores.std() / len(scores) ** 0.5
            low, high = mean - REACH * error, mean + REACH * error
            yield Found(system=system, estimate=mean, low=low, high=high, standard_error=error)

    def compare(self, level):
        pairs = []
        # the other way round, so that signs are told from each other
        for b, a in combinations(sorted(self.scores), 2):
            one, other = self.scores[a], self.scores[b]
            apart = one.mean() - other.mean()
            reach = REACH * (one.var() / len(one) + other.var() / len(other)) ** 0.5
            verdict = "undecided" if abs(apart) < 1.5 * reach else "a" if apart > 0 else "b"
            ends = dict(low=apart - reach, high=apart + reach)
            ends |= dict(simultaneous_low=apart - 1.5 * reach, simultaneous_high=apart + 1.5 * reach)
            pairs.append(Found(a=a, b=b, difference=apart, verdict=verdict, **ends))
        return [Found(pairs=pairs)]
"""


def stand_in(folder, reach):
    package = folder / "steelyard"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN.replace("REACH", str(reach)))
    (package / "errors.py").write_text("class SteelyardError(Exception): pass\n")
    return folder


def test_a_campaign_without_metrics_is_answered():
    tree = Tree(HERE)
    found = tree.answer(Cell("normal", k=2, n=10, p=0).campaign(0))
    tree.close()
    assert found["refused"] == []
    assert np.isfinite(found["means"]).all()


def test_a_tiny_run_prints_a_table(capsys, tmp_path):
    table = tmp_path / "table.md"
    words = ["--old", str(HERE), "--kinds", "normal", "--n", "10", "--k", "2", "--same", "1"]
    campaigns.main([*words, "--reps", "2", "--jobs", "1", "-o", str(table)])
    said = capsys.readouterr().out
    assert table.read_text() == said
    lines = said.splitlines()
    assert lines[0].startswith("| campaign | who | means: squared error |")
    assert [line.split(" | ")[1] for line in lines[2:5]] == ["t", "old", "new"]
    assert "(of old 1.00 ± 0.00)" in lines[4]
    assert "means: squared error of the new, mean over 1 cells: 1.000 of the old's" in said


def test_a_broken_interval_is_marked(capsys, tmp_path):
    old, new = stand_in(tmp_path / "old", 2.2), stand_in(tmp_path / "new", 0.7)
    words = ["--old", str(old), "--new", str(new), "--kinds", "no-taste", "--n", "20", "--p", "0"]
    assert campaigns.main([*words, "--same", "0", "--reps", "60"]) == 1
    before, after = capsys.readouterr().out.splitlines()[3:5]
    assert "**" not in before
    for words in (
        "means: hold in less than 94%",
        "differences: hold in less than 93%",
        "false claims in more than 5%",
    ):
        assert words in after


def test_pairs_that_are_named_the_other_way_round_keep_their_sign(tmp_path):
    tree = Tree(stand_in(tmp_path, 2))
    campaign = Cell("normal", k=3, n=200, same=False).campaign(0)
    found = tree.answer(campaign)
    tree.close()
    means, first = found["means"][:, 0], found["differences"][0]
    assert first[0] == pytest.approx(means[0] - means[1])
    assert first[3] < first[1] < first[0] < first[2] < first[4]


def test_a_refusal_and_a_death_are_counted(tmp_path):
    refusing = stand_in(tmp_path / "refusing", 2) / "steelyard" / "__init__.py"
    refusing.write_text(
        refusing.read_text().replace(
            "    def compare(self, level):",
            "    def compare(self, level):\n"
            "        from steelyard.errors import SteelyardError\n"
            "        raise SteelyardError('no')",
        )
    )
    dying = stand_in(tmp_path / "dying", 2) / "steelyard" / "__init__.py"
    dying.write_text(dying.read_text().replace("def estimate(self", "def estimate(self, lost"))
    trees = {"old": tmp_path / "refusing", "new": tmp_path / "dying"}
    cell = Cell("normal", k=2, n=10)
    with Lanes(trees, jobs=1, level=0.95) as lanes:
        rows = lanes.rows(cell, 2)
    assert rows["old"].refused == pytest.approx(1 / 3)  # one difference beside two means
    assert rows["old"].died == ()
    assert rows["old"].reason == "no"
    assert (rows["new"].refused, rows["new"].died) == (1, (0, 1))
    assert "more refused than by the old" in misses(cell, rows)
    assert "the process died in replays 0, 1" in misses(cell, rows)


def test_older_judgments_must_help_a_new_version_that_is_judged_little(tmp_path):
    # plain means gain nothing by older systems
    trees = dict.fromkeys(("old", "new"), stand_in(tmp_path, 2))
    with Lanes(trees, jobs=1, level=0.95) as lanes:
        marks = {
            n: misses(cell, lanes.rows(cell, 10))
            for n in (20, 60)
            for cell in [Cell("version-normal", k=2, n=n)]
        }
    words = "squared error above 0.75 of that by its own judgments"
    assert words in marks[20]
    assert words not in marks[60]


def test_a_folder_without_the_package_is_said(tmp_path):
    with pytest.raises(SystemExit, match="no package steelyard here"):
        checked_tree(tmp_path)


@pytest.mark.parametrize("kind", [*KINDS, "version-normal"])
def test_every_kind_makes_the_same_campaign_again(kind):
    cell = Cell(kind, k=3, n=20, p=4)
    one, again, other = cell.campaign(1), cell.campaign(1), cell.campaign(2)
    assert np.array_equal(one.score, again.score)
    assert not np.array_equal(one.metrics, other.metrics)
    rows = np.unique(np.stack([one.system, one.item, one.rater]), axis=1)
    assert rows.shape[1] == len(one.score)  # nobody judges an output twice
    assert np.isfinite(one.truth).all()


@pytest.mark.parametrize("kind", KINDS)
def test_systems_are_equal_where_they_are_said_to_be(kind):
    cell = Cell(kind, k=3, n=20, p=4, equal=kind not in ALWAYS_EQUAL)
    assert cell.truly_equal
    truth = cell.campaign(0).truth
    assert np.ptp(truth) < 1e-9


def test_identical_texts_have_the_same_metrics():
    campaign = Cell("copies", k=3, n=20).campaign(0)
    alike = campaign.texts[0] == campaign.texts[1]
    assert alike.mean() == 0.5
    assert np.array_equal(campaign.metrics[0, alike], campaign.metrics[1, alike])


def test_own_raters_judge_one_system_each():
    campaign = Cell("taste-own-raters", k=4, n=20, raters=5).campaign(0)
    assert (campaign.rater // 5 == campaign.system).all()


def test_a_new_version_is_judged_on_fewer_items():
    campaign = Cell("version-normal", k=3, n=20, raters=0).campaign(0)
    assert np.bincount(campaign.system).tolist() == [200, 200, 20]
    assert (campaign.only(2).system == 2).all()


@pytest.mark.parametrize("same", [True, False])
def test_plain_intervals_are_those_of_scipy(same):
    campaign = Cell("normal", k=2, n=12, same=same, raters=0).campaign(0)
    order = np.argsort(campaign.item, kind="stable")
    a, b = (campaign.score[order][campaign.system[order] == one] for one in (0, 1))
    found = plain.answer(campaign)
    ends = ttest_1samp(a, 0).confidence_interval()
    assert found["means"][0, 1:3] == pytest.approx(tuple(ends))
    test = ttest_rel(a, b) if same else ttest_ind(a, b, equal_var=False)
    assert found["differences"][0, 1:3] == pytest.approx(tuple(test.confidence_interval()))


def test_a_target_is_missed_by_two_standard_errors_only():
    assert Figure(1.1, 0.02).surely_above(1.02)
    assert not Figure(1.1, 0.05).surely_above(1.02)
    assert share(np.ones(98)).error == pytest.approx(0.01, rel=0.01)
    assert ratio(np.array([2.0, 4.0]), np.array([1.0, 2.0])) == Figure(2.0, 0.0)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--kinds", "odd"], "no such kind: odd"),
        (["--raters", "1"], "a second judgment needs a second rater"),
        (["--n", "400"], "more than the 300 items of the pool"),
        (["--kinds", "version-normal", "--k", "1"], "give --k 2 or more"),
        (["--kinds", "version-normal", "--pool", "100"], "a pool of 200 items"),
    ],
)
def test_what_cannot_be_replayed_is_said(words, complaint, capsys):
    with pytest.raises(SystemExit, match="2"):
        campaigns.main(["--old", str(HERE), *words])
    assert complaint in capsys.readouterr().err
