"""No acknowledged judgment is lost when the server is killed while people work."""

from collections import Counter

import pytest
from benchmarks.faults.killed_server import ForkedServer, Server, stored, under_fire
from benchmarks.raters import write_campaign


@pytest.mark.parametrize(
    ("kills", "started"),
    [
        pytest.param(3, Server, id="3 kills"),
        pytest.param(100, ForkedServer, id="100 kills", marks=pytest.mark.slow),
    ],
)
def test_no_acknowledged_judgment_is_lost_when_the_server_is_killed(tmp_path, kills, started):
    # three times as many as are judged before the last kill, and no more: each start reads all of them
    campaign = write_campaign(tmp_path, outputs=500 + 80 * kills)
    acknowledged = under_fire(campaign, raters=50, kills=kills, apart=40, started=started)
    keys, paid, held = stored(tmp_path / "campaign.sqlite")
    # every promise is kept exactly once, nothing else is there, and no lease is left
    assert keys == Counter(acknowledged)
    assert max(keys.values()) == 1
    assert paid == len(keys)
    assert held == 0
    assert len(acknowledged) > 50
