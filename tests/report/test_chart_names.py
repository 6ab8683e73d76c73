"""Names are labels of a chart, and nothing else: whatever they are, the same marks are drawn."""

import html
import re
from collections import Counter

import numpy as np
import pytest

import confir
from confir.data.formats.objects import as_qrels
from confir.report.charts import chart, chart_bytes
from confir.resampling.documents import resample_documents
from confir.studies.bias_variance.chart import total_chart
from confir.studies.chance.chart import topic_chart as chance_topic_chart
from confir.studies.collection.differences import compare_on_collection
from confir.studies.collection.means import summarise_means
from confir.studies.collection.topics import summarise_topics
from confir.studies.collection.variance import decompose_variance
from confir.studies.comparison.chart import difference_chart
from confir.studies.coverage.chart import bias_chart, population_chart, skewness_chart
from confir.studies.meta_analysis.chart import forest_chart, summary_chart
from confir.studies.meta_analysis.meta_analysis import PooledModels
from confir.studies.split_half.chart import half_means_chart, normalised_chart
from judge_files import noisy_judge

HOSTILE = (
    "constructor",
    "toString",
    "valueOf",
    "__proto__",
    "hasOwnProperty",
    "<script>",
    "q\"uo'te",
    "[a].b",
    "back\\slash",
    "datum.value",
)
HOSTILE = tuple(sorted(HOSTILE))  # topics are held in this order, and the same ones must be drawn
PLAIN = tuple(f"name{n}" for n in range(len(HOSTILE)))
DOCUMENTS = 30

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")


def drawings(names):
    """Charts of all kinds, of runs and topics with these names, and the names that each writes."""
    rng = np.random.default_rng(1)
    qrels = {
        t: {f"d{d}": int(rng.random() < 0.4 or d < 4) for d in range(DOCUMENTS)} for t in names
    }
    runs = {
        r: {t: {f"d{d}": float(rng.random() + (10 - n) * qrels[t][f"d{d}"] / 20) for d in range(DOCUMENTS)} for t in names}
        for n, r in enumerate(names)
    }  # fmt: skip
    scores = confir.evaluate(qrels, runs, ["AP", "P@5"])
    few = scores.select(run=names[:6])
    renamed = confir.Scores(scores.topics, scores.runs, names[:2], scores.values)
    comparison = confir.compare_runs(renamed, rng=1)
    against = confir.compare_runs(renamed, baseline=names[0], rng=1)
    documents = resample_documents(qrels, runs, ["AP"], replicates=40, rng=1)
    errors = confir.estimate_type_one_error(scores, methods=["t"], topics=5, samples=20, rng=1)
    bias = confir.decompose_error(scores, replicates=399, rng=1)
    chance = confir.compare_with_chance(as_qrels(qrels), scores, documents=60, draws=0)
    halves = confir.validate_split_half(qrels, runs, replicates=20, rng=1)
    return {
        "scores": (chart(renamed), names),
        "intervals": (chart(confir.confidence_interval(renamed, method="t")), names),
        "ranks": (chart(confir.rank_runs(renamed, replicates=50, rng=1)), names),
        "best": (chart(confir.find_best(renamed, replicates=50, rng=1)), names),
        "matrix": (chart(comparison), names),
        "differences": (difference_chart(against), names[1:]),
        "groups": (chart(comparison.group_runs()), names),
        "topic differences": (chart(comparison.topic_differences()), names),
        "plan": (chart(confir.plan_topics(few, half_width=0.05)), names[:6]),
        "coverage of few": (chart(_coverage(few)), names[:6]),
        "coverage of many": (chart(_coverage(scores)), ()),
        "type one error": (chart(errors), ()),
        "bias of means": (bias_chart(errors), ()),
        "skewness": (skewness_chart(errors), ()),
        "populations": (population_chart(errors, scores), ()),
        "bias and variance": (chart(bias), ()),
        "total error": (total_chart(bias), ()),
        "chance": (chart(chance), names),
        "chance by topic": (chance_topic_chart(chance), names),
        "quality": (chart(confir.inspect_data(qrels, runs)), names),
        "collection": (chart(summarise_means(documents)), names),
        "collection by topic": (chart(summarise_topics(documents)), names),
        "collection differences": (chart(compare_on_collection(documents, names[0])), names[1:]),
        "variance": (chart(decompose_variance(documents)), names),
        "split half": (chart(halves), ()),
        "normalised": (normalised_chart(halves.splits[0]), ()),
        "half means": (half_means_chart(halves.splits[0]), names),
        **_forests(names),
        **_judges(names, qrels, runs),
    }


def _judges(names, qrels, runs):
    """Charts of judges with these names, and of runs that fit beside their points."""
    judges = {names[0]: qrels, names[1]: noisy_judge(qrels, noise=0.5, highest=1)}
    found = confir.compare_judgements(judges, runs, ["AP"], replicates=40, rng=1)
    pair = {f"{names[1]}, reference {names[0]}"}
    return {
        "judges": (chart(found), [f"AP by {name}" for name in names[:2]]),
        "gains": (chart(found.runs), {*names, *pair}),
        "confusion": (chart(found.agreement.confusion), [", ".join(names[:2])]),
    }


def _coverage(scores):
    return confir.estimate_coverage(scores, methods=["t"], samples=20, rng=1)


def _forests(names):
    pooled = confir.pool_effects(
        np.linspace(0.1, 0.4, len(names)), np.full(len(names), 0.1), studies=names
    )
    models = PooledModels((pooled,))
    return {"forest": (forest_chart(models), names), "pooled": (summary_chart(models), ())}


@pytest.fixture(scope="module")
def svgs():
    made = {names: drawings(names) for names in (PLAIN, HOSTILE)}
    return {
        key: [
            (chart_bytes(made[names][key][0], ".svg").decode(), made[names][key][1])
            for names in (PLAIN, HOSTILE)
        ]
        for key in made[PLAIN]
    }


def texts(svg):
    return {html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}


def marks(svg):
    """How many of each kind of mark are drawn."""
    return Counter(re.findall(r'aria-roledescription="([^"]+)"', svg))


def test_every_name_is_written_as_text(svgs):
    for key, pair in svgs.items():
        for svg, names in pair:
            assert set(names) <= texts(svg), key


def test_as_many_marks_are_drawn_whatever_the_names(svgs):
    for key, ((plain, _), (hostile, _)) in svgs.items():
        assert marks(plain) == marks(hostile), key
        assert plain.count("<path") == hostile.count("<path") > 0, key
