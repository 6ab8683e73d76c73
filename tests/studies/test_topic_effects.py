"""Effects of topics: from scores, from tables with limits, and from resampled collections."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from confir.data.effect_files import Group, read_effects
from confir.data.qrels import build_qrels
from confir.data.run import build_run
from confir.data.scores import Scores
from confir.errors import InputWarning, InvalidValueError, UnknownNameError
from confir.resampling.document_bootstrap import resample_documents
from confir.resampling.statistics import clipped_logit
from confir.studies.collection.collection_topics import summarise_topics
from confir.studies.meta_analysis.meta_analysis import pool_effects
from confir.studies.meta_analysis.topic_effects import (
    EFFECTS,
    collection_effects,
    sigmas_from_limits,
    table_effects,
    topic_effects,
)


@pytest.fixture(scope="module")
def sample():
    """Two measures, three runs, five topics: on the last one run "c" finds nothing relevant."""
    rng = np.random.default_rng(4)
    topics = [f"t{t}" for t in range(5)]
    names = [f"d{d}" for d in range(40)]
    relevant = {topic: rng.permutation(40)[:8] for topic in topics}
    judged = [(topic, names[d]) for topic in topics for d in relevant[topic]]
    where, documents = zip(*judged, strict=True)
    qrels = build_qrels(where, ["0"] * len(where), documents, np.ones(len(where), np.int64))
    runs = []
    for name in "abc":
        rows = []
        for topic in topics:
            found = rng.permutation(40)[:25]
            if (name, topic) == ("c", "t4"):
                found = found[~np.isin(found, relevant[topic])]
            rows += [(topic, names[d], -float(i)) for i, d in enumerate(found)]
        listed, ranked, scores = zip(*rows, strict=True)
        runs.append(build_run(name, listed, ranked, np.array(scores)))
    return resample_documents(qrels, runs, ["AP", "nDCG"], replicates=300, rng=1)


def test_effects_of_topics_are_those_of_the_paper():
    ap, sds = np.array([[0.5, 0.2], [0.9, 0.0]]), np.array([[0.4, 0.3], [0.2, 0.1]])
    logits = np.log([[1.0, 0.25], [9.0, 1e-6 / (1 - 1e-6)]])
    found = topic_effects(ap, sds, effect="score")
    assert found.effects.tolist() == ap.tolist()
    assert found.sigmas == pytest.approx(np.array([[0.1, 0.048], [0.018, 0.0]]))
    found = topic_effects(ap, sds, effect="logit")
    assert found.effects == pytest.approx(logits)
    assert found.sigmas.tolist() == sds.tolist()
    found = topic_effects(ap, sds, effect="difference", baseline=1)
    assert found.effects[:, 0].tolist() == pytest.approx([0.3, 0.9])
    assert found.sigmas[0, 0] == pytest.approx(math.hypot(0.1, 0.048))
    found = topic_effects(ap, sds, effect="logit-difference", baseline=1)
    assert found.effects[:, 0] == pytest.approx(logits[:, 0] - logits[:, 1])
    assert found.sigmas[0, 0] == pytest.approx(0.5)
    found = topic_effects(ap, sds, effect="adjusted", baseline=1)
    assert found.effects[:, 0] == pytest.approx(logits[:, 0] - logits[:, 1])
    assert found.sigmas.tolist() == sds.tolist()
    found = topic_effects(ap, sds, effect="adjusted")
    assert found.effects == pytest.approx(logits - logits.mean(axis=1, keepdims=True))


def test_effects_of_topics_need_scores_and_a_baseline():
    with pytest.raises(InvalidValueError, match="outside"):
        topic_effects([[1.2]], [[0.1]])
    with pytest.raises(InvalidValueError, match="needs a baseline"):
        topic_effects([[0.2]], [[0.1]], effect="difference")
    with pytest.raises(InvalidValueError, match="column from 0 to 0"):
        topic_effects([[0.2]], [[0.1]], effect="difference", baseline=1)
    with pytest.raises(InvalidValueError, match="shape"):
        topic_effects([0.2], [0.1])
    with pytest.raises(UnknownNameError):
        topic_effects([[0.2]], [[0.1]], effect="odds")


def test_limits_give_back_the_standard_errors_they_came_from():
    t = stats.t.ppf(0.95, 9)
    low, high = [-1.959964 * 0.2, -t * 0.3, np.nan], [1.959964 * 0.2, t * 0.3, 1.0]
    found = sigmas_from_limits(low, high, [0.95, 0.9, 0.95], [np.inf, 9, np.inf])
    assert found.tolist() == pytest.approx([0.2, 0.3, np.nan], nan_ok=True)


def test_a_baseline_is_for_effects_that_compare():
    for effect in ("score", "logit"):
        with pytest.raises(InvalidValueError, match="takes no baseline"):
            topic_effects([[0.2, 0.3]], [[0.1, 0.1]], effect=effect, baseline=0)
    with pytest.raises(InvalidValueError, match="no run to compare with the baseline"):
        topic_effects([[0.2]], [[0.1]], effect="difference", baseline=0)
    with pytest.raises(InvalidValueError, match="0 on every topic"):
        topic_effects([[0.2]], [[0.1]], effect="adjusted")


def test_logits_of_a_collection_have_the_corrected_spreads(sample):
    topics = summarise_topics(sample)
    found = collection_effects(sample)
    assert found.studies == sample.topics
    assert found.groups == tuple(
        Group(f"logit {measure}", run) for measure in ("AP", "nDCG") for run in "abc"
    )
    expected = np.concatenate(list(clipped_logit(topics.score).transpose(2, 0, 1)), axis=1)
    assert found.effects.tolist() == expected.tolist()
    assert found.sigmas[:, 1].tolist() == topics.logit_sd[:, 1, 0].tolist()
    assert topics.corrected[4, 2, 0]
    assert found.sigmas[4, 2] == topics.logit_sd[4, 2, 0] > 0


def test_scores_of_a_collection_spread_as_their_replicates(sample):
    found = collection_effects(sample, effect="score")
    assert found.groups[0] == Group("AP", "a")
    assert found.effects[:, 0].tolist() == sample.scores.values[:, 0, 0].tolist()
    assert found.sigmas[0, 0] == pytest.approx(sample.values[0, 0, 0].std(ddof=1))
    topics = summarise_topics(sample)
    width = topics.high[4, 2, 0] - topics.low[4, 2, 0]
    assert found.sigmas[4, 2] == pytest.approx(width / (2 * 1.959964), rel=1e-6)


@pytest.mark.parametrize(("effect", "scale"), [("difference", None), (None, clipped_logit)])
def test_paired_differences_spread_as_their_replicates(sample, effect, scale):
    forward = scale or (lambda score: score)
    found = collection_effects(sample, effect=effect, baseline="a")
    name = "AP" if scale is None else "logit AP"
    assert found.groups[:2] == (Group(name, "b", "a"), Group(name, "c", "a"))
    scores, values = forward(sample.scores.values[:, :, 0]), forward(sample.values[0])
    assert found.effects[:, 0].tolist() == (scores[:, 1] - scores[:, 0]).tolist()
    expected = (values[1] - values[0]).std(axis=1, ddof=1)
    corrected = summarise_topics(sample).corrected[..., 0].T
    kept = ~corrected[0] & ~corrected[1]
    assert kept.sum() >= 2
    assert found.sigmas[kept, 0] == pytest.approx(expected[kept])


@pytest.mark.parametrize("effect", ["difference", "logit-difference"])
def test_a_difference_that_no_replicate_varies_adds_the_variances(sample, effect):
    """Two runs alike have a difference of 0 on every collection, but are not known to be equal."""
    twins = [0, 0, 1]
    values, scores = sample.values[:, twins], sample.scores
    alike = dataclasses.replace(
        sample,
        scores=Scores(scores.topics, ("a", "twin", "b"), scores.measures, scores.values[:, twins]),
        values=values,
        relevant_retrieved=sample.relevant_retrieved[:, twins],
        depth=sample.depth[twins],
    )
    paired = collection_effects(alike, effect=effect, baseline="a")
    independent = collection_effects(alike, effect=effect, baseline="a", pairing="independent")
    assert [group.run for group in paired.groups] == ["twin", "b"] * 2
    assert (paired.sigmas[:, 0] == independent.sigmas[:, 0]).all()
    assert (paired.sigmas[:, 0] > 0).all()
    assert (paired.sigmas[:, 1] != independent.sigmas[:, 1]).any()


def test_differences_of_corrected_scores_add_the_variances(sample):
    paired = collection_effects(sample, baseline="a")
    independent = collection_effects(sample, baseline="a", pairing="independent")
    sds = summarise_topics(sample).logit_sd[..., 0].T
    assert independent.sigmas[:, 1] == pytest.approx(np.hypot(sds[2], sds[0]))
    corrected = summarise_topics(sample).corrected[..., 0].T
    added = corrected[0] | corrected[2]
    assert added[4]
    assert not added.all()
    assert (paired.sigmas[:, 1] == independent.sigmas[:, 1]).tolist() == added.tolist()
    assert paired.effects.tolist() == independent.effects.tolist()
    without = collection_effects(sample, baseline="a", small_r=False)
    assert without.sigmas[4, 1] < paired.sigmas[4, 1]


def test_difficulty_is_a_constant(sample):
    logits = clipped_logit(sample.scores.values[:, :, 0])
    sds = summarise_topics(sample).logit_sd[..., 0].T
    alone = collection_effects(sample, effect="adjusted")
    assert alone.groups[2] == Group("logit AP", "c", "mean of runs")
    assert alone.effects[:, :3] == pytest.approx(logits - logits.mean(axis=1, keepdims=True))
    assert alone.sigmas[:, :3].tolist() == sds.T.tolist()
    against = collection_effects(sample, effect="adjusted", baseline="b")
    assert against.effects[:, 0] == pytest.approx(logits[:, 0] - logits[:, 1])
    assert against.sigmas[:, 0].tolist() == sds[0].tolist()


@pytest.mark.parametrize("effect", EFFECTS)
def test_effects_of_a_collection_are_what_is_pooled(sample, effect):
    baseline = "b" if "difference" in effect else None
    found = collection_effects(sample, effect=effect, baseline=baseline)
    if baseline is None:
        # By nDCG nothing corrects the topic on which nothing was found.
        with pytest.warns(InputWarning, match=r"left out, .*: t4 \((logit )?nDCG, c"):
            pooled = pool_effects(**found._asdict())
        assert pooled.count.tolist() == [5, 5, 5, 5, 5, 4]
    else:
        pooled = pool_effects(**found._asdict())
        assert pooled.count.tolist() == [5, 5, 5, 5]
    assert pooled.groups == found.groups
    assert pooled.studies == sample.topics


def test_effects_that_a_collection_lacks_are_refused(sample):
    with pytest.raises(UnknownNameError, match="unknown run"):
        collection_effects(sample, baseline="d")
    with pytest.raises(UnknownNameError, match="unknown pairing"):
        collection_effects(sample, baseline="a", pairing="both")
    with pytest.raises(UnknownNameError, match="unknown effect"):
        collection_effects(sample, effect="odds")
    with pytest.raises(InvalidValueError, match="needs a baseline"):
        collection_effects(sample, effect="difference")


def test_effects_of_a_table_are_taken_as_they_are(tmp_path):
    path = tmp_path / "effects.csv"
    path.write_text("study,effect,se,low,high,level\na,1,0.5,,,\nb,2,,1.02,2.98,0.95\n")
    table = read_effects([str(path)])
    assert table.unit == "study"
    assert table.sigmas[:, 0].tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    found = table_effects(table)
    assert found.studies == ("a", "b")
    assert found.effects.tolist() == [[1.0], [2.0]]
    assert found.sigmas[:, 0].tolist() == pytest.approx([0.5, 0.5], rel=1e-4)
