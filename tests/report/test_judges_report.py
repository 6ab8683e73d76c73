"""The section on judges is on the page if, and only if, another judge is given."""

import pytest

import confir
from chart_labels import records_of
from confir.data.experiment import Experiment
from confir.errors import ConfirError
from confir.report.contents import Settings
from confir.report.gathering import gather_contents
from confir.report.methods_text import methods_text
from confir.report.report_page import render_page
from confir.report.result_chart import specification as chart
from confir.report.script_bundle import ScriptBundle
from confir.report.sections import conclusions
from judge_files import noisy_judge
from samples import short_sample

SAMPLE = short_sample()
RUNS = [run for run in SAMPLE.runs if run.name != "bm25-rm3"][:4]
MODEL = noisy_judge(SAMPLE.qrels, leniency=0.4)


def contents(**settings):
    experiment = Experiment(SAMPLE.qrels, RUNS, ["AP", "P@10"])
    scores = confir.evaluate(experiment)
    return gather_contents(
        scores,
        qrels=SAMPLE.qrels,
        runs=experiment.lists(),
        settings=Settings(replicates=199, **settings),
    )


def page(gathered):
    with ScriptBundle() as bundle:
        return render_page(gathered, bundle)


@pytest.fixture(scope="module")
def with_judge():
    return contents(judges={"<model>": MODEL})


def test_the_part_holds_what_compare_judgements_returns(with_judge):
    found = with_judge["judgements"]
    judges = {"qrels": SAMPLE.qrels, "<model>": MODEL}
    expected = confir.compare_judgements(judges, RUNS, ["AP", "P@10"], replicates=199, rng=2006)
    assert repr(found.to_records()) == repr(expected.to_records())


def test_a_judge_who_agrees_is_neither_higher_nor_lower():
    said = conclusions(contents(judges={"again": SAMPLE.qrels}).viewed(0, 0.95))["judges"]
    assert said.startswith("AP is the same by again as by qrels, on average over the runs; of ")


def test_the_page_says_what_another_judge_changes(with_judge):
    text = page(with_judge)
    assert '<details class="part" id="judges">' in text
    assert " higher by &lt;model&gt; than by qrels, on average" in text
    assert "<model>" not in text
    for place, measure in enumerate(("AP", "P@10")):
        said = conclusions(with_judge.viewed(place, 0.95))["judges"]
        assert said.startswith(f"{measure} is 0.")
        assert "by <model> than by qrels" in said
    methods = methods_text(with_judge)
    assert "Krippendorff's α" in methods.paragraph
    assert "@inproceedings{Yilmaz2008," in methods.bibtex


def test_without_another_judge_the_page_has_no_such_part():
    gathered = contents()
    assert gathered["judgements"] is None
    assert not gathered.reasons("judgements")
    assert 'id="judges"' not in page(gathered)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"judges": {"model": {"x": {"d": 1}}}}, "no topic in common"),
        ({"judges": ["absent.qrels"]}, "absent.qrels: no such file"),
        ({"judges": {"qrels": MODEL}}, "a judge is named 'qrels'"),
        ({"judges": [MODEL], "grades": ["x"]}, "--grades is 'x'; expected a scale"),
        ({"grades": ["0,1"]}, "expected judges"),
    ],
)
def test_a_judge_that_cannot_be_compared_is_an_error_not_a_missing_part(settings, problem):
    with pytest.raises(ConfirError, match=problem):
        contents(**settings)


def test_judges_of_some_topics_are_compared_on_these():
    some = dict(list(MODEL.items())[:20])
    assert contents(judges=[some])["judgements"].topics == 20


def test_the_chart_holds_the_means_of_both_judges(with_judge):
    found = with_judge["judgements"]
    drawn = [record for record in records_of(chart(found)) if "run" in record]
    expected = {
        (r["run"], r["measure"], r["reference_mean"], r["judge_mean"])
        for r in found.runs.to_records()
    }
    assert {
        (r["run"], r["measure"], r["reference_mean"], r["judge_mean"]) for r in drawn
    } == expected
