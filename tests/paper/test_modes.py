from dataclasses import replace

from steelyard.paper.modes import modes
from steelyard.paper.release import PaperTask, ReleasedOutput, ReleasedText


def output(item, system, human, metrics, prompt):
    return ReleasedOutput(
        1,
        item=item,
        system=system,
        raters=tuple(f"r{k}" for k in range(len(human))),
        human={prompt: human},
        gold={prompt: sum(human) / len(human)},
        metrics=metrics,
    )


def answers():
    judged = {
        "correct and high": ((1, 1), 0.8),
        "tied and low": ((0, 1), 0.2),
        "wrong and low": ((0, 0), 0.1),
        "wrong and high": ((0, 0), 0.9),
    }
    lines, texts = [], []
    for item, (human, metric) in judged.items():
        for system in ("fastqa", "snet.single"):
            lines.append(output(item, system, human, {"rouge-l": metric}, "AnyCorrect"))
        lines.append(output(item, "reference", (1, 1), {"rouge-l": 1.0}, "AnyCorrect"))
        texts.append(ReleasedText(item, ("fastqa", "snet.single"), f"q {item}", f"a {item}"))
        texts.append(ReleasedText(item, ("reference",), f"q {item}", "the reference"))
    return PaperTask("msmarco", tuple(lines), tuple(texts), None)


def test_distinct_answers_of_systems_are_counted_once_and_ties_are_good():
    found = modes(answers())
    assert found.counts == (1, 1, 1, 1)
    assert found.strict == (1, 1, 0, 2)
    assert found.ties == 1


def test_examples_have_their_texts_and_a_clear_verdict():
    examples = modes(answers()).examples
    assert [one.answer for one in examples[0]] == ["a correct and high"]
    assert examples[0][0].reference == "the reference"
    # A tie is no good example.
    assert examples[2] == ()


def test_the_papers_own_example_comes_first():
    task = answers()
    texts = [
        replace(text, query="what is anti-mullerian hormone", systems=("snet.ensemble",))
        if text.answer == "a correct and high"
        else text
        for text in task.texts
    ]
    lines = (
        *task.lines,
        output("correct and high", "snet.ensemble", (1, 1), {"rouge-l": 0.8}, "AnyCorrect"),
    )
    [example] = modes(replace(task, texts=tuple(texts), lines=lines)).examples[0]
    assert example.printed.metric == 0.86


def test_without_texts_answers_cannot_be_counted():
    assert modes(replace(answers(), texts=())) is None


def test_summaries_are_counted_where_every_system_has_one_and_merged_if_judged_twice():
    lines = [
        output("a", "ml", (0.0, 0.2), {"sim": 0.9}, "hter"),
        output("a", "pointer", (0.4,), {"sim": 0.9}, "hter"),
        # Judged twice over: the mean is 0.35 in all.
        output("b", "ml", (0.1, 0.1), {"sim": 0.1}, "hter"),
        output("b", "ml", (0.6, 0.6), {"sim": 0.1}, "hter"),
        output("b", "pointer", (0.0,), {"sim": 0.1}, "hter"),
        output("c", "ml", (0.0,), {"sim": 0.9}, "hter"),
        output("c", "reference", (0.0,), {"sim": 1.0}, "hter"),
    ]
    found = modes(PaperTask("cnndm", tuple(lines), (), None))
    assert found.counts == (1, 1, 1, 1)
    assert found.strict is None


def test_modes_of_the_whole_release_add_up(found):
    answers_found, summaries = found.modes
    assert answers_found.total == sum(answers_found.strict)
    assert summaries.total == 60 * 4
