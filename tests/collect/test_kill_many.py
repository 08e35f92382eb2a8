"""No acknowledged judgment is lost when a server of ten campaigns is killed."""

import pytest
from benchmarks.kills import lost_judgments


@pytest.mark.slow
def test_no_acknowledged_judgment_of_ten_campaigns_is_lost(tmp_path):
    found = lost_judgments(tmp_path, campaigns=10, raters=30, kills=2, seed=1)
    assert found.lost == found.twice == found.unpaid == found.held == 0
    assert min(found.acknowledged.values()) > 0
    assert found.stored == sum(found.acknowledged.values())
