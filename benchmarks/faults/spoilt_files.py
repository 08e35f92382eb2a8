"""Files with spoilt bytes and spoilt values: every reader answers, or refuses in one line."""

import contextlib
import gzip
import io
import json
import random
import tempfile
import time
from pathlib import Path

from benchmarks.faults.outcome import Outcome, bounded, one_line
from steelyard.cli import main as command

_SECONDS = 20
_ROWS = 40
VALUES = (
    *(
        "NaN",
        "Infinity",
        "-1e400",
        "1e308",
        "9" * 400,
        "null",
        "true",
        '""',
        '"\\u0000"',
        "[]",
        "{}",
    ),
    *('"\\ud800"', "0x1", "1,5", "--1", '"=1+1"', "\ufeff", "\x00", '"', "\n\n", ","),
)


def rows():
    rng = random.Random(1)
    outputs = [
        {"item": f"i{item}", "system": system, "output": f"text {item}", "metric": rng.random()}
        for item in range(_ROWS)
        for system in ("a", "b")
    ]
    judgments = [
        {"item": row["item"], "system": row["system"], "rater": f"r{n % 7}", "prompt": "overall"}
        | {"score": round(row["metric"] + rng.gauss(0, 0.3), 3)}
        for n, row in enumerate(outputs)
        if int(row["item"][1:]) < _ROWS // 2
    ]
    return outputs, judgments


def in_lines(table):
    return "".join(json.dumps(row) + "\n" for row in table).encode()


def with_commas(table):
    lines = [",".join(table[0]), *(",".join(map(str, row.values())) for row in table)]
    return ("\n".join(lines) + "\n").encode()


def in_parquet(table):
    import polars as pl  # noqa: PLC0415

    file = io.BytesIO()
    pl.DataFrame(table).write_parquet(file)
    return file.getvalue()


FORMATS = {
    ".jsonl": in_lines,
    ".json": lambda table: json.dumps(table).encode(),
    ".csv": with_commas,
    ".tsv": lambda table: with_commas(table).replace(b",", b"\t"),
    ".csv.gz": lambda table: gzip.compress(with_commas(table), mtime=0),
    ".parquet": in_parquet,
}


def spoilt(content, rng):
    """Bytes with one thing done to them that happens to files."""
    start = rng.randrange(len(content))
    end = min(len(content), start + rng.randint(1, 60))
    ways = (
        lambda: content[:start],
        lambda: content[:start] + rng.randbytes(rng.randint(1, 9)) + content[start:],
        lambda: content[:start] + rng.randbytes(end - start) + content[end:],
        lambda: content[:start] + content[end:],
        lambda: content[:end] + content[start:end] * rng.randint(1, 40) + content[end:],
        lambda: content[:start] + rng.choice(VALUES).encode("utf-8", "replace") + content[end:],
        lambda: content.decode("utf-8", "replace").encode("utf-16"),
        lambda: content[start:] + content[:start],
    )
    return rng.choice(ways)()


def ask(*given):
    """Exit code and standard error of a command, run here; None if it did not end in time."""
    said, error = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(error):
        try:
            with bounded(_SECONDS):
                command([str(one) for one in given])
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException as problem:  # noqa: BLE001 - that is what is looked for
            return None, f"{type(problem).__name__}: {problem}"
    return code, error.getvalue()


def readers(times):
    """Spoil one of two good files, then `check` and `estimate` them."""
    rng = random.Random(2)
    tables = rows()
    wrong, refused, slowest, first, changed = 0, 0, 0.0, "", 0
    with tempfile.TemporaryDirectory() as name:
        for number in range(times):
            suffix, write = list(FORMATS.items())[number % len(FORMATS)]
            paths = [Path(name, f"{table}{suffix}") for table in ("outputs", "judgments")]
            contents = [write(table) for table in tables]
            which = rng.randrange(2)
            contents[which] = spoilt(contents[which], rng)
            for path, content in zip(paths, contents, strict=True):
                path.write_bytes(content)
            start = time.perf_counter()
            for verb in ("check", "estimate"):
                code, error = ask(verb, *paths)
                fine = code == 0 or (code in (1, 2) and one_line(error))
                refused += code != 0
                if not fine:
                    wrong += 1
                    first = first or f"{verb} {suffix} {number}: {error.strip()[-160:]}"
            slowest = max(slowest, time.perf_counter() - start)
            changed += [path.read_bytes() for path in paths] != contents
    seen = f"{refused:,} of {2 * times:,} commands refused, the others answered; slowest pair {slowest:.1f} s"
    return Outcome(2 * times, wrong, changed, times, "inputs", first or seen)


TRIALS = {("readers", "spoilt bytes and values in six formats"): readers}
