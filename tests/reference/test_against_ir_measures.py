"""ERR, exponential nDCG and Judged against ir_measures' providers; and the measures taken from it."""

import shutil
import sys
import warnings
from itertools import product

import ir_measures
import numpy as np
import pytest

import confir
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.errors import ConfirError, MissingTopicWarning, TopicWarning
from confir.measures.foreign_measures import FOREIGN_MEASURES
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from reference.plain_foreign_measures import PLAIN
from requirements import missing_requirement

DATA = {
    "trec-covid-r5": ("qrels.txt", "covidex.r5.1s.xz"),
    "trec-web-2012-diversity": ("qrels.adhoc.txt.gz", "ql-catb.gz"),
}


def load(real_data, name):
    """Return the rankings of a run, and qrels and run as ir_measures takes them."""
    qrels_name, run_name = DATA[name]
    qrels = read_qrels(real_data / name / qrels_name)
    run = read_run(real_data / name / "runs" / run_name)
    # The negated rank as the score: the providers break ties each in its own way.
    ranked = {
        topic: {document: -float(rank) for rank, (document, _) in enumerate(run[topic])}
        for topic in run
    }
    return JudgedPositions(qrels).rank(run), qrels.to_dict(), ranked


def provided(provider, measures, qrels, ranked):
    """Return (measure, topic) → score of a provider of ir_measures."""
    parsed = {ir_measures.parse_measure(text): text for text in measures}
    found = provider.evaluator(list(parsed), qrels).iter_calc(ranked)
    return {(parsed[metric.measure], metric.query_id): metric.value for metric in found}


@pytest.fixture
def perl():
    """Perl, which gdeval is written in."""
    if shutil.which("perl") is None:
        missing_requirement("no perl")


@pytest.mark.usefixtures("perl")
@pytest.mark.parametrize("name", DATA)
def test_graded_measures_against_gdeval(real_data, name):
    rankings, qrels, ranked = load(real_data, name)
    measures = ["ERR@1", "ERR@20", "ERR@1000", "nDCG(dcg='exp-log2')@20"]
    expected = provided(ir_measures.gdeval, measures, qrels, ranked)
    for measure in measures:
        scores = parse_measure(measure)(rankings)[0, :, 0]
        assert scores.any()
        for topic, score in zip(qrels, scores, strict=True):
            # It prints five decimals, and topics without relevant documents not at all.
            assert score == pytest.approx(expected.get((measure, topic), 0.0), abs=5.0001e-6)


@pytest.mark.parametrize("name", DATA)
def test_judged_share_against_ir_measures(real_data, name):
    rankings, qrels, ranked = load(real_data, name)
    measures = ["Judged@1", "Judged@10", "Judged@500", "Judged"]
    expected = provided(ir_measures.judged, measures, qrels, ranked)
    for measure in measures:
        scores = parse_measure(measure)(rankings)[0, :, 0]
        np.testing.assert_array_equal(scores, [expected[measure, topic] for topic in qrels])


@pytest.mark.parametrize("gains", ["{0: 0, 1: 4}", "{1:1,2:8}"])
def test_gains_in_the_spelling_of_ir_measures(gains):
    qrels = {"1": {"a": 1, "b": 0, "c": 2, "d": 1}}
    run = {"1": {"b": 3.0, "a": 2.0, "z": 1.5, "c": 1.0}}
    measure = ir_measures.parse_measure(f"nDCG(gains={gains})@10")
    (theirs,) = ir_measures.iter_calc([measure], qrels, run)
    for spelt in (measure, f"nDCG(gains={gains})@10", str(measure)):
        assert confir.evaluate(qrels, run, spelt).values.item() == pytest.approx(theirs.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("P(depth=1)@3", "unknown parameter of P 'depth'; known: rel"),
        ("infAP(depth=1)", "unknown parameter of infAP 'depth'; known: rel"),
        ("-" * 100_000, "unknown measure '---"),
        ("SDCG@10", "measure 'SDCG@10' is computed by cwl_eval"),
        ("alpha_DCG@1", "measure 'alpha_DCG@1': the cutoff is 1; expected 2 or more"),
        ("SetF(beta=2.0)", "measure 'SetF\\(beta=2.0\\)': beta is not taken"),
    ],
)
def test_what_ir_measures_cannot_compute_is_said_in_a_sentence(name, message):
    with pytest.raises(ConfirError, match=f"^{message}.*$"):
        confir.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, name)


def test_a_measure_that_is_not_defined_on_a_topic_is_missing_there_against_ir_measures():
    """Accuracy compares relevant documents with others: topic 2 retrieves none of grade 2."""
    qrels = {
        "1": {"a": 2, "b": 0, "c": 2, "d": 0},
        "2": {"a": 1, "b": 0},
        "3": {"a": 2, "b": 0},
    }
    runs = {"x": {"1": {"a": 4, "b": 3, "c": 2, "d": 1}, "2": {"a": 2, "b": 1}}}
    with (
        pytest.warns(TopicWarning, match=r"Accuracy\(rel=2\) of run 'x' is not defined on 1 topic"),
        pytest.warns(MissingTopicWarning),
    ):
        scores = confir.evaluate(qrels, runs, "Accuracy(rel=2)")
    found = ir_measures.iter_calc([ir_measures.parse_measure("Accuracy(rel=2)")], qrels, runs["x"])
    expected = {metric.query_id: metric.value for metric in found}
    assert expected == {"1": pytest.approx(0.75)}
    # topic 3, which the run lacks, scores 0
    np.testing.assert_allclose(scores.values[:, 0, 0], [0.75, np.nan, 0.0])
    assert scores.mean()[0, 0] == pytest.approx(0.375)


# What a parameter can be in a name: right, wrong, and of another type.
ODD_VALUES = (
    "0",
    "-1",
    "1.5",
    "0.123",
    "2",
    "1e9",
    "99999999999",
    "nan",
    "True",
    "None",
    "'x'",
    "{1:2}",
)


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize("name", sorted(ir_measures.measures.registry))
def test_every_measure_of_its_registry_is_computed_or_refused_in_a_sentence(name):
    """With every parameter, right or odd; trec_eval aborts the process for some of them."""
    measure = ir_measures.measures.registry[name]
    given = {"1": {"a": 2, "b": 0, "c": 1}}, {"1": {"b": 3.0, "a": 2.0, "z": 1.5, "c": 1.0}}
    forms = {f"{name}@{value}" for value in ODD_VALUES} | {name, f"{name}@5", f"{name}@0.1"}
    for key in measure.SUPPORTED_PARAMS:
        for value in ODD_VALUES:
            forms |= {f"{name}({key}={value})", f"{name}({key}={value})@5"}
    computed, refused = {}, []
    for form in sorted(forms):
        try:
            scores = confir.evaluate(*given, form)
        except ConfirError as error:
            refused.append(str(error))
            continue
        # one value under one name, in whatever way it is spelt
        (measured,) = scores.measures
        for value in (scores.values, confir.evaluate(*given, measured).values):
            np.testing.assert_array_equal(computed.setdefault(measured, value), value, form)
    assert bool(computed) == (name not in REFUSED), name
    assert not [text for text in refused if "bug" in text or "\n" in text]


REFUSED = {"BPM", "SDCG", "INST", "INSQ", "NERR8", "NERR9", "NERR10", "NERR11", "NumQ"}

VALUES = {
    "rel": (1, 2, 3),
    "relative": (False, True),
    "normalize": (True, False),
    "p": (0.95, 0.5),
    "beta": (0.5, 0.8),
    "alpha": (0.5, 0.0, 0.9, 1.0),
    "cutoff": (2, 3, 20),
    "recall": (0.0, 0.1, 0.25, 0.5, 1.0),
}


def random_lists(seed):
    """Return judgements by topic, subtopic and document, and lists with ties in single precision."""
    rng = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(12)]
    judged, ranked = {}, {}
    for topic in "1234":
        judged[topic] = {
            subtopic: {
                document: int(rng.choice([-2, -1, 0, 0, 1, 1, 2, 3]))
                for document in rng.choice(documents, rng.integers(1, 7), replace=False).tolist()
            }
            for subtopic in "abc"[: rng.integers(1, 4)]
        }
        chosen = rng.choice(documents, rng.integers(1, 12), replace=False).tolist()
        ranked[topic] = {one: float(rng.choice([1, 2, 2 + 1e-9, 3])) for one in chosen}
    return judged, ranked


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize(
    ("precision", "depth"), [("double", None), ("single", None), ("double", 4), ("single", 4)]
)
@pytest.mark.parametrize("definition", FOREIGN_MEASURES, ids=lambda one: one.name)
def test_every_option_of_measures_that_it_computes(tmp_path, definition, precision, depth):
    """Against plain implementations: rel, cutoffs and the others, precision of ties, and depth."""
    named = [*definition.parameters, *([definition.at] if definition.at else [])]
    options = [dict(zip(named, own, strict=True)) for own in product(*map(VALUES.get, named))]
    path = tmp_path / "qrels.txt"
    for seed in range(4):
        judged, ranked = random_lists(seed)
        lines = (
            f"{topic} {subtopic} {document} {gain}\n"
            for topic, subtopics in judged.items()
            for subtopic, gains in subtopics.items()
            for document, gain in gains.items()
        )
        path.write_text("".join(lines))
        qrels = read_qrels(path)
        highest = qrels.to_dict()
        kind = np.float32 if precision == "single" else float
        for chosen in options:
            text = ",".join(f"{key}={value}" for key, value in chosen.items())
            scores = confir.evaluate(
                qrels,
                {"x": ranked},
                f"{definition.name}({text})",
                tie_precision=precision,
                depth=depth,
            )
            for topic, score in zip(scores.topics, scores.values[:, 0, 0], strict=True):
                held = ranked[topic]
                order = sorted(held, key=lambda one: (kind(held[one]), one), reverse=True)[:depth]
                gains = judged[topic] if definition.by_subtopic else highest[topic]
                expected = PLAIN[definition.name](order, gains, **chosen)
                expected = np.nan if expected is None else expected
                assert score == pytest.approx(expected, abs=1e-9, nan_ok=True), (text, topic)


@pytest.mark.parametrize("name", ["infAP", "SetP", "IPrec@0.5", "P_IA@2", "NRBP"])
def test_rel_is_that_of_measures_that_it_computes_as_well(name):
    qrels = {"1": {"a": 1, "b": 2, "c": 2}}
    run = {"1": {"a": 3.0, "b": 2.0, "z": 1.0}}
    spelt = name.replace("@", "(rel=2)@") if "@" in name else f"{name}(rel=2)"
    by_option, by_name = (
        confir.evaluate(qrels, run, measure, rel=rel) for measure, rel in ((name, 2), (spelt, 1))
    )
    assert by_option.measures == by_name.measures == (spelt,)
    np.testing.assert_array_equal(by_option.values, by_name.values)
    assert by_name.values.item() != confir.evaluate(qrels, run, name).values.item()


def test_what_confir_has_is_never_taken_from_it(monkeypatch):
    """Nor does any value depend on whether it is installed."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    given = {"1": {"a": 1, "b": 0}}, {"1": {"b": 2.0, "a": 1.0}}
    names = ["P(cutoff=1)", "AP(cutoff=5,rel=1)", "NumRet(rel=1)", "P@1", "nDCG(gains={1:3})@5"]
    scores = confir.evaluate(*given, names)
    assert scores.measures == ("P@1", "AP@5", "NumRelRet", "nDCG(gains='1:3')@5")
    for name, message in [
        ("P(cutoff=0)", "the cutoff is 0; expected 1 to"),
        ("P(cutoff=1)@2", "the cutoff is given twice"),
        ("AP(judged_only=True)", "judged_only is not taken"),
        ("nDCG(gains={0:1})", "levels below 1 are not relevant"),
        ("nDCG(gains={'a':1})", "is not a gain map"),
        ("infAP", "infAP is computed by ir_measures, which is not installed"),
        ("BPM@10", "measure 'BPM@10' is computed by cwl_eval"),
    ]:
        with pytest.raises(ConfirError, match=message):
            confir.evaluate(*given, name)


OWN = {
    "AP": ("@3",),
    "P": ("@1", "@3"),
    "R": ("@1", "@3"),
    "Success": ("@1", "@3"),
    "nDCG": ("", "@3"),
    "RR": ("",),
    "Rprec": ("",),
    "Bpref": ("",),
    "NumRet": ("",),
    "alpha_nDCG": ("@5", "@10"),
    "nERR_IA": ("@5", "@10"),
    "StRecall": ("@5", "@10"),
}


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize("name", OWN)
def test_a_measure_of_confir_has_the_value_of_the_name_in_ir_measures(name):
    """For every rel that both take, on lists without ties."""
    takes_rel = name not in ("nDCG", "NumRet", "R", "StRecall")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        documents = [f"d{number}" for number in range(9)]
        gains = {"1": {one: int(rng.integers(0, 4)) for one in documents[:6]}}
        run = {"1": {one: float(rank) for rank, one in enumerate(rng.permutation(documents))}}
        for rel in (1, 2) if takes_rel else (1,):
            for ending in OWN[name]:
                spelt = f"{name}(rel={rel}){ending}"
                measure = ir_measures.parse_measure(spelt if takes_rel else name + ending)
                (theirs,) = ir_measures.iter_calc([measure], gains, run)
                ours = confir.evaluate(gains, run, measure)
                assert ours.values.item() == pytest.approx(theirs.value, abs=1e-9), spelt


@pytest.mark.parametrize(
    ("measures", "rel", "warns"),
    [
        ("nDCG", 3, True),
        (["nDCG@10", "AP(rel=2)"], 3, True),
        (["nDCG", "AP"], 3, False),
        ("nDCG", 1, False),
        ("infAP", 2, False),
        ("Compat", 2, True),
    ],
)
def test_rel_without_effect_is_said(measures, rel, warns):
    given = {"1": {"a": 3, "b": 3}}, {"1": {"b": 2.0, "a": 1.0}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        confir.evaluate(*given, measures, rel=rel)
    said = [str(one.message) for one in caught]
    assert any("rel=" in text and "has no effect on" in text for text in said) is warns


@pytest.mark.parametrize(
    ("measure", "warns"), [("alpha_nDCG@10", True), ("AP", True), ("D_nDCG@10", False)]
)
def test_intents_without_effect_are_said(tmp_path, measure, warns):
    run = {"1": {"a": 1.0, "b": 2.0}}
    intents = {"1": {"i": 0.3, "j": 0.7}}
    path = tmp_path / "qrels.txt"
    path.write_text("1 i a 1\n1 j b 1\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        confir.evaluate(path, run, measure, intents=intents)
    assert any("intents have no effect" in str(one.message) for one in caught) is warns
