"""What the contests of speed are about: campaigns, pools and texts, made from fixed seeds."""

# Libraries are imported where they are measured, so that each process pays for its own.
# ruff: noqa: PLC0415

import numpy as np
import polars as pl

SYSTEMS, JUDGED, PART = 5, 1000, 1_000_000
METRICS = ("rouge-l", "bleu", "judge")
# Present in the file and not asked for: they must not be read.
OTHERS = ("chrf", "length")
VOCABULARY = 20_000
# Rows of texts written at a time, and after which texts come again.
BLOCK = 50_000


def large_campaign(systems, items, metrics, judged, *, raters=40):
    """Outputs with metrics, and one judgment of `judged` outputs of each system."""
    rng = np.random.default_rng(systems)
    size = systems * items
    quality = rng.standard_normal(size)
    name = np.repeat([f"s{number}" for number in range(systems)], items)
    outputs = pl.DataFrame({"item": np.tile(np.arange(items), systems).astype(str), "system": name})
    values = 0.4 * quality[:, None] + rng.standard_normal((size, metrics))
    outputs = outputs.with_columns(pl.Series(f"m{j}", values[:, j]) for j in range(metrics))
    rows = np.concatenate(
        [s * items + np.sort(rng.choice(items, judged, replace=False)) for s in range(systems)]
    )
    rater = rng.integers(raters, size=len(rows))
    lenient = rng.normal(0, 0.3, raters)
    score = quality[rows] + lenient[rater] + rng.standard_normal(len(rows))
    judgments = (
        outputs[rows]
        .select("item", "system")
        .with_columns(
            pl.Series("rater", [f"r{one}" for one in rater]),
            pl.lit("overall").alias("prompt"),
            pl.Series("score", score),
        )
    )
    return outputs, judgments


def crossed_judgments(judgments, outputs, raters):
    rng = np.random.default_rng(0)
    output = np.append(np.arange(outputs), rng.integers(0, outputs, size=judgments - outputs))
    rater = rng.integers(0, raters, size=judgments)
    human = (
        rng.normal(size=outputs)[output]
        + 0.5 * rng.normal(size=raters)[rater]
        + 1.2 * rng.normal(size=judgments)
    )
    return human, output, rater


def texts(rng, words, shape):
    """References drawn by Zipf's law, and outputs that keep about half of their words."""
    frequency = 1 / np.arange(1, VOCABULARY + 1)
    reference, other = rng.choice(VOCABULARY, size=(2, *shape), p=frequency / frequency.sum())
    output = np.where(rng.random(shape) < 0.5, reference, other)
    return ([" ".join(row) for row in words[codes]] for codes in (output, reference))


def make_file(path, rows, *, length):
    """Write rows of texts of `length` words; after a block the texts come again."""
    rng = np.random.default_rng(55)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = np.array(["".join(rng.choice(letters, size=n)) for n in rng.integers(2, 9, VOCABULARY)])
    parts = []
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        if start == 0:
            output, reference = texts(rng, words, (count, length))
            block = pl.DataFrame({"output": output, "reference": reference, "system": "a"})
        item = pl.Series("item", np.arange(start, start + count))
        parts.append(path.with_suffix(f".{start}.part"))
        block.head(count).insert_column(0, item).write_parquet(parts[-1])
    pool = pl.scan_parquet(parts)
    pool.sink_parquet(path) if path.suffix == ".parquet" else pool.sink_ndjson(path)
    for part in parts:
        part.unlink()


def make_pool(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    systems = pa.array([f"system-{number}" for number in range(SYSTEMS)])
    writer = None
    for start in range(0, rows, PART):
        index = np.arange(start, min(start + PART, rows))
        codes = pa.array((index % SYSTEMS).astype(np.int8))
        part = pa.table(
            {
                "item": pa.array(np.char.add("item-", (index // SYSTEMS).astype(str))),
                "system": pa.DictionaryArray.from_arrays(codes, systems),
                **{name: rng.random(len(index)) for name in (*METRICS, *OTHERS)},
            }
        )
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()


def judged_items(rows):
    """The judged outputs of a pool: a thousand items of one system."""
    items = rows // SYSTEMS
    chosen = range(0, items, max(1, items // JUDGED))
    names = [f"item-{number}" for number in chosen][:JUDGED]
    return pl.DataFrame({"item": names, "system": "system-1"})
