"""Files of other tools: each gives the same data as the TREC files."""

import gzip
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import product
from threading import Thread

import pytest
import yaml

import confir
from confir.data.formats.entries import COLUMNS
from confir.data.formats.format_list import FORMATS
from confir.data.formats.run_metadata import read_metadata
from confir.data.formats.sources import as_runs, recognise
from confir.data.trec import TREC
from confir.errors import ConfirError, FormatError, InputWarning, UnreadableError
from confir.studies.judgements.judges import gather_judges
from foreign_files import (
    GAINS,
    MEANS,
    METADATA,
    QRELS,
    RUN,
    RUNS,
    SCORES,
    TABLES,
    VOTES,
    beir,
    book,
    evaluation_results,
    judgment,
    meta,
    mteb_results,
    rank_eval,
    responses,
    sample,
)
from requirements import required


def write(folder, name, held):
    path = folder / name
    path.write_text(held if isinstance(held, str) else json.dumps(held))
    return path


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("ending", ["", ".gz", "none"])
def test_a_run_is_that_of_the_same_data(tmp_path, kind, ending):
    name, text = RUNS[kind]
    path = tmp_path / (name.partition(".")[0] if ending == "none" else name + ending)
    path.write_bytes(gzip.compress(text.encode()) if ending == ".gz" else text.encode())
    run = confir.read_run(path)
    assert run.to_dict() == RUN
    assert run.name == name.partition(".")[0]
    assert confir.read_run(path, name="other").name == "other"
    scores = confir.evaluate(GAINS, {"x": path}, ["AP"])
    assert scores.values.tolist() == confir.evaluate(GAINS, {"x": RUN}, ["AP"]).values.tolist()


@pytest.mark.filterwarnings("ignore:.*ratings of retrieved documents")
@pytest.mark.parametrize("kind", QRELS)
def test_qrels_are_those_of_the_same_data(tmp_path, kind):
    path = write(tmp_path, *QRELS[kind])
    assert confir.read_qrels(path).to_dict() == GAINS
    scores = confir.evaluate(path, {"x": RUN}, ["AP"])
    assert scores.values.tolist() == confir.evaluate(GAINS, {"x": RUN}, ["AP"]).values.tolist()


def test_every_format_but_the_general_ones_is_tested_here():
    general = {"JSON", "TREC", "Parquet", "ir_datasets"}
    shown = {*RUNS, *QRELS, *SCORES, *VOTES, *MEANS, *TABLES}
    assert {one.name for one in FORMATS} == general | shown


@pytest.mark.parametrize(
    "lead", ["", "\n", "# c\n", "#c\r", "\r\n", "\ufeff", '{"query_doc_pairs":']
)
@pytest.mark.parametrize("separator", ["\t", ",", ";", " ", "\t "])
def test_lines_of_trec_are_those_that_no_other_format_would_have(lead, separator):
    others = [one for one in FORMATS if one is not TREC]
    endings = ("run", "csv", "tsv.gz", "json", "jsonl")
    for (topic, docid, value), ending in product(map(sorted, COLUMNS), endings):
        for words in (
            (topic, docid, value, "1"),
            ("301", topic, docid, "1", value),
            ("a", "0", "d", "1"),
        ):
            content, path = (lead + separator.join(words) + "\n1 0 d 1\n").encode(), f"a.{ending}"
            expected = next((one for one in others if one.fits(path, content)), TREC)
            assert recognise(path, content) is expected


@pytest.mark.parametrize(
    ("verb", "files"), [("read_run", RUNS), ("read_qrels", QRELS)], ids=["runs", "qrels"]
)
def test_a_truncated_file_is_one_sentence_with_its_name(tmp_path, verb, files):
    for name, text in files.values():
        path = write(tmp_path, name, text.rstrip()[:-5])
        with pytest.raises(ConfirError, match=f"^{path}.*expected") as caught:
            getattr(confir, verb)(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.tsv", "a.parquet"])
def test_an_empty_file_is_an_error(tmp_path, name):
    path = write(tmp_path, name, "")
    with pytest.raises(ConfirError, match=f"^{path}"):
        confir.read_run(path)
    with pytest.raises(ConfirError, match=f"^{path}"):
        confir.read_qrels(path)


WRONG_RUNS = [
    (meta(default={"test": {"q": {"d": "high"}}}), "topic 'q', document 'd': 'high' under 'score'"),
    (meta(default={"test": {}}), "the run is empty"),
    (meta(default=[1]), "a subset is not a JSON object; expected"),
    (meta(), r"has no subsets"),
    ({"query_id": "1", "results": [{"corpus_id": "d"}]}, "a result of record 1 lacks 'score'"),
    ({"query_id": "1", "results": {}}, "results of record 1 is not a list"),
    ({"query_id": "1", "results": [{"corpus_id": "d", "score": 1}] * 2}, "'d' occurs twice"),
    ([{"query_id": "1", "results": []}] * 2, "topic '1' occurs twice"),
    ({"q": {"took": 1, "_shards": {}, "hits": {"hits": [{"_id": "d"}] * 2}}}, "occurs twice"),
    ({"q": {"took": 1, "_shards": {}, "hits": {}}}, "hits of topic 'q' is not a list"),
    ({"took": 1, "_shards": {}, "hits": {"hits": []}}, "one search response, without its topic"),
    ({"metric_score": 1, "details": {}}, "no topics; expected"),
    (
        {"metric_score": 1, "details": {"q": {"hits": [{}]}}},
        "a hit of topic 'q' is not a JSON object",
    ),
    (book("x"), "Quepid book: .*; expected a run"),
    (judgment(GAINS), "OpenSearch judgment: .*; expected a run"),
    (
        {"mteb_version": "2", "task_name": "T", "scores": {}},
        "means of datasets, without scores per",
    ),
    (evaluation_results({"x": RUN}) * 2, "topic 'q 1' occurs twice in run 'x'"),
    ([{**evaluation_results({"x": RUN})[0], "documentIds": ["a", "a"]}], "not a list of different"),
    ("qid\tdocno\tscore\n1\td\n", ":2: 2 columns; expected 3 as in the header"),
    ("qid\tdocno\tscore\n1\td\thigh\n", ":2: 'high' under 'score' is not a finite number"),
    ("qid\tdocno\tscore\n", ":1: a header without rows"),
    ("qid\tdocno\tscore\n1\td\t1\n1\td\t2\n", "document 'd' occurs twice in topic '1'"),
]


@pytest.mark.parametrize(("held", "message"), WRONG_RUNS)
def test_a_faulty_run_is_named(tmp_path, held, message):
    path = write(tmp_path, "a.tsv" if isinstance(held, str) else "a.json", held)
    with pytest.raises(FormatError, match=f"^{path}:.*{message}|^{path}{message}"):
        confir.read_run(path)


WRONG_QRELS = [
    (beir({"1": {"d": 0.5}}), "gain of document 'd' in topic '1' is 0.5; expected a whole number"),
    (beir({"1": {"d": "x"}}), ":2: 'x' under 'score' is not a finite number"),
    (beir({"1": {"d": 1}}) + "1\td\t2\n", "'d'"),
    ({"judgmentRatings": [{"query": "q"}]}, "query 'q' lacks 'ratings'"),
    (judgment({"q": {"d": "x"}}), "topic 'q', document 'd': 'x.000' under 'gain'"),
    ([judgment({"q": {"d": 1}})] * 2, "document 'd' is rated twice in topic 'q'"),
    ({"judgmentRatings": []}, "empty"),
    ({"query_doc_pairs": []}, "no ratings; expected"),
    ({"query_doc_pairs": [{"query_text": "q"}]}, "pair 1 lacks 'doc_id'"),
    (book("x", "x"), "judge 'x' rates document 'a' of topic 'q 1' twice"),
    (meta(default={"test": RUN}), "MTEB predictions: .*; expected qrels"),
]


@pytest.mark.parametrize(("held", "message"), WRONG_QRELS)
def test_faulty_qrels_are_named(tmp_path, held, message):
    path = write(tmp_path, "a.tsv" if isinstance(held, str) else "a.json", held)
    with pytest.raises(FormatError, match=f"^{path}:.*{message}|^{path}{message}"):
        confir.read_qrels(path)


# Files of several parts


def test_subsets_and_splits_of_mteb_are_chosen(tmp_path):
    other = {"q2": {"z": 1.0}}
    path = write(tmp_path, "p.json", meta(en={"test": RUN, "dev": other}, de={"test": other}))
    assert confir.read_run(path, subset="en", split="test").to_dict() == RUN
    assert confir.read_run(path, subset="de").to_dict() == other
    scores = confir.evaluate(GAINS, path, "AP", subset="en", split="test")
    assert scores.values.tolist() == confir.evaluate(GAINS, RUN, "AP").values.tolist()
    experiment = confir.Experiment(GAINS, [path], "AP", subset="en", split="test")
    assert confir.evaluate(experiment).values.tolist() == scores.values.tolist()
    with pytest.raises(FormatError, match=r"holds 2 subsets \('en', 'de'\); expected --subset"):
        confir.read_run(path)
    with pytest.raises(FormatError, match=r"has no split 'train'; expected one of 'test', 'dev'"):
        confir.read_run(path, subset="en", split="train")


def test_judges_of_a_book_are_chosen(tmp_path):
    path = write(tmp_path, "book.json", book("x", "y"))
    assert confir.read_qrels(path, subset="y").to_dict() == GAINS
    with pytest.raises(FormatError, match=r"holds 2 judges \('x', 'y'\); expected --subset"):
        confir.read_qrels(path)


def test_the_judges_of_a_book_are_compared(tmp_path):
    held = book("x", "y")
    for pair in held["query_doc_pairs"]:
        pair["judgements"][1]["rating"] = 1.0
    path = write(tmp_path, "book.json", held)
    judges = gather_judges([path], grades=[0, 1, 2])
    assert judges.names == ("x", "y")
    assert [qrels.to_dict()["q 1"]["a"] for qrels in judges.qrels] == [2, 1]
    other = write(tmp_path, "z.json", book("only"))
    assert gather_judges([path, other], grades=[0, 1, 2]).names == ("x", "y", "z")


def test_evaluation_results_are_runs_and_scores(tmp_path):
    runs = {"bm25": RUN, "dense": {"q 1": {"b": 1.0}, "q2": {"c": 1.0}}}
    records = evaluation_results(runs)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    found = {"hits": {"hits": [{"_id": "1", "_source": record} for record in records]}}
    for name, held in (("a.json", records), ("b.json", lines), ("c.json", found)):
        path = write(tmp_path, name, held)
        made = as_runs(path)
        assert [run.name for run in made] == ["bm25", "dense"]
        assert [run["q 1"][0][0] for run in made] == ["a", "b"]
        ours = confir.evaluate(GAINS, path, "AP")
        assert ours.values.tolist() == confir.evaluate(GAINS, runs, "AP").values.tolist()
        scores = confir.read_scores(path)
        assert (scores.runs, scores.measures) == (("bm25", "dense"), ("NDCG@5", "MAP@5"))
        assert scores.topics == ("q 1", "q2")
    with pytest.raises(FormatError, match=r"holds 2 runs \(bm25, dense\); expected one here"):
        confir.read_run(path)


# Scores


def test_an_answer_of_rank_eval_is_scores(tmp_path):
    scores = confir.read_scores(write(tmp_path, "es.json", rank_eval()))
    assert (scores.runs, scores.measures, scores.topics) == (("es",), ("precision",), ("q 1", "q2"))
    assert scores.values.ravel().tolist() == [0.25, 0.25]


def test_failures_and_partial_judgements_of_rank_eval_are_said(tmp_path):
    path = write(tmp_path, "es.json", {**rank_eval(), "failures": {"q3": {"error": {}}}})
    with pytest.warns(InputWarning, match="the search failed for topics q3"):
        confir.read_scores(path)
    with pytest.warns(InputWarning) as caught:
        confir.read_qrels(path)
    assert any("ratings of retrieved documents alone" in str(one.message) for one in caught)


def test_documents_without_a_score_are_ranked_as_they_stand(tmp_path):
    unsorted = {"q 1": {"a": None, "b": None}, "q2": {"c": None}}
    run = confir.read_run(write(tmp_path, "s.json", responses(unsorted)))
    assert [document for document, _ in run["q 1"]] == ["a", "b"]


def test_results_of_mteb_are_scores_of_datasets(tmp_path):
    (tmp_path / "model_meta.json").write_text('{"name": "org/model"}')
    files = [
        write(tmp_path, "A.json", mteb_results("A", 0.5)),
        write(tmp_path, "B.json", mteb_results("B", 0.25, hf_subset="en")),
    ]
    with pytest.warns(InputWarning, match="are means; their datasets stand for topics"):
        scores = confir.read_scores(files)
    assert (scores.runs, scores.topics) == (("org/model",), ("A", "B"))
    assert scores.measures == ("nDCG@10",)
    with pytest.raises(FormatError, match=r"MTEB results: means of datasets, .*; expected a run"):
        confir.evaluate(GAINS, files[0], "AP")


def test_scores_that_mteb_could_not_define_are_no_error(tmp_path):
    """MTEB writes NaN, which JSON does not have, for areas under curves of one point."""
    held = mteb_results("A", 0.5, nauc_ndcg_at_1_max=float("nan"))
    with pytest.warns(InputWarning, match="are means"):
        scores = confir.read_scores(write(tmp_path, "A.json", held))
    assert scores.values.tolist() == [[[0.5]]]


def test_a_set_of_documents_are_judgements_and_a_list_of_hits_is_a_run():
    """As sentence-transformers has them: relevant_docs, and the hits of semantic_search."""
    assert confir.as_qrels({"q": {"d1", "d2"}}).to_dict() == {"q": {"d1": 1, "d2": 1}}
    found = {"q": [{"corpus_id": 7, "score": 0.5}, {"corpus_id": 3, "score": 0.25}]}
    assert confir.as_run(found).to_dict() == {"q": {"7": 0.5, "3": 0.25}}
    assert confir.evaluate({"q": {3}}, {"a": found, "b": found}, "RR").runs == ("a", "b")
    with pytest.raises(FormatError, match="document '7' occurs twice in topic 'q'"):
        confir.as_run({"q": [{"corpus_id": 7, "score": 0.5}] * 2})
    with pytest.raises(FormatError, match="topic 'q' holds an object of type list; expected a map"):
        confir.as_run({"q": [{"corpus_id": 7}]})
    with pytest.raises(FormatError, match="topic 'q' holds an object of type set; expected a mapp"):
        confir.as_run({"q": {"d1"}})


def test_samples_of_lm_eval_are_scores(tmp_path):
    lines = [sample(0, acc=1.0, filter="none"), sample(1, acc=0.0, filter="none")]
    path = write(tmp_path, "samples_task_2026.jsonl", "\n".join(map(json.dumps, lines)))
    scores = confir.read_scores(path)
    assert (scores.runs, scores.measures, scores.topics) == (
        ("samples_task_2026",),
        ("acc",),
        ("0", "1"),
    )
    for line in lines:
        del line["metrics"]
    write(tmp_path, "samples_task_2026.jsonl", "\n".join(map(json.dumps, lines)))
    assert confir.read_scores(path).values.tolist() == scores.values.tolist()


def test_filters_of_lm_eval_are_measures_of_their_own(tmp_path):
    lines = [sample(0, acc=1.0, filter="strict"), sample(0, acc=0.0, filter="flexible")]
    path = write(tmp_path, "s.jsonl", "\n".join(map(json.dumps, lines)))
    assert confir.read_scores(path).measures == ("acc,strict", "acc,flexible")
    write(tmp_path, "s.jsonl", "\n".join(map(json.dumps, [lines[0], lines[0]])))
    with pytest.raises(FormatError, match="a second score of run 's', measure 'acc', topic '0'"):
        confir.read_scores(path)
    write(tmp_path, "s.jsonl", json.dumps(sample(0)))
    with pytest.raises(FormatError, match="record 1 lacks 'acc'"):
        confir.read_scores(path)


@pytest.fixture
def inspected():
    """Samples of inspect, one epoch each."""
    pandas = required("pandas")
    return pandas.DataFrame(
        {
            "sample_id": ["u1", "u2", "u3"],
            "eval_id": ["e"] * 3,
            "id": ["1", "2", "3"],
            "epoch": [1] * 3,
            "metadata_difficulty": ["low", "high", "low"],
            "score_match": ["C", "I", "P"],
            "score_f1": [0.5, 0.25, 0.0],
        }
    )


def test_samples_of_inspect_are_scores(inspected, tmp_path):
    scores = confir.as_scores(inspected)
    assert (scores.runs, scores.measures, scores.topics) == (("e",), ("match", "f1"), tuple("123"))
    assert scores.values[:, 0].tolist() == [[1.0, 0.5], [0.0, 0.25], [0.5, 0.0]]
    inspected.to_csv(tmp_path / "samples.csv", index=False)
    assert confir.read_scores(tmp_path / "samples.csv").values.tolist() == scores.values.tolist()


def test_epochs_of_inspect_are_repeats_and_metadata_are_clusters(inspected, tmp_path):
    pandas = required("pandas")
    second = inspected.assign(epoch=2, score_f1=[0.7, 0.05, 0.0])
    path = tmp_path / "samples.csv"
    pandas.concat([inspected, second]).to_csv(path, index=False)
    with pytest.warns(InputWarning, match=r"runs are named by them, as in e@1; --repeats"):
        scores = confir.read_scores(path)
    assert scores.runs == ("e@1", "e@2")
    means = confir.summarise_repeats(scores.select(measure="f1"))
    assert (means.systems, means.mean.item()) == (("e",), pytest.approx(0.25))
    designed = scores.with_design(path, cluster="metadata_difficulty")
    assert designed.design.cluster == ("low", "high", "low")
    pandas.concat([inspected, second.assign(metadata_difficulty="other")]).to_csv(path, index=False)
    with pytest.raises(FormatError, match="a second row of topic '1'"):
        scores.with_design(path, cluster="metadata_difficulty")
    pandas.concat([inspected, inspected]).to_csv(path, index=False)
    with pytest.raises(FormatError, match="a second score of run 'e', measure 'match', topic '1'"):
        confir.read_scores(path)


# Parquet, folders, datasets and addresses


def test_runs_and_qrels_are_written_and_read_as_parquet(tmp_path):
    confir.write_run(confir.as_run(RUN, name="x y"), tmp_path / "a.parquet")
    confir.write_qrels(GAINS, tmp_path / "q.parquet")
    assert confir.read_run(tmp_path / "a.parquet").to_dict() == RUN
    assert confir.read_run(tmp_path / "a.parquet").name == "x y"
    assert confir.read_qrels(tmp_path / "q.parquet").to_dict() == GAINS
    assert confir.evaluate(tmp_path / "q.parquet", {"z": tmp_path / "a.parquet"}, "AP").runs == (
        "z",
    )


@pytest.mark.parametrize("name", ["both.txt", "both.run", "both.run.gz", "both"])
def test_several_runs_in_a_file_named_like_a_run_of_trec_are_refused_with_advice(tmp_path, name):
    rows = [f"{n},{t},{d},{s}" for n in "xy" for t, held in RUN.items() for d, s in held.items()]
    text = "\n".join(["run,topic,docid,score", *rows, ""]).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    advice = "holds 2 runs (x, y); expected one here: several are read from files that end in .csv"
    with pytest.raises(FormatError) as refused:
        confir.evaluate(GAINS, path, "AP")
    assert str(refused.value).startswith(f"{path}: {advice}")
    with pytest.raises(FormatError, match=r"holds 2 runs \(x, y\); expected one here$"):
        confir.evaluate(GAINS, {"z": path}, "AP")
    (tmp_path / "both.csv").write_bytes(text)
    assert confir.evaluate(GAINS, tmp_path / "both.csv", "AP").runs == ("x", "y")


def test_other_columns_of_a_csv_file_are_named_and_a_trec_file_may_end_so(tmp_path):
    (tmp_path / "a.csv").write_text("topics,doc,score\n1,d,2\n")
    with pytest.raises(
        FormatError, match="the columns are topics, doc, score; expected topic, docid"
    ):
        confir.read_run(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("1 Q0 a,b 1 2 t,1\n")
    assert confir.read_run(tmp_path / "b.csv").to_dict() == {"1": {"a,b": 2.0}}


def test_a_parquet_file_of_several_runs_is_several_runs(tmp_path):
    pa = required("pyarrow")
    import pyarrow.parquet as pq

    rows = [(n, t, d, s) for n in "xy" for t, held in RUN.items() for d, s in held.items()]
    names = ("run", "topic", "document", "score")
    pq.write_table(
        pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), tmp_path / "r.parquet"
    )
    scores = confir.evaluate(GAINS, tmp_path / "r.parquet", "AP")
    assert scores.runs == ("x", "y")
    pq.write_table(pa.table({"topic": ["1"], "other": [1]}), tmp_path / "bad.parquet")
    with pytest.raises(FormatError, match="the columns are topic, other; expected topic, docid"):
        confir.read_run(tmp_path / "bad.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "r.parquet").read_bytes()[:-20])
    with pytest.raises(FormatError, match="cannot be read as Parquet"):
        confir.read_run(tmp_path / "cut.parquet")


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ("tag: my run\nactor:\n  team: t\n", "my run"),
        ("actor:\n  tag: inner\ntag: 'quoted' \n", "quoted"),
        ('tag: "double"\n', "double"),
        ("tag: plain # comment\n", "plain"),
        ("actor: x\n", "sub"),
        ("ir_metadata.start\nschema-version: 0.1\ntag: a.b_0.6\nir_metadata.end\n", "a.b_0.6"),
    ],
)
def test_a_folder_of_tira_is_a_run_named_by_its_tag(tmp_path, metadata, name):
    folder = tmp_path / "sub"
    folder.mkdir()
    lines = [f"{t.replace(' ', '')} Q0 {d} 1 {s} t\n" for t, h in RUN.items() for d, s in h.items()]
    (folder / "run.txt.gz").write_bytes(gzip.compress("".join(lines).encode()))
    (folder / "ir-metadata.yml").write_text(metadata)
    assert [run.label() for run in as_runs(folder)] == [name]
    assert [run.label() for run in as_runs(tmp_path)] == [name]
    assert [run.label() for run in as_runs(f"other={folder}")] == ["other"]
    (folder / "ir-metadata.yml").write_text("tag: [a, b]\n")
    with pytest.raises(FormatError, match=r"ir-metadata\.yml:1: the tag is '\[a, b\]'; expected"):
        as_runs(folder)
    (folder / "run.txt.gz").unlink()
    with pytest.raises(UnreadableError, match="metadata without a run; expected run"):
        as_runs(folder)


def test_metadata_of_a_run_name_its_team_and_its_methods_against_pyyaml(tmp_path):
    (tmp_path / "ir-metadata.yml").write_text(METADATA)
    held = yaml.safe_load(METADATA.removeprefix("ir_metadata.start\n").split("ir_metadata.end")[0])
    assert read_metadata(str(tmp_path / "ir-metadata.yml")) == (
        held["tag"],
        f"{held['actor']['team']}, {held['actor']['name']}",
        ", ".join(stage["name"] for stage in held["method"]["retrieval"]),
    )
    (tmp_path / "ir-metadata.yml").write_text("actor: {team: x}\nmethod: Tf.Idf\n")
    assert read_metadata(str(tmp_path / "ir-metadata.yml")) == ("", "", "Tf.Idf")


def test_trec_writers_refuse_topics_with_blanks(tmp_path):
    with pytest.raises(FormatError, match="topic 'q 1' cannot be written to a TREC file"):
        confir.write_run(RUN, tmp_path / "a.run")
    with pytest.raises(FormatError, match="topic 'q 1' cannot be written to a TREC file"):
        confir.write_qrels(GAINS, tmp_path / "q.txt")


@pytest.fixture
def dataset(tmp_path):
    """A dataset of ir_datasets whose qrels are a local file, and one that would be fetched."""
    ir_datasets = required("ir_datasets")
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels
    from ir_datasets.util import Cache, Download, RequestsDownload

    (tmp_path / "here.qrels").write_text("1 0 a 2\n1 0 b 0\n2 0 c 1\n")
    here = Cache(None, tmp_path / "here.qrels")
    mirrors = [RequestsDownload(f"http://127.0.0.1:9/{name}", tries=1) for name in "ab"]
    there = Cache(Download(mirrors), tmp_path / "there.qrels")
    names = {"confir-here": here, "confir-there": there}
    for name, file in names.items():
        ir_datasets.registry._registered[name] = Dataset(TrecQrels(file, {}))
    yield
    for name in names:
        del ir_datasets.registry._registered[name]


@pytest.mark.usefixtures("dataset")
def test_a_dataset_is_read_from_this_machine_alone(tmp_path):
    expected = confir.read_qrels(tmp_path / "here.qrels")
    assert confir.read_qrels("irds:confir-here").to_dict() == expected.to_dict()
    run = {"1": {"a": 1.0}, "2": {"c": 1.0}}
    assert confir.evaluate("irds:confir-here", run, "AP").topics == ("1", "2")
    with pytest.raises(
        UnreadableError, match=r"^irds:confir-there: not on this machine, and fetched"
    ):
        confir.read_qrels("irds:confir-there")
    with pytest.raises(ConfirError, match=r"^irds:confir-there: cannot be read"):
        confir.read_qrels("irds:confir-there", download=True)
    with pytest.raises(
        ConfirError, match="unknown dataset of ir_datasets 'confir-her'; did you mean"
    ):
        confir.read_qrels("irds:confir-her")
    with pytest.raises(ConfirError, match=r"ir_datasets: .*; expected a run"):
        confir.read_run("irds:confir-here")


SERVED = {
    "/x.run.gz": gzip.compress(b"1 Q0 a 1 2 t\n2 Q0 b 1 1 t\n"),
    "/qrels.txt": b"1 0 a 1\n2 0 b 1\n",
}


class Web(BaseHTTPRequestHandler):
    """A server that has one run and its qrels."""

    def do_GET(self):
        self.send_response(200 if self.path in SERVED else 404)
        self.end_headers()
        self.wfile.write(SERVED.get(self.path, b""))

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def web():
    """The address of a server on this machine."""
    with HTTPServer(("127.0.0.1", 0), Web) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_addresses_are_opened_only_where_that_is_asked_for(web):
    addresses = f"{web}/qrels.txt", [f"{web}/x.run.gz"]
    with pytest.raises(UnreadableError, match=r"/qrels\.txt: an address, which is fetched"):
        confir.evaluate(*addresses, "AP")
    scores = confir.evaluate(*addresses, "AP", download=True)
    assert (scores.runs, scores.mean().item()) == (("x",), 1.0)
    named = confir.evaluate(addresses[0], f"one={web}/x.run.gz", "AP", download=True)
    assert named.runs == ("one",)
    with pytest.raises(UnreadableError, match="fetched only on request"):
        confir.read_run(f"{web}/x.run.gz")
    with pytest.raises(UnreadableError, match=r"none: cannot be fetched \(HTTP Error 404"):
        confir.read_run(f"{web}/none", download=True)
    with pytest.raises(UnreadableError, match="nothing://x: only files of http and https"):
        confir.read_run("nothing://x", download=True)
