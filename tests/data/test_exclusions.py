"""Excluded documents: scores are those of files that never contained them."""

import json
import warnings

import numpy as np
import pytest

import confir
from confir.cli import start
from confir.data import experiment as experiment_module
from confir.data import trec
from confir.data.exclusions import Exclusions
from confir.data.formats import run_tables
from confir.data.long_tables import documents_by_topic
from confir.data.ranked_lists.stored_lists import StoredLists
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.sampling_designs.sampled_document_scores import SampledScores
from confir.errors import (
    FormatError,
    InputWarning,
    InvalidValueError,
    TopicMismatchError,
    UnknownTopicWarning,
)
from requirements import required

MEASURES = ["AP", "nDCG@5", "R@10", "P@3", "Bpref", "Judged@5"]
TOPICS = [f"t{number}" for number in range(12)]
DOCUMENTS = [*TOPICS, *(f"d{number}" for number in range(40))]


def make_collection(seed=3):
    """Qrels, runs and exclusions; some topics are retrieved, judged or excluded documents, too."""
    rng = np.random.default_rng(seed)
    qrels, runs, excluded = {}, {"a": {}, "b": {}}, {}
    for topic in TOPICS:
        judged = rng.choice(DOCUMENTS, 14, replace=False).tolist()
        qrels[topic] = {one: int(rng.integers(0, 3)) for one in judged}
        qrels[topic]["d0"] = 1
        for run in runs.values():
            listed = rng.choice(DOCUMENTS, 30, replace=False).tolist()
            run[topic] = {one: float(rng.integers(0, 9)) for one in dict.fromkeys([topic, *listed])}
    for topic in TOPICS[::2]:
        excluded[topic] = [one for one in rng.choice(DOCUMENTS, 8).tolist() if one != "d0"]
    return qrels, runs, excluded


def without(held, dropped):
    """Topic → docid → value without pairs; a topic without any others is gone."""
    left = {
        topic: {one: value for one, value in own.items() if one not in dropped(topic)}
        for topic, own in held.items()
    }
    return {topic: own for topic, own in left.items() if own}


def expected_scores(qrels, runs, excluded, identical):
    named = {topic: set(documents) for topic, documents in excluded.items()}
    from_qrels = without(qrels, lambda topic: named.get(topic, set()))
    from_runs = {
        name: without(run, lambda t: named.get(t, set()) | ({t} if identical else set()))
        for name, run in runs.items()
    }
    return confir.evaluate(from_qrels, from_runs, MEASURES, exclude_identical=False)


def write_trec(folder, qrels, runs):
    lines = [f"{t} 0 {d} {g}\n" for t, own in qrels.items() for d, g in own.items()]
    (folder / "qrels.txt").write_text("".join(lines))
    paths = []
    for name, run in runs.items():
        lines = [f"{t} Q0 {d} 0 {s} {name}\n" for t, own in run.items() for d, s in own.items()]
        (folder / f"{name}.run").write_text("".join(lines))
        paths.append(str(folder / f"{name}.run"))
    return str(folder / "qrels.txt"), paths


def give_objects(_, qrels, runs, __):
    return qrels, runs


def give_files(folder, qrels, runs, _):
    return write_trec(folder, qrels, runs)


def give_files_to_read_by_line(folder, qrels, runs, monkeypatch):
    monkeypatch.setattr(trec, "read_lines", lambda *_: None)
    return write_trec(folder, qrels, runs)


def give_json(folder, qrels, runs, _):
    for name, held in {"qrels": qrels, **runs}.items():
        (folder / f"{name}.json").write_text(json.dumps(held))
    return str(folder / "qrels.json"), [str(folder / f"{name}.json") for name in runs]


def give_parquet(folder, qrels, runs, monkeypatch):
    pa, pq = required("pyarrow"), required("pyarrow.parquet")
    monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", 0)
    monkeypatch.setattr(documents_by_topic, "_ROWS_AT_ONCE", 60)
    for part, held in (("qrels", {"": qrels}), ("runs", runs)):
        rows = [
            (name, topic, one, value)
            for name, own in held.items()
            for topic, listed in own.items()
            for one, value in listed.items()
        ]
        names = ("run", "topic", "docid", "gain" if part == "qrels" else "score")
        table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        (folder / part).mkdir()
        kept = table.drop_columns(["run"]) if part == "qrels" else table
        pq.write_table(kept, folder / part / "part.parquet")
    return str(folder / "qrels"), str(folder / "runs")


GIVEN = [give_objects, give_files, give_files_to_read_by_line, give_json, give_parquet]


@pytest.mark.parametrize("give", GIVEN, ids=[one.__name__[5:] for one in GIVEN])
@pytest.mark.parametrize("excludes", [False, True])
@pytest.mark.parametrize("identical", [False, True])
@pytest.mark.filterwarnings("ignore::confir.errors.InputWarning")
def test_scores_are_those_of_files_that_never_had_the_documents(
    tmp_path, monkeypatch, give, excludes, identical
):
    qrels, runs, excluded = make_collection()
    excluded = excluded if excludes else {}
    expected = expected_scores(qrels, runs, excluded, identical)
    given = give(tmp_path, qrels, runs, monkeypatch)
    how = {"exclude": excluded or None, "exclude_identical": identical}
    found = confir.evaluate(*given, MEASURES, **how)
    assert found.topics == expected.topics
    np.testing.assert_array_equal(found.select(run=["a", "b"]).values, expected.values)


@pytest.mark.parametrize("by_line", [False, True])
@pytest.mark.parametrize("held_size", [0, 1 << 40])
@pytest.mark.filterwarnings("ignore::confir.errors.InputWarning")
def test_whole_lists_are_those_of_files_that_never_had_the_documents(
    tmp_path, monkeypatch, by_line, held_size
):
    monkeypatch.setattr(experiment_module, "_HELD_SIZE", held_size)
    qrels, runs, excluded = make_collection()
    give = give_files_to_read_by_line if by_line else give_files
    (tmp_path / "whole").mkdir()
    (tmp_path / "left").mkdir()
    named = {topic: {*documents} for topic, documents in excluded.items()}
    left = (
        without(qrels, lambda topic: named.get(topic, set())),
        {n: without(run, lambda t: named.get(t, set()) | {t}) for n, run in runs.items()},
    )
    whole = confir.Experiment(
        *give(tmp_path / "whole", qrels, runs, monkeypatch),
        exclude=excluded,
        exclude_identical=True,
    )
    plain = confir.Experiment(*give(tmp_path / "left", *left, monkeypatch), exclude_identical=False)
    lists, expected = (
        one.lists_by_topic().of_topics(0, len(one.qrels.topics)) for one in (whole, plain)
    )
    assert isinstance(whole.kept["lists"], StoredLists) == (held_size == 0)
    assert lists.runs == expected.runs
    for place in range(len(lists.runs)):
        assert lists.run(place).to_dict() == expected.run(place).to_dict()
    assert lists.qrels.to_dict() == expected.qrels.to_dict()
    np.testing.assert_array_equal(lists.judgements, expected.judgements)
    assert [lists.docids[number] for number in lists.judged] == list(lists.qrels.documents)


def test_an_excluded_relevant_document_leaves_the_denominator_of_recall():
    qrels = {"1": {"x": 1, "y": 1, "z": 1}, "2": {"x": 1}}
    run = {"1": {"y": 3.0, "x": 2.0}, "2": {"x": 1.0}}
    with pytest.warns(InputWarning, match="1 excluded document is relevant .z of topic 1.; taken"):
        scores = confir.evaluate(qrels, run, "R@2", exclude={"1": ["z"]})
    assert scores.values[:, 0, 0].tolist() == [1.0, 1.0]


def test_an_own_relevant_document_stays_in_the_denominator_as_in_beir():
    qrels = {"1": {"1": 1, "y": 1}, "2": {"x": 1}}
    run = {"1": {"1": 3.0, "y": 2.0}, "2": {"x": 1.0}}
    with pytest.warns(
        InputWarning, match="a relevant document with the id of its topic for 1 topic"
    ):
        scores = confir.evaluate(qrels, run, ["R@2", "RR"], exclude_identical=True)
    assert scores.values[:, 0].tolist() == [[0.5, 1.0], [1.0, 1.0]]


def test_lists_of_bright_without_excluded_ids_are_ranked_by_hand():
    # the shape of BRIGHT's excluded_ids: a list per topic, of documents that hold the question itself
    qrels = {"biology/0": {"gold_1.txt": 1, "gold_2.txt": 1}, "biology/1": {"gold_3.txt": 1}}
    run = {
        "biology/0": {"leak_1.txt": 9.0, "gold_1.txt": 8.0, "leak_2.txt": 7.0, "gold_2.txt": 6.0},
        "biology/1": {"other.txt": 2.0, "gold_3.txt": 1.0},
    }
    excluded = {"biology/0": ["leak_1.txt", "leak_2.txt"], "biology/1": ["N/A"]}
    scores = confir.evaluate(qrels, run, ["AP", "RR", "P@2"], exclude=excluded)
    # ranks 1 and 2 of topic 0 (2 and 4 before), rank 2 of topic 1
    assert scores.values[:, 0].tolist() == [[1.0, 1.0, 1.0], [0.5, 0.5, 0.5]]


@pytest.mark.parametrize("give", GIVEN, ids=[one.__name__[5:] for one in GIVEN])
def test_documents_with_the_id_of_their_topic_are_warned_of_where_nothing_is_said(
    tmp_path, monkeypatch, give
):
    qrels, runs, _ = make_collection()
    del runs["b"]["t1"]["t1"]
    given = give(tmp_path, qrels, runs, monkeypatch)
    text = r"run 'a' retrieves the document with the id of the topic for 12 of 12 topics, and so does 1"
    with pytest.warns(InputWarning, match=text):
        plain = confir.evaluate(*given, "AP")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = confir.evaluate(*given, "AP", exclude_identical=False)
    np.testing.assert_array_equal(plain.values, said.values)


@pytest.mark.parametrize("held_size", [0, 1 << 40])
def test_whole_lists_warn_of_documents_with_the_id_of_their_topic(tmp_path, monkeypatch, held_size):
    monkeypatch.setattr(experiment_module, "_HELD_SIZE", held_size)
    qrels, runs, _ = make_collection()
    given = give_files(tmp_path, qrels, runs, monkeypatch)
    with pytest.warns(InputWarning, match="for 12 of 12 topics, and so does 1 more run"):
        confir.Experiment(*given).lists_by_topic()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pairs.txt", "1 z\n# a comment\n\n2 y\n"),
        ("qrels.txt", "1 0 z 1\n2 0 y 0\n"),
        ("pairs.json", '{"1": ["z"], "2": ["y"]}'),
        ("qrels.json", '{"1": {"z": 1}, "2": {"y": 0}}'),
    ],
)
def test_every_shape_of_file_names_the_same_documents(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    qrels, run = {"1": {"x": 1}, "2": {"x": 1}}, {"1": {"z": 2, "x": 1}, "2": {"y": 2, "x": 1}}
    assert confir.evaluate(qrels, run, "RR").mean() == 0.5
    assert confir.evaluate(qrels, run, "RR", exclude=tmp_path / name).mean() == 1.0


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.txt", "1 z\n2 y 0\n", r"a.txt:2: 3 columns; expected 2 or 4: lines of topic docid"),
        ("a.txt", "", r"a.txt: the file is empty; expected lines of topic docid"),
        ("a.json", "[]", r"a.json: no JSON object; expected JSON of the shape"),
        ("a.json", "{}", r"a.json: no topics; expected JSON of the shape"),
        ("a.json", '{"1": "z"}', r"a.json: topic '1' has no list of docids; expected JSON"),
        ("a.json", '{"1": [null]}', r"a.json: a docid of topic '1' is None; expected text"),
        ("a.json", '{"1": ["z"', r"a.json:1: "),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(tmp_path, name, content, problem):
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError, match=problem):
        confir.evaluate({"1": {"x": 1}}, {"1": {"x": 1.0}}, "RR", exclude=tmp_path / name)


def test_what_is_no_file_or_mapping_is_refused():
    for given in ("-", 3, ["z"]):
        with pytest.raises(InvalidValueError, match=r"exclude is .*; expected"):
            confir.evaluate({"1": {"x": 1}}, {"1": {"x": 1.0}}, "RR", exclude=given)
    with pytest.raises(InvalidValueError, match=r"exclude_identical is .*; expected"):
        confir.evaluate({"1": {"x": 1}}, {"1": {"x": 1.0}}, "RR", exclude_identical="yes")


def test_excluded_topics_that_the_qrels_lack_are_warned_of_or_an_error():
    qrels, run = {"1": {"x": 1, "z": 0}}, {"1": {"x": 1.0}}
    with pytest.warns(UnknownTopicWarning, match=r"of 1 topic that the qrels lack .9."):
        confir.evaluate(qrels, run, "RR", exclude={"1": ["z"], "9": ["z"]})
    with pytest.raises(
        TopicMismatchError, match=r"the topics .9. are none of the qrels, which have 1"
    ):
        confir.evaluate(qrels, run, "RR", exclude={"9": ["z"]})
    with pytest.raises(FormatError, match="every judged document is excluded"), pytest.warns():
        confir.evaluate(qrels, run, "RR", exclude={"1": ["x", "z"]})


def test_a_topic_whose_judged_documents_are_all_excluded_is_left_out():
    qrels, run = {"1": {"x": 1}, "2": {"y": 1}}, {"1": {"x": 1.0}, "2": {"y": 1.0}}
    with pytest.warns() as caught:
        scores = confir.evaluate(qrels, run, "RR", exclude={"2": ["y"]})
    assert scores.topics == ("1",)
    assert any(
        "all judged documents of 1 topic are excluded (2), which is left" in str(w.message)
        for w in caught
    )


def test_human_judgements_lose_excluded_documents_too():
    topics = [str(number) for number in range(9)]
    model = {topic: {"x": 1, "y": 1, "z": 1} for topic in topics}
    people = {topic: {"x": 1, "y": 1, "z": 1} for topic in topics[:4]}
    run = {topic: {"x": 1.0 + number % 2, "y": 1.5} for number, topic in enumerate(topics)}
    excluded = {topic: ["z"] for topic in topics}
    how = {"human": people, "human_sample": "random-topics"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = confir.evaluate(model, run, "R@2", **how, exclude=excluded)
    assert isinstance(scores, JudgedScores)
    assert set(scores.human.values.ravel().tolist()) == {1.0}
    assert set(scores.model.values.ravel().tolist()) == {1.0}


def test_drawn_documents_with_human_judgements_are_left_out_too():
    topics = [str(number) for number in range(9)]
    model = {topic: {"x": 1, "y": 0, "z": 1} for topic in topics}
    people = {topic: {"x": (1, 1.0), "y": (1, 1.0), "z": (1, 1.0)} for topic in topics}
    run = {topic: {"x": 2.0, "z": 1.5, "y": 1.0} for topic in topics}
    excluded = {topic: ["z"] for topic in topics}
    how = {"human": people, "human_sample": "random-documents", "rng": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of documents that the model did not judge
        warnings.filterwarnings("ignore", ".*excluded documents are relevant")
        scores = confir.evaluate(model, run, "P@3", **how, exclude=excluded)
        left = [{t: without({t: own[t]}, lambda _: {"z"})[t] for t in own} for own in (model, run)]
        how["human"] = {t: {d: people[t][d] for d in "xy"} for t in topics}
        expected = confir.evaluate(*left, "P@3", **how)
    np.testing.assert_array_equal(scores.values, expected.values)
    assert isinstance(scores, SampledScores)
    assert isinstance(expected, SampledScores)
    assert scores.human_documents == expected.human_documents == 18


def test_the_command_reads_both_options(tmp_path, capsys, monkeypatch):
    qrels, runs, excluded = make_collection()
    judged, files = write_trec(tmp_path, qrels, runs)
    (tmp_path / "exclude.json").write_text(json.dumps(excluded))
    expected = expected_scores(qrels, runs, excluded, identical=True)
    monkeypatch.setattr(
        "sys.argv",
        [
            *("confir", "evaluate", judged, *files, "-m", "AP", "-q", "--format", "json"),
            *("--exclude", str(tmp_path / "exclude.json"), "--exclude-identical"),
        ],
    )
    start.run()
    records = json.loads(capsys.readouterr().out)
    found = {(r["run"], r["topic"]): r["score"] for r in records}
    for place, topic in enumerate(expected.topics):
        assert found["a", topic] == expected.values[place, 0, 0]


def test_an_output_does_not_replace_the_file_of_excluded_documents(tmp_path, capsys, monkeypatch):
    qrels, runs, excluded = make_collection()
    judged, files = write_trec(tmp_path, qrels, runs)
    path = tmp_path / "exclude.json"
    path.write_text(json.dumps(excluded))
    given = ["confir", "evaluate", judged, *files, "--exclude", str(path), "-o", str(path)]
    monkeypatch.setattr("sys.argv", given)
    assert start.run() == 2
    assert "the command reads this file" in capsys.readouterr().err
    assert json.loads(path.read_text()) == excluded


def test_rules_read_the_file_once_and_hand_it_on(tmp_path):
    path = tmp_path / "exclude.txt"
    path.write_text("1 z\n")
    rules = confir.Experiment({"1": {"x": 1}}, {"1": {"x": 1.0}}, exclude=path).rules
    path.unlink()
    assert rules.reading.exclusions == Exclusions({"1": frozenset({"z"})}, None, str(path))
    again = confir.Experiment({"1": {"x": 1}}, {"1": {"x": 1.0}}, **rules.keywords())
    assert again.rules.reading == rules.reading


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize("verb", [confir.bound_unjudged, confir.bound_ties, confir.evaluate])
def test_a_run_without_any_document_left_is_refused(verb):
    qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1, "d": 1}}
    runs = {"x": {"1": {"a": 2.0}, "2": {"c": 1.0}}, "y": {"2": {"d": 1.0}}}
    with pytest.raises(
        confir.errors.TopicMismatchError, match="run 'x' and the qrels have no topic"
    ):
        verb(qrels, runs, "P@1", exclude={"1": ["a"], "2": ["c"]})
