"""Runs and qrels as rows, and as Parquet datasets."""

from collections import defaultdict

import numpy as np

from requirements import required

pa = required("pyarrow")
ds = required("pyarrow.dataset")

NAMES = ["01", "1", "NA", "<script>", "constructor", "ü", "x" * 17, "b c"]


def make_rows(seed=1, topics=7, runs=3, depth=12):
    """Rows of runs with ties, missing and unknown topics, and of qrels with subtopics."""
    rng = np.random.default_rng(seed)
    retrieved, judged = [], []
    for topic in NAMES[:topics]:
        for number, subtopic in ((n, s) for n in range(8) for s in "ab"):
            if rng.random() < 0.6:
                judged.append((topic, subtopic, f"d{number}", int(rng.integers(-1, 4))))
    for run in range(runs):
        for topic in [*NAMES[:topics], "only-retrieved"]:
            if rng.random() < 0.85 or topic == NAMES[0]:
                documents = rng.permutation(depth)
                retrieved += [
                    (f"run{run}", topic, f"d{d}", float(rng.integers(0, 5))) for d in documents
                ]
    order = rng.permutation(len(retrieved))
    return [retrieved[place] for place in order], judged


def as_table(names, rows):
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def run_table(rows):
    return as_table(("run", "topic", "docid", "score"), rows)


def qrels_table(rows):
    return as_table(("topic", "subtopic", "docid", "gain"), rows)


def write_folder(table, path, by=None):
    """Write files of a few rows each, partitioned by a column, or in the order of the rows."""
    options = {"partitioning": [by], "partitioning_flavor": "hive"} if by else {}
    ds.write_dataset(
        table, path, format="parquet", max_rows_per_file=40, max_rows_per_group=40, **options
    )
    (path / "_SUCCESS").touch()
    return path


def in_memory(retrieved, judged):
    lists = defaultdict(lambda: defaultdict(dict))
    for run, topic, document, score in retrieved:
        lists[run][topic][document] = score
    return qrels_table(judged), dict(sorted(lists.items()))
