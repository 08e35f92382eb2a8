"""Whatever a careful rater may answer to a long text can be sent."""

import json

from steelyard.collect.answer_size import answer_bytes, largest_answer
from steelyard.collect.tasks import load_task
from steelyard.collect.web.limits import Limits


def test_the_largest_answer_that_a_careful_rater_gives_fits():
    task = load_task("language-quality")
    text = '"Wait",\nhe said.\\' * 500
    answer = {"fluency": 1, "redundancy": 1, "overall": 1, "edit": text * 2}
    sent = {"assignment": "a" * 64, "key": "k" * 64, "answer": answer, "active_ms": 10**12}
    size = len(json.dumps(sent, ensure_ascii=False).encode())
    assert size <= answer_bytes(task, {"output": text})


def test_requests_may_be_as_large_as_the_largest_answer_and_letters_count_their_bytes():
    task = load_task("language-quality")
    limits = Limits(body_bytes=1_000)
    limits.make_room(largest_answer(task, [{"output": "x"}, {"output": "漢" * 100_000}]))
    assert limits.body_bytes == 600_772
    limits.make_room(largest_answer(task, []))
    assert limits.body_bytes == 600_772
