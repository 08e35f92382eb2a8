import pytest

from steelyard.paper.names import TASKS, metric_name, ordered, prompt_name, system_name


def test_names_that_the_paper_does_not_know_stay_as_they_are():
    assert prompt_name("new") == metric_name("new") == system_name("new") == "new"


def test_unknown_names_come_last_in_their_order():
    assert ordered(["z", "pointer", "a", "seq2seq"], TASKS["cnndm"].systems) == (
        "seq2seq",
        "pointer",
        "z",
        "a",
    )


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_prompts_of_figures_are_prompts_of_the_task(task):
    assert {task.bias_prompt, task.map_prompt} <= set(task.prompts)
