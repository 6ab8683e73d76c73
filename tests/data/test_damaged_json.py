"""JSON of other tools with a wrong value in any place: rejected in one sentence, or read correctly."""

import json
import re
import subprocess
import sys
import warnings

import pytest

import confir
import confir.results
from confir.errors import ConfirError, ConfirWarning
from foreign_files import QRELS, RUNS, SCORES, VOTES, WRONG_VALUES, places, with_value

READERS = {
    "run": confir.read_run,
    "qrels": confir.read_qrels,
    "scores": confir.read_scores,
    "votes": confir.read_votes,
}
FILES = [
    *(("run", kind, *RUNS[kind]) for kind in RUNS if kind != "table"),
    *(("qrels", kind, *QRELS[kind]) for kind in QRELS if kind != "table"),
    *(("scores", kind, *SCORES[kind]) for kind in SCORES),
    *(("votes", kind, *VOTES[kind]) for kind in VOTES),
]


def read_or_refuse(read, path):
    """What is read, or None and why not; any other error is a failure."""
    try:
        return read(path), ""
    except ConfirError as error:
        return None, str(error)


def names_in(found):
    """All ids of what was read."""
    if isinstance(found, confir.Scores):
        return [*found.topics, *found.runs, *found.measures]
    if isinstance(found, confir.results.Votes):
        units = [ids.names for ids in (found.topic, found.judge) if ids is not None]
        return [*found.systems, *(name for names in units for name in names)]
    return [*found.topics, *found.documents]


@pytest.mark.parametrize(("verb", "name", "text"), [(v, n, t) for v, _, n, t in FILES])
def test_a_wrong_value_in_any_place_is_refused_in_a_sentence_or_read(tmp_path, verb, name, text):
    records = [json.loads(line) for line in text.splitlines()]
    wrong = {str(value) for value in WRONG_VALUES if not isinstance(value, str)}
    path = tmp_path / name
    refused = 0
    for place in places(records[:1]):
        for value in WRONG_VALUES:
            (first,) = with_value(records[:1], place, value)
            path.write_text("".join(json.dumps(one) + "\n" for one in (first, *records[1:])))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConfirWarning)
                found, problem = read_or_refuse(READERS[verb], path)
            if found is None:
                assert problem.startswith(f"{path}:")
                assert "\n" not in problem
                refused += 1
            else:
                assert not wrong & set(names_in(found)), (place, value)
    assert refused > 20


IDS = {
    "run": {
        "sentence-transformers predictions": ["query_id", "corpus_id"],
        "Elasticsearch _rank_eval": ["_id"],
        "Elasticsearch search responses": ["_id"],
    },
    "qrels": {
        "OpenSearch judgment": ["query", "docId"],
        "Quepid book": ["query_text", "doc_id"],
        "Elasticsearch _rank_eval": ["_id"],
    },
    "scores": {
        "MTEB results": ["task_name", "hf_subset"],
        "OpenSearch evaluation results": ["searchConfigurationId", "searchText", "metric"],
        "lm-eval samples": ["doc_id", "filter"],
        "nuggetizer assignments": ["qid", "run_id"],
        "nuggetizer metrics": ["qid"],
    },
}


@pytest.mark.parametrize("value", [None, [], {"a": 1}, True, 0.5, ""], ids=repr)
@pytest.mark.parametrize(
    ("verb", "kind", "key"),
    [(verb, kind, key) for verb, kinds in IDS.items() for kind in kinds for key in kinds[kind]],
)
def test_an_id_that_is_none_is_named_with_its_place(tmp_path, verb, kind, key, value):
    name, text = {"run": RUNS, "qrels": QRELS, "scores": SCORES}[verb][kind]
    held = [json.loads(line) for line in text.splitlines()]
    place = next(place for place in places(held) if place[-1] == key)
    lines = map(json.dumps, with_value(held, place, value))
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines))
    if (key, value) == ("filter", None):  # older versions have none
        assert confir.read_scores(path).measures == ("acc",)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        with pytest.raises(ConfirError) as caught:
            READERS[verb](path)
    message = str(caught.value)
    place = rf"{re.escape(str(path))}(:\d+)?: {key!r} (of|is) "
    assert re.match(place, message)
    assert message.endswith("expected text or a whole number")


def test_a_document_that_is_rated_twice_is_refused(tmp_path):
    name, text = QRELS["Elasticsearch _rank_eval"]
    held = json.loads(text)
    hits = held["details"]["q 1"]["hits"]
    hits[1]["hit"]["_id"] = hits[0]["hit"]["_id"]
    (tmp_path / name).write_text(json.dumps(held))
    with pytest.raises(ConfirError, match="document 'a' occurs twice in topic 'q 1'; expected it"):
        confir.read_qrels(tmp_path / name)
    judged = json.loads(QRELS["OpenSearch judgment"][1])
    ratings = judged["judgmentRatings"][0]["ratings"]
    ratings[0]["docId"], ratings[1]["docId"] = 7, "7"
    (tmp_path / "j.json").write_text(json.dumps(judged))
    with pytest.raises(ConfirError, match="document '7' is rated twice in topic 'q 1'"):
        confir.read_qrels(tmp_path / "j.json")


@pytest.mark.parametrize("rating", ["1_0", "\u0661", "\uff11", "1\u00a0"])
def test_only_numbers_as_c_spells_them_are_ratings(tmp_path, rating):
    judged = json.loads(QRELS["OpenSearch judgment"][1])
    judged["judgmentRatings"][0]["ratings"][0]["rating"] = rating
    (tmp_path / "j.json").write_text(json.dumps(judged))
    with pytest.raises(
        ConfirError, match=r"topic 'q 1', document 'a': .* under 'gain' is not a finite"
    ):
        confir.read_qrels(tmp_path / "j.json")


def test_texts_in_lines_of_json_may_hold_other_line_ends(tmp_path):
    name, text = RUNS["sentence-transformers predictions"]
    lines = [json.loads(line) | {"query": "one\u2028two\x85"} for line in text.splitlines()]
    whole = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (tmp_path / name).write_text(whole, encoding="utf-8")
    assert list(confir.read_run(tmp_path / name).topics) == ["q 1", "q2"]


@pytest.mark.parametrize("content", ['{"a": "' + "x" * 400_000, '["' + '\\"' * 200_000])
def test_a_string_without_an_end_does_not_take_minutes(tmp_path, content):
    """Time that grows with the square of the length would be an hour."""
    (tmp_path / "text.json").write_text(content)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "confir", "evaluate", "qrels.txt", "text.json"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert "not JSON (Unterminated string starting at)" in done.stderr
