"""Score tables that are read block by block give the same results as those that are read whole."""

import errno
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confir
from confir.data.ids import hash_names
from confir.data.long_tables import scores_by_topic, spill_folder, table_pieces
from confir.data.long_tables.block_statistics import Moments
from confir.errors import FormatError, UnreadableError
from requirements import ON_UNIX, required
from strategies import at_most

pa = required("pyarrow")
pq = required("pyarrow.parquet")

NAMES = ["01", "1", "NA", "<script>", "constructor", "", "a\tb", "ü", "x" * 17, "topic-8"]
MASK = 2**64 - 1


def mixed(word):
    """SplitMix64's output function in plain integers."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def plain_key(name):
    step, text = 0x9E3779B97F4A7C15, name.encode()
    key = mixed(len(text) + step & MASK)
    for start in range(0, len(text), 8):
        word = int.from_bytes(text[start : start + 8], "little")
        key = mixed((key ^ word) + step & MASK)
    return key


def test_keys_of_topics_are_those_of_a_plain_loop_over_their_bytes():
    assert hash_names(NAMES).tolist() == [plain_key(name) for name in NAMES]
    assert len(set(hash_names(NAMES).tolist())) == len(NAMES)
    assert hash_names([]).tolist() == []


def sort_ties_backwards(values, kind=None, _sort=np.argsort):
    """What some processor may do, and another not: equal values come in any order."""
    if kind == "stable":
        return _sort(values, kind="stable")
    return len(values) - 1 - _sort(values[::-1], kind="stable")


def test_which_repeated_score_is_named_does_not_depend_on_the_processor(monkeypatch):
    rows = np.zeros(9, scores_by_topic._ROW)
    rows["key"] = [5, 3, 5, 3, 3, 5, 3, 5, 3]
    rows["column"] = [0, 0, 1, 0, 2, 3, 1, 1, 2]
    monkeypatch.setattr(np, "argsort", sort_ties_backwards)
    with pytest.raises(scores_by_topic.RepeatedScoreError) as caught:
        scores_by_topic.group_part(rows, 4)
    assert (caught.value.key, caught.value.column) == (3, 0)  # the first of topic 3 to come again


def test_topics_of_a_part_do_not_depend_on_how_ties_are_sorted(monkeypatch):
    rows = np.zeros(6, scores_by_topic._ROW)
    rows["key"], rows["column"], rows["value"] = [5, 3, 3, 5, 9, 5], [0, 2, 0, 2, 1, 1], range(6)
    expected = [[2, 0, np.nan], [np.nan, 5, 4], [1, 3, np.nan]]
    monkeypatch.setattr(np, "argsort", sort_ties_backwards)
    block = scores_by_topic.group_part(rows, 3)
    assert block.keys.tolist() == [3, 5, 9]
    np.testing.assert_array_equal(block.values, expected)


@settings(max_examples=at_most(60))
@given(
    st.lists(st.lists(st.floats(-3, 3) | st.just(np.nan), min_size=1, max_size=9), min_size=1),
    st.floats(-1e3, 1e3),
)
def test_merged_moments_are_those_of_all_values_at_once(parts, shift):
    whole = np.concatenate([np.array(part) for part in parts]) + shift
    merged = Moments.of(np.array([parts[0]]) + shift)
    for part in parts[1:]:
        merged = merged.merge(Moments.of(np.array([part]) + shift))
    known = whole[~np.isnan(whole)]
    assert merged.count[0] == len(known)
    if not len(known):
        return
    deviations = known - known.mean()
    size = 1.0 + abs(shift)
    assert merged.mean[0] == pytest.approx(known.mean(), abs=1e-12 * size)
    for name, power in (("second", 2), ("third", 3), ("fourth", 4)):
        expected = (deviations**power).sum()
        scale = len(known) * max(1.0, np.abs(deviations).max()) ** power
        assert getattr(merged, name)[0] == pytest.approx(expected, abs=1e-12 * scale * size)
    assert (merged.least[0], merged.most[0]) == (known.min(), known.max())


def a_table(topics=300, runs=3, measures=("AP", "P@10"), seed=1, missing=0.1):
    rng = np.random.default_rng(seed)
    ids = [*NAMES[:5], *(f"q{number:05d}" for number in rng.permutation(topics - 5))]
    values = np.round(rng.random((topics, runs, len(measures))), 6)
    values[rng.random(values.shape) < missing] = np.nan
    values[0] = 0.5
    return ids, [f"run{r}" for r in range(runs)], list(measures), values


def long_columns(ids, runs, measures, values, order):
    rows = [
        (runs[r], measures[m], ids[t], values[t, r, m])
        for t, r, m in np.ndindex(values.shape)
        if not np.isnan(values[t, r, m])
    ]
    rows = [rows[place] for place in order(rows)]
    return dict(
        zip(("run", "measure", "topic", "score"), map(list, zip(*rows, strict=True)), strict=True)
    )


def by_topic(rows):
    return range(len(rows))


def by_run(rows):
    return sorted(range(len(rows)), key=lambda place: rows[place][:2])


def shuffled(rows):
    return np.random.default_rng(2).permutation(len(rows))


def write_parts(folder, columns, key):
    table = pa.table(columns)
    for value in dict.fromkeys(columns[key]):
        part = table.filter(pa.array([entry == value for entry in columns[key]]))
        inner = folder / f"{key}={value}"
        inner.mkdir(parents=True)
        pq.write_table(part.drop_columns([key]), inner / "part-0.parquet", row_group_size=37)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(table_pieces, "TOPICS_AT_ONCE", 23)
    monkeypatch.setattr(table_pieces, "_ROWS_AT_LEAST", 60)
    monkeypatch.setattr(scores_by_topic, "_ROWS_AT_ONCE", 100)


def same_as_whole(path, whole):
    summary = confir.summarise_scores(path)
    assert set(summary.runs) == set(whole.runs)
    assert set(summary.measures) == set(whole.measures)
    summary = summary.select(run=list(whole.runs), measure=list(whole.measures))
    assert len(summary.topics) == len(whole.topics)
    assert summary.topic_counts().tolist() == whole.topic_counts().tolist()
    np.testing.assert_allclose(summary.mean(), whole.mean(), rtol=1e-13)
    spread = np.nanstd(whole.values, axis=0, ddof=1).reshape(-1)
    np.testing.assert_allclose([row["sd"] for row in summary.to_records()], spread, rtol=1e-12)
    assert summary.sample.topics == whole.topics
    np.testing.assert_array_equal(summary.sample.values, whole.values)


@pytest.mark.parametrize("order", [by_topic, by_run, shuffled])
@pytest.mark.usefixtures("small_blocks")
def test_a_long_table_in_any_order_is_that_read_whole(tmp_path, order):
    columns = long_columns(*a_table(), order)
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=101)
    same_as_whole(path, confir.read_scores(path))


@pytest.mark.parametrize("key", ["run", "measure"])
@pytest.mark.usefixtures("small_blocks")
def test_a_partitioned_folder_is_that_read_whole(tmp_path, key):
    columns = long_columns(*a_table(), by_topic)
    pq.write_table(pa.table(columns), tmp_path / "scores.parquet")
    write_parts(tmp_path / "parts", columns, key)
    whole = confir.read_scores(tmp_path / "scores.parquet")
    same_as_whole(tmp_path / "parts", whole)
    read = confir.read_scores(tmp_path / "parts")
    order = {"run": list(whole.runs), "measure": list(whole.measures)}
    np.testing.assert_array_equal(read.select(**order).values, whole.values)


@pytest.mark.usefixtures("small_blocks")
def test_a_wide_table_and_one_with_a_column_per_measure_are_those_read_whole(tmp_path):
    ids, runs, measures, values = a_table()
    wide = tmp_path / "robust.AP@1000.parquet"
    pq.write_table(
        pa.table({"topic": ids, **dict(zip(runs, values[:, :, 0].T, strict=True))}), wide
    )
    same_as_whole(wide, confir.read_scores(wide))
    assert confir.summarise_scores(wide).measures == ("AP@1000",)
    both = tmp_path / "both.parquet"
    rows = {"run": np.tile(runs, len(ids)), "topic": np.repeat(ids, len(runs))}
    scores = {name: values[:, :, m].reshape(-1) for m, name in enumerate(measures)}
    pq.write_table(pa.table({**rows, **scores}), both)
    same_as_whole(both, confir.read_scores(both))


def test_partitions_named_by_number_stay_text(tmp_path):
    columns = {"run": ["01", "1"], "topic": ["001", "001"], "score": [0.25, 0.5]}
    write_parts(tmp_path / "parts", columns, "run")
    assert confir.summarise_scores(tmp_path / "parts").runs == ("01", "1")
    assert confir.read_scores(tmp_path / "parts").runs == ("01", "1")


def test_integer_topics_are_their_text(tmp_path):
    path, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"topic": [3, 1, 2], "bm25": [0.1, 0.2, 0.4]}), path)
    pq.write_table(pa.table({"topic": ["1", "2", "3"], "bm25": [0.2, 0.4, 0.1]}), other)
    one, two = (confir.summarise_scores(source).sample for source in (path, other))
    assert one.topics == two.topics == ("1", "2", "3")
    np.testing.assert_array_equal(one.values, two.values)


def test_a_summary_of_scores_in_memory_is_that_of_their_file(tmp_path):
    path = tmp_path / "scores.parquet"
    scores = confir.as_scores(
        {"a": {f"q{t}": t / 200 for t in range(200)}, "b": {f"q{t}": 0.5 for t in range(200)}}
    )
    confir.write_scores(scores, path)
    for name in ("mean", "second", "third", "fourth", "least", "most"):
        one, two = (confir.summarise_scores(source).moments for source in (scores, path))
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-14)


BAD = {
    "a second row of topic 'x'": {"topic": ["x", "y", "x"], "a": [0.1, 0.2, 0.3]},
    "a second score of run 'a', measure 'AP', topic 'x'": {
        "run": ["a", "a", "a"],
        "measure": ["AP"] * 3,
        "topic": ["x", "y", "x"],
        "score": [0.1, 0.2, 0.3],
    },
    "infinite|not a finite number": {"topic": ["x", "y"], "a": [0.1, np.inf]},
    r"a score is 1e\+155; expected at most 1e\+100": {"topic": ["x", "y"], "a": [0.1, -1e155]},
    "not numbers|not a finite number": {"topic": ["x", "y"], "a": [[0.1], [0.2]]},
    "topic is missing": {"topic": ["x", None], "a": [0.1, 0.2]},
    "without rows": {"topic": pa.array([], pa.string()), "a": pa.array([], pa.float64())},
    "no column of topics": {"a": [0.1, 0.2]},
    "expected ids": {"topic": [1.5, 2.5], "a": [0.1, 0.2]},
    "looks like a run": {"topic": ["x"], "docid": ["d"], "score": [0.1]},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_tables_are_named_in_one_sentence(tmp_path, message):
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table(BAD[message]), path)
    with pytest.raises(FormatError, match=message) as caught:
        confir.summarise_scores(path).mean()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_score_of_a_known_measure_beyond_its_range_is_refused(tmp_path):
    path = tmp_path / "x.AP@10.parquet"
    pq.write_table(pa.table({"topic": ["x", "y"], "a": [0.1, 1.5]}), path)
    with pytest.raises(FormatError, match=r"AP@10 of run 'a' is 1\.5 on a topic; expected"):
        confir.summarise_scores(path).mean()


def test_scores_outside_the_range_by_rounding_are_clipped_with_a_warning(tmp_path):
    path = tmp_path / "x.AP@10.parquet"
    pq.write_table(pa.table({"topic": ["x", "y"], "a": [0.5, 1.0 + 1e-7]}), path)
    summary = confir.summarise_scores(path)
    with pytest.warns(confir.errors.InputWarning, match="outside"):
        assert summary.mean()[0, 0] == 0.75
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert summary.moments.most[0] == 1.0


@pytest.mark.parametrize("cut", [3, 200])
def test_a_truncated_file_and_one_that_is_missing_are_refused(tmp_path, cut):
    path = tmp_path / "cut.parquet"
    pq.write_table(pa.table({"topic": ["x", "y"], "a": [0.1, 0.2]}), path)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(FormatError, match="cannot be read as Parquet"):
        confir.summarise_scores(path)
    with pytest.raises(UnreadableError, match="no such file"):
        confir.summarise_scores(tmp_path / "none.parquet")


def test_an_unreadable_partition_is_an_error(tmp_path):
    columns = long_columns(*a_table(40), by_topic)
    write_parts(tmp_path / "parts", columns, "run")
    damaged = tmp_path / "parts" / "run=run1" / "part-0.parquet"
    content = damaged.read_bytes()
    damaged.write_bytes(b"PAR1" + bytes(300) + content[304:])
    with pytest.raises(FormatError, match="cannot be read as Parquet") as caught:
        confir.summarise_scores(tmp_path / "parts").mean()
    assert str(caught.value).startswith(str(damaged))
    damaged.write_bytes(b"PAR1 and no more")
    with pytest.raises(FormatError, match="cannot be read as Parquet"):
        confir.summarise_scores(tmp_path / "parts").mean()


def test_summary_rows_are_left_out_with_a_warning(tmp_path):
    path = tmp_path / "all.parquet"
    pq.write_table(pa.table({"topic": ["x", "y", "ALL"], "a": [0.1, 0.2, 0.9]}), path)
    summary = confir.summarise_scores(path)
    with pytest.warns(confir.errors.InputWarning, match="summaries are left out: topic 'ALL'"):
        assert len(summary.topics) == 2
    assert summary.mean()[0, 0] == pytest.approx(0.15)


@pytest.mark.usefixtures("small_blocks")
def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path, monkeypatch):
    columns = long_columns(*a_table(), by_run)
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(columns), path)
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(spill_folder.SpillFolder, "sort", full)
    with pytest.raises(UnreadableError, match=r"No space left on device.*TMPDIR"):
        confir.summarise_scores(path).mean()
    assert list(room.iterdir()) == []


@ON_UNIX
def test_a_disk_too_full_for_the_keys_of_topics_is_named(tmp_path):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"topic": list(map(str, range(50_000))), "a": [0.5] * 50_000}), path)
    program = (
        "import resource, sys, confir\n"
        "from confir.data.long_tables import table_pieces, spill_folder\n"
        "spill_folder._KEYS_AT_ONCE, table_pieces.TOPICS_AT_ONCE = 2_048, 10_000  # small writes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n"
        "try:\n    confir.summarise_scores(sys.argv[1]).mean()\n"
        "except confir.errors.UnreadableError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "topics cannot be put into order there (File too large)" in done.stdout
    assert done.stderr == ""


@pytest.mark.usefixtures("small_blocks")
def test_rows_put_into_order_on_disk_are_removed(tmp_path, monkeypatch):
    columns = long_columns(*a_table(), by_run)
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(columns), path)
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    summary = confir.summarise_scores(path)
    summary.mean()
    assert len(list(room.iterdir())) == 1
    del summary
    assert list(room.iterdir()) == []


def test_an_address_of_fsspec_is_read_like_a_file(tmp_path):
    fsspec = required("fsspec")
    ids, runs, _, values = a_table()
    table = pa.table({"topic": ids, **dict(zip(runs, values[:, :, 0].T, strict=True))})
    path = tmp_path / "x.AP@1000.parquet"
    pq.write_table(table, path)
    with fsspec.open("memory://logs/x.AP@1000.parquet", "wb") as stream:
        stream.write(path.read_bytes())
    one, other = (confir.summarise_scores(p) for p in (path, "memory://logs/x.AP@1000.parquet"))
    assert other.measures == ("AP@1000",)
    np.testing.assert_array_equal(one.mean(), other.mean())
    with pytest.raises(UnreadableError, match="no such file"):
        confir.summarise_scores("memory://logs/none.parquet")


@pytest.mark.usefixtures("small_blocks")
def test_runs_one_after_the_other_are_those_of_shuffled_rows_to_the_bit(tmp_path):
    table = a_table(missing=0)
    found = []
    for order in (by_run, shuffled):
        path = tmp_path / f"{order.__name__}.parquet"
        columns = long_columns(*table, order)
        pq.write_table(pa.table(columns), path)
        summary = confir.summarise_scores(path).select(run=table[1], measure=table[2])
        found.append([getattr(summary.moments, name).tolist() for name in Moments.__slots__])
    assert found[0] == found[1]


@pytest.mark.usefixtures("small_blocks")
def test_a_topic_that_every_run_has_twice_is_refused(tmp_path):
    ids, runs, _, values = a_table(missing=0)
    ids[7] = ids[250]
    rows = {"run": np.repeat(runs, len(ids)), "topic": ids * len(runs)}
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.table({**rows, "score": values[:, :, 0].T.reshape(-1)}), path)
    with pytest.raises(FormatError, match=f"a second score of run 'run.*topic '{ids[7]}'"):
        confir.summarise_scores(path).mean()


COLUMNS = {
    "an empty topic": {"topic": ["1", ""], "a": [0.5, 0.25]},
    "an empty run": {"topic": ["1", "2"], "run": ["x", ""], "score": [0.5, 0.25]},
    "an empty run by its distinct values": {
        "topic": ["1", "2"],
        "run": pa.array(["x", ""]).dictionary_encode(),
        "score": [0.5, 0.25],
    },
    "no topic": {"topic": ["1", None], "a": [0.5, 0.25]},
    "numbers in text": {"topic": ["1", "2"], "a": ["0.5", " 1e-1 "]},
    "missing numbers in text": {"topic": ["1", "2"], "a": ["0.5", ""]},
    "words": {"topic": ["1", "2"], "a": ["0.5", "high"]},
    "underscores": {"topic": ["1", "2"], "a": ["0.5", "1_0"]},
    "digits of another script": {"topic": ["1", "2"], "a": ["0.5", "\u0661"]},
    "an infinite number in text": {"topic": ["1", "2"], "a": ["0.5", "inf"]},
    "an infinite number": {"topic": ["1", "2"], "a": [0.5, float("inf")]},
    "a number too large to be squared": {"topic": ["1", "2"], "a": [0.5, 1e155]},
    "a missing number": {"topic": ["1", "2"], "a": [0.5, None]},
    "truth values": {"topic": ["1", "2"], "a": [True, False]},
    "numbers by their distinct values": {
        "topic": ["1", "2"],
        "a": pa.array([0.5, 0.25]).dictionary_encode(),
    },
    "columns named like measures": {"topic": ["1", "2"], "nDCG@10": [0.5, 0.25]},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_an_id_and_what_a_number_does_not_depend_on_the_reader(tmp_path, name):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(COLUMNS[name]), path)
    means = []
    for read in (confir.read_scores, confir.summarise_scores):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                means.append(read(path).mean().tolist())
            except FormatError as error:
                assert str(error).startswith(f"{path}: ")  # noqa: PT017
                means.append(None)
    np.testing.assert_equal(means[0], means[1])
