import json
import shlex
from pathlib import Path

import pytest

from spreadsheets import write_xlsx

OUTPUTS = [
    {"item": f"i{n}", "system": system, "output": f"{system} {n}", "bleu": (7 * n) % 10 / 10}
    for system in ("base", "new")
    for n in range(30)
]
JUDGED = [
    {
        "item": f"i{n}",
        "system": system,
        "rater": f"r{(n + k) % 5}",
        "prompt": "overall",
        "score": (n + k) % 5 + 1,
    }
    for system in ("base", "new")
    for n in range(0, 30, 2)
    for k in range(2)
]


def table(path, rows, separator=",", decimal=".", names=None):
    header = [(names or {}).get(name, name) for name in rows[0]]
    cells = [
        ["" if cell is None else str(cell).replace(".", decimal) for cell in row.values()]
        for row in rows
    ]
    path.write_text("".join(separator.join(line) + "\n" for line in [header, *cells]))
    return path


def checked(run, *arguments):
    code, out, err = run("check", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def problems(found, file=None):
    listed = found["problems"] if file is None else found["files"][file]["problems"]
    return {one["what"]: one for one in listed}


def test_good_files_are_counted_and_the_next_command_works(run, tmp_path):
    outputs = table(tmp_path / "my outputs.csv", OUTPUTS)
    judged = table(tmp_path / "j.csv", JUDGED)
    code, out, err = run("check", judged, outputs)
    assert (code, err) == (0, "")
    assert "judgments, 60 rows" in out
    assert "30 judged outputs, 2.00 judgments per output (at most 2; 30 have two or more)" in out
    assert "scores from 1 to 5, 5 different" in out
    assert "!" not in out
    assert "compare: which system is better" in out
    command = out.splitlines()[-1].strip()
    assert command == f"steelyard estimate {shlex.quote(str(outputs))} {judged}"
    assert run(*shlex.split(command)[1:])[0] == 0


def test_outputs_without_metrics_are_no_obstacle(run, tmp_path):
    texts = [{name: row[name] for name in ("item", "system", "output")} for row in OUTPUTS]
    found = checked(run, table(tmp_path / "o.csv", texts), table(tmp_path / "j.csv", JUDGED))
    assert found["usable"]
    assert "the plain mean, because there are no metrics" in found["possible"][0]


def test_files_in_another_dress_get_a_command_that_works(run, tmp_path):
    outputs = table(tmp_path / "o.csv", OUTPUTS, ";", ",", {"item": "Doc ID"})
    rows = [{**row, "score": row["score"] / 2} for row in JUDGED]
    judged = table(tmp_path / "j.csv", rows, "\t", ",", {"rater": "Annotator"})
    found = checked(run, outputs, judged)
    assert found["usable"]
    assert found["files"][1]["options"] == ["--column", "judgments:rater=Annotator"]
    assert found["files"][1]["counts"]["scores"] == {"low": 0.5, "high": 2.5, "different": 5}
    code, out, _ = run(*shlex.split(found["command"])[1:], "--json")
    assert code == 0
    assert [one["n_judgments"] for one in json.loads(out)] == [30, 30]


def test_every_kind_of_problem_is_counted_with_examples(run, tmp_path):
    pool = [dict(row) for row in OUTPUTS]
    pool[3]["bleu"] = pool[5]["bleu"] = None
    outputs = table(tmp_path / "o.csv", [*pool, pool[0]])
    rows = [dict(row) for row in JUDGED]
    rows[1]["score"], rows[2]["score"], rows[3]["score"] = "good", None, 55
    rows[4]["system"], rows[5]["item"] = "Base ", ""
    found = checked(run, outputs, table(tmp_path / "j.csv", [*rows, rows[10]]))
    assert not found["usable"]
    first, second = problems(found, 0), problems(found, 1)
    assert first["gap in metric bleu"]["count"] == 2
    assert first["gap in metric bleu"]["examples"] == ["item i3, system base"]
    assert first["outputs that are there more than once"]["examples"][0].startswith(
        "line 62 (item i0"
    )
    assert second["column score: words as scores"]["examples"] == ["'good' (1)"]
    assert second["column score: no score"]["examples"] == ["line 4"]
    assert second["scores outside 1 to 5"]["examples"] == ["line 5 55"]
    assert second["nearly equal names of systems"]["examples"] == ["'base'", "'Base '"]
    assert second["column item: expected text or a whole number"]["count"] == 1
    assert second["judgments that repeat another of the same rater"]["count"] == 1


def test_a_long_tail_of_counted_errors_is_not_taken_for_slips_and_no_minus_zero_is_shown(
    run, tmp_path
):
    outputs = table(tmp_path / "o.csv", OUTPUTS)
    tail = {number * 13: -8.0 - number for number in range(8)}
    rows = [
        {"item": f"i{number}", "system": "s", "score": tail.get(number, -float(number % 3))}
        for number in range(300)
    ]
    found = checked(run, outputs, table(tmp_path / "j.csv", rows))
    assert not [what for what in problems(found, 1) if what.startswith("scores outside")]
    out = run("check", tmp_path / "j.csv")[1]
    assert "scores from -15 to 0, 11 different" in out


def test_the_end_of_a_scale_that_few_use_is_not_taken_for_a_slip(run, tmp_path):
    scores = [5] * 150 + [4] * 100 + [3] * 41 + [2] * 7 + [1] * 2
    rows = [{"item": f"i{n}", "system": "s", "score": score} for n, score in enumerate(scores)]
    assert not problems(checked(run, table(tmp_path / "j.csv", rows)), 0)
    rows[0]["score"] = 6
    one = problems(checked(run, table(tmp_path / "j.csv", rows)), 0)
    assert one["scores outside 2 to 5"]["count"] == 3


def test_repeated_judgments_alone_do_not_stop_the_next_command(run, tmp_path):
    outputs = table(tmp_path / "o.csv", OUTPUTS)
    found = checked(run, outputs, table(tmp_path / "j.csv", [*JUDGED, JUDGED[0]]))
    assert found["usable"]
    assert found["command"].endswith("--on-duplicate first --output converted")


def test_judged_outputs_outside_the_pool_are_counted(run, tmp_path):
    outputs = table(tmp_path / "o.csv", OUTPUTS)
    rows = [{**row, "system": row["system"].upper()} for row in JUDGED]
    found = checked(run, outputs, table(tmp_path / "j.csv", rows))
    one = problems(found)[f"judged outputs that are not in {outputs}"]
    assert (one["count"], one["total"]) == (30, 30)
    assert problems(found)["nearly equal names of systems"]["count"] == 4


def test_labels_that_were_chosen_are_pointed_out(run, tmp_path):
    pool = [{"item": n, "system": "s", "output": f"x{n}", "length": n} for n in range(100)]
    judged = [{"item": n, "system": "s", "score": n % 2} for n in range(60, 100)]
    found = checked(run, table(tmp_path / "o.csv", pool), table(tmp_path / "j.csv", judged))
    assert found["usable"]
    assert "are not a random sample of the pool" in found["problems"][0]["what"]


def test_a_large_share_of_one_rater_is_pointed_out(run, tmp_path):
    rows = [{**row, "rater": "r0" if n < 40 else row["rater"]} for n, row in enumerate(JUDGED)]
    rows = [{**row, "item": f"{row['item']}-{n}"} for n, row in enumerate(rows)]
    one = problems(checked(run, table(tmp_path / "j.csv", rows)), 0)
    assert one["one rater gave a large share of all judgments"]["examples"] == ["rater r0"]


def test_bounds_find_scores_off_the_scale(run, tmp_path):
    path = table(tmp_path / "j.csv", JUDGED)
    assert not checked(run, path)["files"][0]["problems"]
    one = problems(checked(run, path, "--bounds", "1,4"), 0)
    assert one["scores outside 1 to 4"]["count"] == sum(row["score"] == 5 for row in JUDGED)


def test_names_that_only_look_alike_are_not_taken_for_equal(run, tmp_path):
    names = {"base": "gpt-4-1", "new": "gpt-41"}
    path = table(tmp_path / "o.csv", [{**row, "system": names[row["system"]]} for row in OUTPUTS])
    assert not checked(run, path)["files"][0]["problems"]


def test_all_sheets_of_a_book_are_looked_at(run, tmp_path):
    sheets = {"pool": OUTPUTS, "votes": JUDGED}
    cells = {
        name: [list(rows[0]), *(list(row.values()) for row in rows)]
        for name, rows in sheets.items()
    }
    book = write_xlsx(tmp_path / "book.xlsx", {**cells, "empty": []})
    found = checked(run, book)
    assert [one["kind"] for one in found["files"]] == ["outputs", "judgments"]
    assert found["command"] == f"steelyard estimate '{book}#pool' '{book}#votes'"


@pytest.mark.parametrize(
    ("content", "command"),
    [
        ("id,base,new\n1,3,4\n2,5,5\n", "check {path} --column score=new"),
        ("a,b\n1,2\n", "check {path} --column score=b"),
        ("id,score_a,score_b\n1,3,4\n2,5,5\n", "check {path} --column score=score_b"),
    ],
)
def test_the_columns_of_an_unknown_table_are_shown_with_a_command_that_works(
    run, tmp_path, content, command
):
    path = tmp_path / "t.csv"
    path.write_text(content)
    found = checked(run, path)
    assert len(found["files"][0]["counts"]["first_rows"]) == content.count("\n") - 1
    assert found["command"] == f"steelyard {command.format(path=path)}"
    for _ in range(3):
        found = checked(run, *shlex.split(found["command"])[2:])
    assert found["usable"] or "needs at least" in str(found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.json", '{"eval": {"model": "m"}, "samples": []}'),
        ("log.eval", "PK\x03\x04not much of a log"),
        ("notes.txt", "just some words"),
    ],
)
def test_what_is_no_table_is_said_with_its_reason(run, tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    found = checked(run, path)
    assert found["files"][0]["kind"] == "another form"
    assert found["files"][0]["problems"]
    assert found["command"] == "steelyard convert --help"
    assert run(*shlex.split(found["command"])[1:])[0] == 0


FILES = Path(__file__).parent.parent / "foreign" / "files"


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("inspect/epochs.eval", "inspect"),
        ("promptfoo/results.json", "promptfoo"),
        ("helm/run", "helm"),
        ("wmt-mqm/mqm.tsv", "wmt-mqm"),
        ("arena/evalica.csv", "arena"),
        ("label-studio/min.csv", "label-studio"),
        ("mt-metrics-eval/wmt99", "mt-metrics-eval"),
    ],
)
def test_the_tool_of_a_file_is_named_and_its_command_works(run, tmp_path, name, tool):
    found = checked(run, FILES / name)
    assert (found["files"][0]["tool"], found["usable"]) == (tool, True)
    command = shlex.split(found["command"])
    assert command[:4] == ["steelyard", "convert", "--from", tool]
    assert run(*command[1:-1], tmp_path / "converted")[0] == 0


def test_files_of_one_tool_are_converted_together(run):
    names = [FILES / "potato" / name for name in ("ann", "bob", "data.jsonl")]
    found = checked(run, *names)
    assert found["command"].startswith(
        f"steelyard convert --from potato {shlex.join(map(str, names))}"
    )
    assert "--scale 'good=?,bad=?'" in found["command"]


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("Item,A,B,ann_A,ann_B,bob_A,bob_B", "--wide '{rater}_{system}' --column item=Item"),
        (
            "item,A,B,A_score,B_score,A_bleu,B_bleu",
            "--wide '{system}_score' --wide '{system}_{metric:bleu}'",
        ),
        ("item,g_4,g_5,ann g_4,ann g_5,bob g_4,bob g_5", "--wide '{rater} {system}'"),
        ("item,g_4,g_5,ann_g_4,ann_g_5,bob_g_4,bob_g_5", "--wide '{rater}_{system:g_4|g_5}'"),
        ("doc,ann-A,ann-B,bob-A,bob-B,note", "--wide '{rater}-{system}' --column item=doc"),
    ],
)
def test_the_pattern_of_a_wide_table_is_suggested(run, tmp_path, header, options):
    path = tmp_path / "wide.csv"
    rows = (",".join([f"i{n}", *(str(n + k) for k in range(header.count(",")))]) for n in range(9))
    path.write_text("\n".join([header, *rows]))
    found = checked(run, path)
    assert found["command"] == f"steelyard convert --from wide {path} {options} --output converted"
    assert run(*shlex.split(found["command"])[1:-1], tmp_path / "converted")[0] == 0


def test_words_in_a_wide_sheet_and_in_judgments_ask_for_the_scale(run, tmp_path):
    book = write_xlsx(
        tmp_path / "r.xlsx",
        {
            "s": [
                ["item", "A", "B", "ann_A", "ann_B"],
                *([f"i{n}", "x", "y", "good", "bad"] for n in range(5)),
            ]
        },
    )
    found = checked(run, book)
    assert not found["usable"]
    assert found["command"].endswith(
        "--wide '{rater}_{system}' --scale 'good=?,bad=?' --output converted"
    )
    words = table(
        tmp_path / "j.csv", [{**JUDGED[0], "score": "4/5"}, {**JUDGED[1], "score": "good"}]
    )
    code, out, _ = run("check", table(tmp_path / "o.csv", OUTPUTS), words)
    assert code == 0
    assert "Next, with a number for every question mark" in out
    assert f"{words} --scale '4/5=?,good=?' --output" in out


def test_the_only_numbers_beside_a_rater_are_the_score(run, tmp_path):
    names = {"rater": "Annotator", "score": "Bewertung", "item": "doc_id", "system": "model"}
    rows = [{name: row[name] for name in names} for row in JUDGED]
    judged = table(tmp_path / "urteile.csv", rows, ";", names=names)
    found = checked(run, table(tmp_path / "o.csv", OUTPUTS), judged)
    assert found["files"][1]["kind"] == "judgments"
    assert "judgments:score=Bewertung" in found["command"]
    assert run(*shlex.split(found["command"])[1:])[0] == 0


def test_a_second_file_of_outputs_is_not_passed_over_in_silence(run, tmp_path):
    one, other = (table(tmp_path / name, OUTPUTS) for name in ("a.csv", "b.csv"))
    assert "a second file of outputs" in problems(checked(run, one, other), 1)


def test_a_file_without_systems_is_told_so(run, tmp_path):
    path = table(tmp_path / "j.csv", [{"item": 1, "rater": "r", "score": 2}])
    found = checked(run, path)
    assert found["files"][0]["kind"] == "judgments"
    assert not found["usable"]
    assert "no column `system`" in problems(found, 0)


def test_judgments_per_output_are_counted_under_each_prompt(run, tmp_path):
    rows = [{**row, "prompt": prompt} for row in JUDGED for prompt in ("p", "q")]
    _, out, _ = run("check", table(tmp_path / "j.csv", rows))
    assert "30 judged outputs, 2.00 judgments per output and prompt (at most 2; 30 have" in out


def test_outputs_alone_lead_to_a_sample_and_judgments_alone_to_their_outputs(run, tmp_path):
    outputs, judged = table(tmp_path / "o.csv", OUTPUTS), table(tmp_path / "j.csv", JUDGED)
    found = checked(run, outputs)
    assert found["command"] == f"steelyard sample {outputs} -n 30 --seed 1 -o sample.jsonl"
    assert checked(run, judged)["command"] == f"steelyard check OUTPUTS {judged}"


def test_a_file_that_cannot_be_opened_is_one_line_and_code_2(run, tmp_path):
    (tmp_path / "a.csv").write_text("item,system\n1,2,3\n")
    for name in ("nowhere.csv", "a.csv"):
        code, out, err = run("check", tmp_path / name)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1


def test_an_error_ends_with_the_command_that_works(run, tmp_path):
    outputs = table(tmp_path / "o.csv", OUTPUTS)
    judged = table(tmp_path / "j.csv", JUDGED, names={"item": "Item", "score": "rating"})
    code, _, err = run("estimate", outputs, judged, "--prompt", "overall")
    assert code == 2
    command = err.strip().rpartition("; run: ")[2]
    assert shlex.split(command)[-4:] == ["--column", "item=Item", "--column", "score=rating"]
    assert run(*shlex.split(command)[1:])[0] == 0


def test_a_system_with_trouble_is_left_out_on_the_command_line(run, tmp_path):
    pool = [dict(row) for row in OUTPUTS]
    pool[3]["bleu"] = None
    outputs = table(tmp_path / "o.csv", [*pool, pool[-1]])
    judged = table(tmp_path / "j.csv", JUDGED)
    assert run("estimate", outputs, judged)[0] == 2
    code, out, _ = run("estimate", outputs, judged, "--system", "-new", "--json")
    assert code == 0
    assert [one["system"] for one in json.loads(out)] == ["base"]


def test_an_excel_file_is_never_written_over_by_the_name_of_its_sheet(run, tmp_path):
    rows = [list(JUDGED[0]), *(list(row.values()) for row in JUDGED)]
    book = write_xlsx(tmp_path / "book.xlsx", {"s": rows})
    before = book.read_bytes()
    code, _, err = run("estimate", f"{book}#s", f"{book}#s", "-o", book)
    assert code == 2
    assert "never written over" in err
    assert book.read_bytes() == before


def test_preferences_among_several_systems_repeat_nothing_and_are_compared(run, tmp_path):
    systems = ("base", "new", "old")
    pool = [
        {"item": f"i{n}", "system": one, "output": f"{one} {n}"}
        for n in range(6)
        for one in systems
    ]
    # one rater's order of three, as the server exports it: every two systems, both ways
    preferred = [
        {"item": f"i{n}", "system": a, "other_system": b, "rater": "r", "prompt": "better"}
        | {"score": float(systems.index(a) < systems.index(b)) if n else 0.5}
        for n in range(6)
        for a in systems
        for b in systems
        if a != b
    ]
    outputs, judged = table(tmp_path / "o.csv", pool), table(tmp_path / "j.csv", preferred)
    code, out, err = run("check", outputs, judged)
    assert (code, err) == (0, "")
    assert "!" not in out
    assert "compare: wins, ties and losses under better" in out
    command = out.splitlines()[-1].strip()
    assert command == f"steelyard compare {outputs} {judged}"
    assert run(*shlex.split(command)[1:])[0] == 0
    # beside them a rating, twice
    rated = {
        "item": "i1",
        "system": "new",
        "other_system": None,
        "rater": "r",
        "prompt": "q",
        "score": 3.0,
    }
    both = table(tmp_path / "both.csv", [*preferred, rated, rated])
    found = checked(run, outputs, both)
    assert problems(found, 1)["judgments that repeat another of the same rater"]["count"] == 1
