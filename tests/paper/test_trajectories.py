from dataclasses import replace

import numpy as np

from steelyard.paper.trajectories import follow


def test_every_setting_is_followed_with_what_was_released(found, release):
    assert len(found.followed) == 6 * 4 * 7
    [one] = [o for o in found.followed if o.key == ("cnndm", "hter", "ml", "sim")]
    results = release.task("cnndm").published
    assert one.released == results["table"]["sim"]["hter"]["ml"]
    assert one.released_noiseless == results["table_gold"]["sim"]["hter"]["ml"]
    assert one.released_perfect == results["table"]["gold"]["hter"]["ml"]


def test_a_setting_does_not_depend_on_the_others(found, release):
    alone = replace(release, tasks=(release.task("cnndm"),))
    again = {(one.prompt, one.system, one.metric): one for one in follow(alone, draws=100, seed=1)}
    for one in found.followed:
        if one.task == "cnndm":
            same = again[one.prompt, one.system, one.metric].trajectory
            assert np.array_equal(same.corrected.length, one.trajectory.corrected.length)


def test_another_seed_gives_other_draws(found, release):
    alone = replace(release, tasks=(release.task("msmarco"),))
    other = follow(alone, draws=100, seed=2)[0].trajectory
    assert not np.array_equal(other.plain.length, found.followed[0].trajectory.plain.length)


def test_progress_sees_every_setting(release):
    seen = []

    def tracked(items, /, *, what, total):
        seen.append((what, total))
        return items

    alone = replace(release, tasks=(release.task("msmarco"),))
    follow(alone, draws=100, seed=1, tracked=tracked)
    assert seen == [("trajectories", 2 * 4 * 7)]
