"""Runs scored without their team's judgements, against plain loops over dictionaries."""

import numpy as np
import pytest
from scipy import stats

import confir
from confir.errors import FormatError, InvalidValueError, TopicMismatchError, TopicWarning
from confir.report.result_table import result_table
from confir.report.tables import to_html, to_text
from samples import short_sample

TEAMS = {
    **dict.fromkeys(("bm25", "bm25-rm3", "tfidf"), "lexical"),
    **dict.fromkeys(("dense", "dense-tuned"), "vectors"),
    **dict.fromkeys(("hybrid", "rerank"), "mixed"),
    "splade": "sparse",
}
DEPTH = 10

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.MissingTopicWarning")


@pytest.fixture(scope="module")
def sample():
    return short_sample()


def contributors_by_loop(runs, qrels, depth):
    """Topic → docid → teams, of the judged documents down to a depth."""
    found = {topic: {docid: set() for docid in judged} for topic, judged in qrels.items()}
    for run in runs:
        for topic, ranked in run.to_dict().items():
            for docid in list(ranked)[:depth]:
                if docid in found.get(topic, {}):
                    found[topic][docid].add(TEAMS[run.name])
    return found


def without(team, qrels, contributors):
    """The judgements without the documents that only a team contributed."""
    return {
        topic: {
            docid: gain for docid, gain in judged.items() if contributors[topic][docid] != {team}
        }
        for topic, judged in qrels.items()
    }


@pytest.fixture(scope="module")
def found(sample):
    return confir.estimate_reusability(
        *(sample.qrels, sample.runs, ["AP", "P@10"]),
        teams=TEAMS,
        pool_depth=DEPTH,
        bounds=True,
    )


@pytest.fixture(scope="module")
def left_out(sample):
    """Scores of each run without its team, by loops: topics × runs × measures; and the full ones."""
    qrels = sample.qrels.to_dict()
    contributors = contributors_by_loop(sample.runs, qrels, DEPTH)
    columns = [
        confir.evaluate(without(TEAMS[run.name], qrels, contributors), run, ["AP", "P@10"]).values
        for run in sample.runs
    ]
    full = confir.evaluate(sample.qrels, sample.runs, ["AP", "P@10"]).values
    return np.concatenate(columns, axis=1), full


def test_drops_are_those_of_a_loop_over_teams(found, left_out):
    left, full = left_out
    np.testing.assert_allclose(found.left_out, left.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.mean, full.mean(axis=0), atol=1e-12)
    drops = full - left
    low, high = stats.t.interval(0.95, len(drops) - 1, drops.mean(axis=0), stats.sem(drops))
    np.testing.assert_allclose(found.drop, drops.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.low, low, atol=1e-12)
    np.testing.assert_allclose(found.high, high, atol=1e-12)
    np.testing.assert_allclose(found.mean_drop, drops.mean(axis=(0, 1)), atol=1e-12)


def test_leaderboards_are_those_of_scipy(found):
    full, left = found.mean.round(12), found.left_out.round(12)
    np.testing.assert_array_equal(found.rank, stats.rankdata(-full, method="min", axis=0))
    np.testing.assert_array_equal(found.left_out_rank, stats.rankdata(-left, method="min", axis=0))
    taus = [stats.kendalltau(full[:, m], left[:, m]).statistic for m in range(2)]
    np.testing.assert_allclose(found.tau, taus)


def test_unique_documents_are_counted(found, sample):
    qrels = sample.qrels.to_dict()
    contributors = contributors_by_loop(sample.runs, qrels, DEPTH)
    relevant = [
        contributors[t][d] for t, judged in qrels.items() for d, gain in judged.items() if gain >= 1
    ]
    assert found.relevant == len(relevant)
    assert found.outside == sum(not teams for teams in relevant)
    assert found.unique_share == pytest.approx(
        sum(len(teams) == 1 for teams in relevant) / len(relevant)
    )
    for run, count in zip(found.runs, found.unique, strict=True):
        assert count == relevant.count({TEAMS[run]})


def test_bounds_contain_the_mean_by_all_judgements(found):
    assert found.within_bounds.all()
    assert (found.lowest <= found.left_out + 1e-12).all()
    assert (found.left_out <= found.highest + 1e-12).all()
    assert (found.drop > 0).any()


def test_measures_without_bounds_have_none(sample):
    found = confir.estimate_reusability(
        sample.qrels, sample.runs[:3], ["P@10", "Rprec"], teams=TEAMS, bounds=True
    )
    records = found.to_records()
    assert {record["within_bounds"] for record in records if record["measure"] == "Rprec"} == {None}
    assert "contain the mean" in to_text(result_table(found))


def test_named_contributors_replace_the_pool(sample, found):
    qrels = sample.qrels.to_dict()
    contributors = contributors_by_loop(sample.runs, qrels, DEPTH)
    named = {t: {d: sorted(teams) for d, teams in own.items()} for t, own in contributors.items()}
    again = confir.estimate_reusability(
        sample.qrels, sample.runs, ["AP", "P@10"], teams=TEAMS, contributors=named
    )
    np.testing.assert_array_equal(again.left_out, found.left_out)
    assert again.pool_depth is None


def test_the_same_document_from_two_runs_of_a_team_is_unique_to_it():
    qrels = {"1": {"d": 1, "e": 1}}
    runs = {"a1": {"1": {"d": 1.0}}, "a2": {"1": {"d": 1.0}}, "b": {"1": {"e": 1.0}}}
    found = confir.estimate_reusability(qrels, runs, "P@1", teams={"a1": "A", "a2": "A", "b": "B"})
    np.testing.assert_array_equal(found.left_out, [[0], [0], [0]])
    assert found.unique_share == 1.0


def test_topics_that_lose_all_relevant_documents_are_left_out_of_both_and_named():
    qrels = {"1": {"d": 1}, "2": {"d": 1, "e": 1}, "3": {"d": 1, "e": 0}}
    runs = {
        "a": {"1": {"d": 1.0}, "2": {"d": 1.0}, "3": {"d": 1.0}},
        "b": {"1": {"x": 1.0}, "2": {"e": 1.0}, "3": {"d": 1.0}},
    }
    with pytest.warns(TopicWarning, match=r"1 topic \(1\) of 3 left out: without relevant"):
        found = confir.estimate_reusability(qrels, runs, "P@1", teams={"a": "A", "b": "B"})
    assert found.dropped == ("1",)
    assert found.topics.tolist() == [[2], [2]]
    np.testing.assert_array_equal(found.mean, [[1.0], [1.0]])
    np.testing.assert_array_equal(found.left_out, [[0.5], [0.5]])
    lost, runs = {"1": {"d": 1}}, {"a": {"1": {"d": 1.0}}, "b": {"1": {"x": 1.0}}}
    with pytest.raises(TopicMismatchError, match="every topic is without relevant documents"):
        confir.estimate_reusability(lost, runs, "P@1", teams={"a": "A", "b": "B"})


def test_deleted_judgements_do_not_count_as_judged():
    """A document of the team alone is deleted, not judged 0: it is unjudged for Judged@k."""
    qrels = {"1": {"d": 1, "e": 1}, "2": {"d": 1, "e": 1}}
    runs = {"a": {"1": {"d": 1.0}, "2": {"d": 1.0}}, "b": {"1": {"e": 1.0}, "2": {"e": 1.0}}}
    found = confir.estimate_reusability(qrels, runs, "Judged@1", teams={"a": "A", "b": "B"})
    np.testing.assert_array_equal(found.left_out, [[0.0], [0.0]])


def test_one_topic_and_equal_drops_have_no_interval():
    qrels = {"1": {"d": 1, "e": 1}}
    runs = {"a": {"1": {"d": 1.0, "e": 0.5}}, "b": {"1": {"e": 1.0}}}
    found = confir.estimate_reusability(qrels, runs, "P@2", teams={"a": "A", "b": "B"})
    assert np.isnan(found.low).all()
    np.testing.assert_allclose(found.drop, [[0.5], [0.0]])


def test_missing_teams_are_said_to_overstate(found):
    text = to_text(result_table(found))
    assert "other teams or deeper ranks contributed them, so uniqueness and drops are" in text
    whole = confir.estimate_reusability(
        {"1": {"d": 1, "e": 1}, "2": {"d": 1}},
        {
            "a": {"1": {"d": 1.0}, "2": {"d": 1.0}},
            "b": {"1": {"d": 1.0, "e": 0.5}, "2": {"d": 1.0}},
        },
        "P@1",
        teams={"a": "A", "b": "B"},
    )
    assert "overstated" not in to_text(result_table(whole))


def test_the_answer_in_words():
    qrels = {"1": {"d": 1, "e": 1}, "2": {"d": 1}}
    runs = {
        "a": {"1": {"d": 2.0, "e": 1.0}, "2": {"d": 1.0}},
        "b": {"1": {"d": 1.0}, "2": {"d": 1.0}},
    }
    found = confir.estimate_reusability(qrels, runs, "P@2", teams={"a": "A", "b": "B"})
    (sentence,) = found.sentences()
    assert sentence == (
        "A run of a team that did not take part would lose 0.1250 in P@2 on average and 0.2500 at "
        "most (a)."
    )


def test_gains_are_called_gains():
    qrels = {"1": {"d": 1, "e": 1}, "2": {"d": 1}}
    runs = {
        "a1": {"1": {"d": 1.0}, "2": {"d": 1.0}},
        "a2": {"1": {"x": 2.0, "e": 1.0}, "2": {"d": 1.0}},
    }
    runs["b"] = runs["a1"]
    found = confir.estimate_reusability(qrels, runs, "AP", teams={"a1": "A", "a2": "A", "b": "B"})
    np.testing.assert_allclose(found.drop[:, 0], [-0.25, 0.125, 0.0])
    assert found.sentences()[0].endswith(
        "would gain 0.0417 in AP on average and lose 0.1250 at most (a2)."
    )
    alone = found.select(run=["a1", "b"])
    assert alone.sentences()[0].endswith(
        "would gain 0.1250 in AP on average and lose nothing at worst."
    )


def teams_file(tmp_path, text):
    path = tmp_path / "teams.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("bm25 a\n", InvalidValueError, r"no team is named for 1 run \(dense\)"),
        ("bm25 a b\n", FormatError, r"teams.txt:1: 3 columns; expected a run and its team"),
        (
            "bm25 a\n# x\nbm25 b\n",
            FormatError,
            r"teams.txt:3: run 'bm25' is of team 'b', and of 'a' before",
        ),
        ("\n", FormatError, r"the file is empty; expected a run and its team"),
    ],
)
def test_wrong_teams_are_named(sample, tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        confir.estimate_reusability(
            sample.qrels, sample.runs[:3:2], "P@10", teams=teams_file(tmp_path, text)
        )


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("1 0 d 1\n", FormatError, r"c.txt:1: 4 columns; expected topic 0 docid gain"),
        ("1 0 d 1 2 A\n", FormatError, r"c.txt:1: 6 columns, the fifth of which is no count"),
        (
            "1 0 d 1 1 A\n1 0 d 1 1 B\n",
            FormatError,
            r"c.txt:2: document 'd' of topic '1' occurs twice",
        ),
        ("", FormatError, "the file is empty"),
        ("9 0 d 1 1 A\n", TopicMismatchError, "has none of the judged documents"),
        ("1 0 d 1 1 A\n", InvalidValueError, r"1 team of the runs contributed no document \(B\)"),
        ("1 0 d 1 2 A team-b\n", InvalidValueError, r"\(B\), so leaving them out shows nothing"),
    ],
)
def test_wrong_contributors_are_named(tmp_path, text, error, message):
    path = tmp_path / "c.txt"
    path.write_text(text)
    runs = {"a": {"1": {"d": 1.0}}, "b": {"1": {"d": 1.0}}}
    with pytest.raises(error, match=message):
        confir.estimate_reusability(
            {"1": {"d": 1}}, runs, "P@1", teams={"a": "A", "b": "B"}, contributors=path
        )


@pytest.mark.parametrize(
    "given", [{"teams": 3}, {"teams": {"a": 1}}, {"contributors": {"1": {"d": "A"}}}]
)
def test_wrong_objects_are_named(given):
    options = {"teams": {"a": "A"}} | given
    with pytest.raises(InvalidValueError, match="expected a path, or a mapping"):
        confir.estimate_reusability({"1": {"d": 1}}, {"a": {"1": {"d": 1.0}}}, "P@1", **options)


def test_hostile_names_are_escaped():
    name = "<script>alert(1)</script>"
    qrels = {name: {"d": 1, "e": 1}, "2": {"d": 1}}
    runs = {name: {name: {"d": 1.0}, "2": {"d": 1.0}}, "b": {name: {"e": 1.0}, "2": {"d": 1.0}}}
    found = confir.estimate_reusability(qrels, runs, "P@1", teams={name: name, "b": "B"})
    page = to_html(result_table(found))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_single_team_leaves_no_pool(sample):
    teams = dict.fromkeys(TEAMS, "one")
    with pytest.raises(InvalidValueError, match="all runs are of team 'one': without it"):
        confir.estimate_reusability(sample.qrels, sample.runs, "AP", teams=teams)
