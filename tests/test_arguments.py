"""Every public verb, called with every kind of wrong value, answers or raises a ConfirError.

The verbs come from ``confir.__all__``: a new one needs a recipe of a valid call below.
"""

import datetime as dt
import inspect
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import confir
from confir.errors import ConfirError
from confir.report import report_page
from foreign_files import assigned
from requirements import required

VERBS = {
    name: verb
    for name, verb in ((name, getattr(confir, name)) for name in confir.__all__)
    if inspect.isfunction(verb)
}

TOPICS = ("1", "2", "3", "4", "5")
QRELS = {topic: {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1} for topic in TOPICS}
RUNS = {
    "x": {t: {"a": 3.0, "b": 2.0, "c": 1.0 + i, "e": 0.5} for i, t in enumerate(TOPICS)},
    "y": {t: {"b": 3.0, "a": 2.0 + i, "e": 1.5, "c": 1.0} for i, t in enumerate(TOPICS)},
}
MODEL = {topic: {"a": 1, "b": 1, "c": 2, "d": 0, "e": 0} for topic in TOPICS}
FEW = {"replicates": 19, "rng": 1}
VOTES = {"left": "xyxyxy", "right": "yxyxyx", "winner": "xyyxxx", "judge": "aabbcc"}
LOOK = {
    "look": 1,
    "date": "2026-01-01",
    "commit": None,
    "measure": "AP",
    "baseline": "x",
    "run": "y",
    "decision": "passes",
    "require": "not-worse",
    "margin": 0.0,
    "topics": 5,
    "looks": "candidates",
    "difference": 0.1,
    "low": 0.0,
    "high": 0.2,
    "level": 0.95,
    "look_low": -0.1,
    "look_high": 0.3,
    "look_level": 0.97,
}

# What else a message may call a parameter, where another word is plainer.
ALIASES = {
    "source": ("run", "qrels", "scores", "votes"),
    "name": ("measure",),
    "tau2": ("τ²",),
    "studies": ("study",),
    "summaries": ("summary",),
    "missing": ("topics",),
    "splits": ("halves",),
    "depth": ("halves",),
    "scores": ("topic", "run", "measure"),  # what they hold
    "runs": ("docid",),
    "exclude": ("run", "qrels", "document"),  # which it leaves out
    "original": ("run", "entry"),
    "baseline_runs": ("run", "no such file"),
    "teams": ("no such file",),
    "contributors": ("no such file",),
    "precision": ("r-loss",),
    "groups": ("columns",),
    "grade_maps": ("judge",),  # whose grades they map
    "human": ("people",),
    "sources": ("measure",),  # by which they have scores
    "figure_width": ("width",),
    "human_cost": ("cost",),
    "model_cost": ("cost",),
}


def scores():
    return confir.evaluate(QRELS, RUNS, ["AP", "nDCG@3"])


def recipes(folder: Path):
    """Return keyword arguments of a valid call of each verb, on small data."""
    table, sample = scores(), confir.resample_documents(QRELS, RUNS, "AP", jackknife=True, **FEW)
    confir.write_scores(table, folder / "scores.csv")
    for name, run in RUNS.items():
        confir.write_run(run, folder / f"{name}.txt")
    confir.write_qrels(QRELS, folder / "qrels.txt")
    (folder / "means.csv").write_text("run,mean,se,topics\na,0.1,0.05,50\nb,0.2,0.05,50\n")
    (folder / "effects.csv").write_text("study,effect,se\na,0.1,0.05\nb,0.2,0.05\n")
    comparison = confir.compare_runs(table, baseline="x", **FEW)
    lists = {"qrels": QRELS, "runs": RUNS}
    judges = {"people": QRELS, "model": MODEL}
    people = {topic: QRELS[topic] for topic in TOPICS[:3]}
    study = {"scores": table, "methods": ["t"], "samples": 3, **FEW}
    by_people = confir.evaluate(MODEL, RUNS, ["AP"], human=people, human_sample="random-topics")
    drawn = {t: {d: (g, 0.5) for d, g in list(grades.items())[::2]} for t, grades in QRELS.items()}
    by_drawn = confir.evaluate(MODEL, RUNS, ["P@3"], human=drawn, human_sample="random-documents")
    (folder / "history.jsonl").write_text(json.dumps(LOOK) + "\n")
    nuggets = [("a", "vital", "support"), ("b", "vital", "not_support")]
    answers = "".join(assigned("x", topic, *nuggets) for topic in TOPICS)
    (folder / "answers.jsonl").write_text(answers)
    repeated = confir.Scores(table.topics, ("a@1", "a@2"), table.measures, table.values[:, [0, 0]])
    return {
        "as_qrels": {"source": QRELS},
        "as_run": {"source": RUNS["x"]},
        "as_scores": {"source": folder / "scores.csv"},
        "bootstrap_documents": {**lists, "measures": "AP", **FEW},
        "bootstrap_topics": {"scores": table, **FEW},
        "bound_differences": {**lists, "measures": "AP", "baseline": "x"},
        "bound_ties": {**lists, "measures": "AP"},
        "bound_unjudged": {**lists, "measures": "AP"},
        "chart": {"result": comparison},
        "collection_effects": {"sample": sample},
        "compare_judgements": {"judges": judges, "runs": RUNS, "measures": "AP", **FEW},
        "compare_measures": {"scores": table, "splits": 3, **FEW},
        "compare_on_collection": {"sample": sample, "baseline": "x"},
        "compare_reproduction": {
            "original": RUNS["x"],
            "runs": {"y": RUNS["y"]},
            "qrels": QRELS,
            "measures": "AP",
        },
        "compare_costs": {"scores": table, "costs": dict.fromkeys(table.runs, 1.0), **FEW},
        "compare_groups": {
            "scores": table,
            "by": {topic: str(place % 2) for place, topic in enumerate(table.topics)},
            **FEW,
        },
        "compare_runs": {"scores": table, **FEW},
        "compare_with_chance": {"qrels": QRELS, "scores": table, "documents": 10, "draws": 9},
        "confidence_interval": {"scores": table, **FEW},
        "correct_judgements": {
            **lists,
            "measures": "AP",
            "human": people,
            "human_sample": "random-topics",
            **FEW,
        },
        "decompose_error": {"scores": table, **FEW},
        "decompose_scores": {"scores": table, "rng": 1},
        "decompose_variance": {"sample": sample},
        "describe_chance": {"documents": 10, "relevant": 3},
        "describe_topics": {"scores": table},
        "estimate_coverage": study,
        "estimate_nugget_variance": {"paths": folder / "answers.jsonl"},
        "estimate_reusability": {**lists, "measures": "AP", "teams": {"x": "a", "y": "b"}},
        "estimate_type_one_error": {**study, "topics": 3, "levels": 0.9},
        "estimate_unjudged": {**lists, "measures": "AP", "treatment": "resample", **FEW},
        "evaluate": {**lists, "measures": "AP"},
        "expected_random_ap": {"documents": 10, "relevant": 3},
        "expected_random_score": {"measure": "AP", "documents": 10, "relevant": 3},
        "fit_population": {"scores": table},
        "fit_strengths": {"votes": VOTES, "cluster": "judge"},
        "inspect_data": lists,
        "judge_gate": {"comparison": comparison, "measure": "AP"},
        "judge_target": {"scores": table, "targets": {"AP": 0.4}},
        "make_leaderboard": {
            "sources": {"one": folder / "scores.csv", "two": folder / "scores.csv"},
            "measure": "AP",
            **FEW,
        },
        "measure_agreement": {"judges": judges, **FEW},
        "parse_measure": {"name": "AP"},
        "plan_human_documents": {"scores": by_drawn, "half_width": 0.3},
        "plan_human_topics": {"scores": by_people, "half_width": 0.3},
        "plan_topics": {"scores": table, "baseline": "x"},
        "plan_votes": {"votes": VOTES},
        "pool_effects": {"effects": [0.1, 0.2, 0.4], "sigmas": [0.1, 0.1, 0.2]},
        "rate_preferences": {"votes": VOTES, **FEW},
        "rank_runs": {"scores": table, **FEW},
        "find_best": {"scores": table, **FEW},
        "read_effects": {"files": folder / "effects.csv"},
        "read_published_means": {"source": folder / "means.csv"},
        "read_history": {"path": folder / "history.jsonl"},
        "read_qrels": {"path": folder / "qrels.txt"},
        "read_run": {"path": folder / "x.txt"},
        "read_scores": {"paths": folder / "scores.csv"},
        "read_votes": {"source": VOTES},
        "resample_documents": {**lists, "measures": "AP", **FEW},
        "sample_collection": {},
        "save_chart": {"result": comparison, "path": folder / "chart.svg"},
        "simulate_scores": {"scores": table, "topics": 5},
        "summarise_means": {"sample": sample},
        "score_successes": {"scores": repeated, "measure": "AP"},
        "summarise_repeats": {"scores": repeated},
        "summarise_runs": {**lists, "measures": "AP"},
        "summarise_scores": {"scores": table},
        "summarise_topics": {"sample": sample},
        "use_scheduler": {"address": "local:2"},
        "validate_split_half": {**lists, "methods": "linear", **FEW},
        "write_qrels": {"qrels": QRELS, "path": folder / "q"},
        "write_report": {"path": folder / "report.html", "scores": table, "replicates": 19},
        "write_run": {"run": RUNS["x"], "path": folder / "r"},
        "write_scores": {"scores": table, "path": folder / "s.csv"},
    }


def wrong_values(folder: Path):
    empty = confir.Scores((), (), (), np.zeros((0, 0, 0)))
    bare = confir.Scores(("1",), (), ("AP",), np.zeros((1, 0, 1)))
    return [
        None,
        object(),
        3,
        1.5,
        -1,
        0,
        10**400,
        float("nan"),
        float("inf"),
        "",
        "nonsense",
        "\0",
        b"x",
        bytearray(b"x"),
        [],
        (),
        {},
        [None],
        ["nonsense", "nonsense"],
        ["AP", 3],
        ["x", "x"],
        [[1.0, 2.0], [3.0]],
        {"a": None},
        {"a": {"b": None}},
        {3: {4: {5: 6}}},
        {"a": [0.1], "b": [0.1, 0.2]},
        {"nonsense"},
        1j,
        [1j, 2j],
        dt.date(2026, 1, 1),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.ma.masked_array([0.1, 0.2, 0.3], [True, False, False]),
        np.zeros((2, 2, 2)),
        np.zeros((0, 3)),
        np.array(0.5),
        np.float32(0.3),
        lambda *given: 1.0,  # noqa: ARG005
        True,
        np.bool_(False),
        int,
        folder / "missing.txt",
        folder,
        empty,
        bare,
        iter([]),
        range(0),
    ]


def wordings(parameter: str) -> list[str]:
    """Return the words by which a message may name a parameter."""
    names = [parameter, parameter.replace("_", " "), *ALIASES.get(parameter, ())]
    return [name.removesuffix("s").casefold() for name in names]


def names_the_argument(message: str, parameter: str, value: object) -> bool:
    """Return whether a message names the parameter, or repeats the text or path that was given."""
    texts = value if isinstance(value, list | set) else [value]
    given = [str(text) for text in texts if isinstance(text, str | Path) and str(text)]
    given += [repr(text)[1:-1] for text in given]
    folded = message.casefold()
    return any(word in folded for word in (*wordings(parameter), *map(str.casefold, given)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("arguments")


@pytest.fixture(scope="module")
def valid(folder):
    return recipes(folder)


@pytest.fixture(autouse=True)
def nothing_drawn(monkeypatch):
    """What a report checks, it checks before the page is drawn."""
    monkeypatch.setattr(report_page, "gather_contents", lambda *_, **__: None)
    monkeypatch.setattr(report_page, "render_page", lambda *_, **__: "")
    monkeypatch.setattr(report_page, "write_figures", lambda *_, **__: [])


def call(verb, keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return verb(**keywords)


def test_every_verb_has_a_valid_call(valid):
    assert valid.keys() == VERBS.keys()
    for name, verb in VERBS.items():
        call(verb, valid[name])


@pytest.mark.parametrize("name", VERBS)
def test_wrong_values_give_an_answer_or_an_error_that_names_the_argument(
    name, valid, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    problems = []
    for parameter in inspect.signature(VERBS[name]).parameters:
        for value in wrong_values(folder):
            place = f"{parameter}={value!r:.60}"
            try:
                call(VERBS[name], {**valid[name], parameter: value})
            except ConfirError as error:
                if not names_the_argument(str(error), parameter, value):
                    problems.append(f"{place}: {error}")
            except Exception as error:  # noqa: BLE001
                problems.append(f"{place}: {type(error).__name__}: {error}")
    assert not problems, "\n".join(problems)


# Parameters that are whole numbers, in whichever verbs they occur.
WHOLE = ("cutoffs", "depth", "documents", "draws", "jobs", "pool_depth", "rel", "relevant")
WHOLE += ("replicates", "samples", "splits", "topics")


@pytest.mark.parametrize("value", [True, 1.5, "3", 2.0, np.bool_(True)], ids=repr)
@pytest.mark.parametrize("parameter", WHOLE)
def test_what_is_not_a_whole_number_is_refused(parameter, value, valid):
    takers = [name for name in VERBS if parameter in inspect.signature(VERBS[name]).parameters]
    assert takers
    for name in takers:
        if name.startswith("expected_random") and value == 2.0:
            continue  # arrays of counts may be of floats
        with pytest.raises(ConfirError, match=parameter.removesuffix("s")):
            call(VERBS[name], {**valid[name], parameter: value})


@pytest.mark.parametrize(
    "value",
    [True, -1, 1.5, "7", b"x", float("nan"), object(), np.random.RandomState(1)],
    ids=lambda value: type(value).__name__,
)
def test_no_verb_draws_from_what_is_no_seed(value, valid):
    takers = [name for name in VERBS if "rng" in inspect.signature(VERBS[name]).parameters]
    assert len(takers) > 10
    for name in takers:
        with pytest.raises(ConfirError, match="rng is "):
            call(VERBS[name], {**valid[name], "rng": value})


@pytest.mark.parametrize(
    "values",
    [
        np.ma.masked_array([0.1, 0.2, 0.3], [True, False, False]),
        np.array(["2026-01-01", "2026-01-02"], "datetime64[D]"),
        np.array([1, 2], "timedelta64[D]"),
        [dt.date(2026, 1, 1), dt.date(2026, 1, 2)],
        [0.1 + 0j, 0.2],
        np.array(["0.1", "0.2"]),
        [[0.1, 0.2], [0.3]],
    ],
    ids=repr,
)
def test_arrays_that_would_lose_their_meaning_as_numbers_are_refused(values):
    for make in (confir.confidence_interval, confir.bootstrap_topics):
        # a list of texts names files of scores, and there are none
        with pytest.raises(ConfirError, match=r"scores is |0\.1: no such file"):
            make(values)
    with pytest.raises(ConfirError, match="effects is "):
        confir.pool_effects(values, [0.1, 0.1])
    with pytest.raises(ConfirError, match="relevant is "):
        confir.expected_random_ap(10, values)
    with pytest.raises(ConfirError, match="values is "):
        confir.Scores(("1", "2"), ("x",), ("AP",), values)


def test_messages_cut_what_was_given_short():
    with pytest.raises(ConfirError) as error:
        confir.evaluate(QRELS, RUNS, depth="x" * 1000)
    assert len(str(error.value)) < 150
    assert "\n" not in str(error.value)


def takers_of_scores():
    # these runs are not repeats of one system, and have no human and model judgements
    takers = [name for name in VERBS if "scores" in inspect.signature(VERBS[name]).parameters]
    return [
        name
        for name in takers
        if name
        not in ("summarise_repeats", "score_successes", "plan_human_topics", "plan_human_documents")
    ]


@pytest.mark.parametrize("name", takers_of_scores())
def test_verbs_take_what_makes_scores(name, valid, folder):
    for source in (folder / "scores.csv", [str(folder / "scores.csv")], scores().to_dict()):
        call(VERBS[name], {**valid[name], "scores": source})
    call(VERBS[name], {**valid[name], "scores": scores().to_frame()})


def takers_of_experiments():
    """Return the verbs that read runs, or work on their scores; what is written is read already."""
    wanted = {"qrels", "scores"}
    return [
        name
        for name in VERBS
        if wanted & set(inspect.signature(VERBS[name]).parameters)
        and not name.startswith("write_")
        and name
        not in (
            *(
                "summarise_repeats",
                "score_successes",
                "plan_human_topics",
                "plan_human_documents",
            ),
            "compare_reproduction",  # which compares runs with one
        )
    ] + ["write_report"]


@pytest.mark.parametrize("name", takers_of_experiments())
def test_verbs_take_an_experiment(name, valid):
    parameters = inspect.signature(VERBS[name]).parameters
    place = "qrels" if "qrels" in parameters else "scores"
    keywords = {key: value for key, value in valid[name].items() if key not in ("runs", "scores")}
    keywords[place] = confir.Experiment(QRELS, RUNS, ["AP"])
    call(VERBS[name], keywords)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        *(("rel", value) for value in (0, 1.5, "2", None, True)),
        *(("depth", value) for value in (0, 1.5, "2", True)),
        *(
            (name, value)
            for name in ("missing", "name_by", "tie_precision")
            for value in ("nonsense", None, 3)
        ),
    ],
)
def test_an_experiment_refuses_rules_that_are_none(parameter, value):
    with pytest.raises(ConfirError) as error:
        confir.Experiment(QRELS, RUNS, **{parameter: value})
    assert names_the_argument(str(error.value), parameter, value)


@pytest.mark.parametrize("name", VERBS)
def test_verbs_take_what_makes_runs_and_qrels(name, valid, folder):
    parameters = inspect.signature(VERBS[name]).parameters
    if name == "read_scores":
        return  # its run is a name
    several = "baseline" in valid[name]  # which other runs are compared with
    sources = {
        "qrels": (folder / "qrels.txt", confir.as_qrels(QRELS)),
        "run": (folder / "x.txt", confir.as_run(RUNS["x"])),
        "runs": (
            folder / ("[xy].txt" if several else "x.txt"),
            [confir.as_run(RUNS[run], name=run) for run in ("xy" if several else "x")],
        ),
    }
    if name in ("bound_differences", "estimate_reusability"):
        del sources["runs"]  # they need two
    for parameter in parameters.keys() & sources.keys() & valid[name].keys():
        for source in sources[parameter]:
            call(VERBS[name], {**valid[name], parameter: source})


def test_measures_of_ir_measures_are_measures():
    ir_measures = required("ir_measures")
    wanted = [ir_measures.nDCG @ 3, "AP", confir.parse_measure("P@2"), ir_measures.RR(rel=2)]
    made = confir.evaluate(QRELS, RUNS, wanted)
    assert made.measures == ("nDCG@3", "AP", "P@2", "RR(rel=2)")
    named = confir.evaluate(QRELS, RUNS, list(made.measures))
    np.testing.assert_array_equal(made.values, named.values)
    alone = confir.bootstrap_documents(QRELS, RUNS, ir_measures.AP, replicates=9, rng=1)
    assert {measure for _, measure in alone.labels} == {"AP"}
    assert str(confir.parse_measure(ir_measures.P(rel=2) @ 5)) == "P(rel=2)@5"
    assert confir.expected_random_score(ir_measures.AP, 10, 3) == confir.expected_random_ap(10, 3)
    chance = confir.compare_with_chance(QRELS, made, documents=9, measures=[ir_measures.AP])
    assert chance.measures == ("AP",)


def test_a_measure_that_ir_measures_alone_has_is_computed_by_it():
    ir_measures = required("ir_measures")
    made = confir.evaluate(QRELS, RUNS, [ir_measures.IPrec @ 0.1])
    assert made.measures == ("IPrec@0.1",)


def test_a_method_that_returns_no_limits_is_refused(valid):
    with pytest.raises(ConfirError, match="methods"):
        call(confir.estimate_coverage, {**valid["estimate_coverage"], "methods": lambda *_: 1.0})


def test_chance_is_described_from_a_qrels_file(folder, valid):  # noqa: ARG001
    from_file = confir.compare_with_chance(folder / "qrels.txt", documents=10)
    from_object = confir.compare_with_chance(confir.as_qrels(QRELS), documents=10)
    np.testing.assert_array_equal(from_file.expected, from_object.expected)


def test_numpy_ma_may_be_half_loaded_by_another_thread(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    found = confir.confidence_interval([0.1, 0.4, 0.3, 0.2], level=[0.9, 0.95], method="t")
    assert [one.level for one in found] == [0.9, 0.95]
