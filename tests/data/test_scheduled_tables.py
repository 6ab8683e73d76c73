"""Score tables and runs in Parquet on a cluster: workers read them, with bit-identical results."""

import warnings

import numpy as np
import pytest

import confir
import confir.scheduler
from confir.data.formats import run_tables
from confir.data.long_tables import documents_by_topic, scores_by_topic, table_pieces
from confir.data.long_tables.block_statistics import Moments
from confir.errors import FormatError, InputWarning, SchedulerError
from confir.measures import partitioned_evaluation
from confir.scheduler import use_scheduler
from parquet_datasets import make_rows, qrels_table, run_table, write_folder
from requirements import ON_LINUX, required

pa = required("pyarrow")
pq = required("pyarrow.parquet")

RUNS = ("a", "b", "c")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(table_pieces, "_ROWS_AT_LEAST", 700)
    monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", 0)


def make_columns(order, topics=2_000):
    """A table that is wide, or long with topics together or run after run; some scores miss."""
    rng = np.random.default_rng(4)
    values = (rng.random(topics)[:, None] + rng.random((topics, len(RUNS)))) / 2
    values[rng.random(values.shape) < 0.01] = np.nan
    ids = np.array([f"q{number}" for number in rng.permutation(topics)])
    if order == "wide":
        return {"topic": ids, **dict(zip(RUNS, values.T, strict=True))}
    names, each = np.tile(RUNS, topics), np.repeat(ids, len(RUNS))
    flat = values.reshape(-1)
    rows = np.argsort(names, kind="stable") if order == "by run" else np.arange(len(flat))
    return {"run": names[rows], "topic": each[rows], "score": flat[rows]}


def write_table(path, columns, group=333):
    pq.write_table(pa.table(columns), path, row_group_size=group)  # topics lie in two groups
    return path


def asked(path):
    """What verbs say of a table, and what they warn of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        summary = confir.summarise_scores(path)
        options = {"replicates": 60, "rng": 2}
        found = {
            "moments": [
                getattr(summary.moments, name).tolist() for name in summary.moments.__slots__
            ],
            "sample": (summary.sample.topics, summary.sample.values.tobytes()),
            "closed": confir.confidence_interval(summary).to_records(),
            "percentile": confir.confidence_interval(
                summary, method="percentile", **options
            ).to_records(),
            "skewed": confir.confidence_interval(
                summary, method="hall-logit", **options
            ).to_records(),
            "compared": confir.compare_runs(summary, rng=1).to_records(),
            "planned": confir.plan_topics(summary, half_width=0.01).to_records(),
        }
    return repr(found), [(str(one.message), one.category) for one in caught]


@pytest.mark.parametrize("order", ["wide", "by topic", "by run"])
def test_verbs_say_the_same_to_the_bit(cluster, tmp_path, order):
    path = write_table(tmp_path / "x.AP@10.parquet", make_columns(order))
    here = asked(path)
    with use_scheduler(cluster):
        there = asked(path)
    assert there == here


@pytest.mark.parametrize("order", ["wide", "by topic"])
def test_workers_read_the_tables_themselves(cluster, tmp_path, monkeypatch, order):
    write_table(tmp_path / "x.AP@10.parquet", make_columns(order))
    monkeypatch.chdir(tmp_path)
    expected = confir.summarise_scores("x.AP@10.parquet").mean()
    monkeypatch.setattr(table_pieces, "scan_batches", None)  # not in this process
    with use_scheduler(cluster):
        there = confir.summarise_scores("x.AP@10.parquet")
        assert there.mean().tobytes() == expected.tobytes()
    with pytest.raises(TypeError):
        confir.summarise_scores("x.AP@10.parquet").mean()


def test_rows_put_into_order_here_are_summed_up_on_workers(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(scores_by_topic, "_ROWS_AT_ONCE", 500)
    path = write_table(tmp_path / "x.AP@10.parquet", make_columns("by run"))
    expected = confir.summarise_scores(path).mean()
    monkeypatch.setattr(Moments, "of", None)  # not in this process
    with use_scheduler(cluster):
        assert confir.summarise_scores(path).mean().tobytes() == expected.tobytes()
    with pytest.raises(TypeError):
        confir.summarise_scores(path).mean()


def test_a_topic_longer_than_a_piece_is_put_together(cluster, tmp_path):
    runs = [f"r{number:04d}" for number in range(1_700)]  # more than two pieces
    scores = np.arange(3 * len(runs)) / 1e4
    rows = {"run": runs * 3, "topic": np.repeat(["x", "y", "z"], len(runs)), "score": scores}
    path = write_table(tmp_path / "long.parquet", rows, group=100)
    with use_scheduler(cluster):
        there = confir.summarise_scores(path)
        assert len(there.topics) == 3
        np.testing.assert_allclose(there.mean()[:, 0], scores.reshape(3, -1).mean(axis=0))


BAD = {
    "a second row of topic 'q7'": ("wide", "topic", "q7"),
    "a second score of run 'a', measure 'AP@10', topic 'q7'": ("by topic", "topic", "q7"),
    "infinite": ("wide", "b", np.inf),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_tables_are_named_as_here(cluster, tmp_path, message):
    order, column, value = BAD[message]
    columns = make_columns(order)
    columns[column][-3 if order == "wide" else slice(-3, None)] = value
    path = write_table(tmp_path / "x.AP@10.parquet", columns)
    with use_scheduler(cluster), pytest.raises(FormatError, match=message):
        confir.summarise_scores(path).mean()


def test_summaries_on_workers_are_left_out_with_one_warning(cluster, tmp_path):
    columns = make_columns("wide")
    columns["topic"][[5, -5]] = "all"
    path = write_table(tmp_path / "x.AP@10.parquet", columns)
    with use_scheduler(cluster), pytest.warns(InputWarning, match="left out: topic 'all'") as said:
        assert len(confir.summarise_scores(path).topics) == len(columns["topic"]) - 2
    assert len(said) == 1


@pytest.mark.parametrize("order", ["wide", "by topic", "by run"])
def test_a_wrong_address_is_noticed(tmp_path, monkeypatch, order):
    monkeypatch.setattr(confir.scheduler, "_TO_CONNECT", 0.2)
    path = write_table(tmp_path / "x.AP@10.parquet", make_columns(order, topics=100))
    with (
        use_scheduler("tcp://127.0.0.1:9"),
        pytest.raises(SchedulerError, match="no scheduler of Dask answers there"),
    ):
        confir.confidence_interval(confir.summarise_scores(path), method="t")


@ON_LINUX
def test_a_table_that_a_worker_does_not_see_is_named(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "x.AP@10.parquet", make_columns("wide"))
    path = "/proc/self/cwd/x.AP@10.parquet"  # another folder in each process
    with use_scheduler(cluster), pytest.raises(SchedulerError) as caught:
        confir.summarise_scores(path).mean()
    assert str(caught.value).startswith(f"{path}: the worker on ")
    assert "sees none there, not one of" in str(caught.value)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    """Folders of qrels and runs."""
    folder = tmp_path_factory.mktemp("datasets")
    retrieved, judged = make_rows()
    runs = write_folder(run_table(retrieved), folder / "runs", "run")
    return write_folder(qrels_table(judged), folder / "qrels"), runs


def test_parts_of_run_datasets_are_scored_to_the_bit_on_workers(cluster, datasets, monkeypatch):
    monkeypatch.setattr(documents_by_topic, "_ROWS_AT_ONCE", 30)

    def evaluated(**options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = confir.evaluate(*datasets, ["AP", "nDCG@10"], **options)
            mean = confir.summarise_runs(*datasets, ["AP"]).mean()
        said = [(str(one.message), one.category) for one in caught]
        return found.topics, found.runs, found.values.tobytes(), mean.tobytes(), said

    steps = []
    here = evaluated()
    monkeypatch.setattr(partitioned_evaluation, "rank_rows", None)  # not in this process
    with use_scheduler(cluster):
        assert evaluated(progress=steps.append) == here
    assert len(steps) > 4 * 2  # more parts than are sent in one batch
    assert set(steps) == {1}


def test_bad_rows_on_workers_are_named_as_here(cluster, datasets, tmp_path):
    rows = [("a", "1", "d1", 1.0), ("a", "1", "d1", 2.0)]
    runs = write_folder(run_table(rows), tmp_path / "runs")
    message = "document 'd1' occurs twice in topic '1' of run 'a'"
    with use_scheduler(cluster), pytest.raises(FormatError, match=message):
        confir.evaluate(datasets[0], runs, "AP")
