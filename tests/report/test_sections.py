"""A study adds a section to the report by a folder and a line: no file of the report names it."""

import ast
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import confir
import confir.studies
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.report import contents as contents_module
from confir.report.contents import Settings, report_figures
from confir.report.gathering import gather_contents, number_of_steps
from confir.report.methods_text import methods_text
from confir.report.page_data import page_data
from confir.report.report_page import render_page
from confir.report.result_chart import specification
from confir.report.script_bundle import ScriptBundle
from confir.report.sections import (
    PLACE,
    Scope,
    Section,
    Sentence,
    Verb,
    answer_sentences,
    conclusions,
)
from confir.studies import STUDIES, Study, find_sections

SECTION = """
from confir.errors import InvalidValueError
from confir.report.sections import Figure, Section, Sentence
from confir.report.tables import Cell, Table
from confir.studies.means.chart import interval_chart

def gather(scope):
    if len(scope.scores.topics) < 9:
        raise InvalidValueError("luck needs 9 topics")
    return scope.results["means"][scope.settings.level]

SECTION = Section(
    by_measure=True,
    gather=gather,
    anchor="luck",
    heading="How lucky are the runs?",
    context=lambda contents: {"words": f"<{len(contents.measures)}> measures"},
    figures=lambda contents, levels: [Figure("luck", interval_chart(contents["luck"]))],
    tables=lambda contents: [("luck", Table(("run",), ((Cell("lucky"),),), "by luck"))],
    page_data=lambda contents: {"level": contents["luck"].level},
    answer=lambda contents: [Sentence(15, "It was lucky.")],
    conclusion=lambda contents: f"Lucky by {contents.measures[0].measure}.",
    methods=lambda contents: [Sentence(45, "Luck was counted.", ("Efron1979",))],
)
"""
TEMPLATE = """{% from "macros.html" import behind, plot %}
<p class="explain">{{ own.words }} of {{ runs }} runs</p>
{{ plot('luck') }}
{{ behind('luck', 'The table behind the chart') }}
"""


@pytest.fixture
def luck(tmp_path, monkeypatch):
    """A study that is not in confir: its folder, and its line behind that of ranks."""
    folder = tmp_path / "luck"
    folder.mkdir()
    for name, text in (("__init__.py", ""), ("section.py", SECTION), ("section.html", TEMPLATE)):
        (folder / name).write_text(text)
    line = Study("luck", "How lucky are the runs?", ("luck", "luck.md"), section=True)
    monkeypatch.setattr(confir.studies, "__path__", [*confir.studies.__path__, str(tmp_path)])
    monkeypatch.setattr(confir.studies, "STUDIES", (*STUDIES[:3], line, *STUDIES[3:]))
    yield line
    for name in [name for name in sys.modules if name.startswith("confir.studies.luck")]:
        del sys.modules[name]


def gathered(topics=12, measures=("AP", "RR")):
    values = np.random.default_rng(6).random((topics, 3, len(measures)))
    scores = Scores(tuple(map(str, range(topics))), ("a", "b", "c"), measures, values)
    return gather_contents(scores, settings=Settings(replicates=199))


def rendered(contents):
    with ScriptBundle() as bundle:
        return render_page(contents, bundle)


def test_a_new_study_is_gathered_drawn_and_written_by_its_line_alone(luck):
    contents = gathered()
    assert contents.measures[1][luck.folder] is contents.measures[1]["means"][0.95]
    figures = [(f.part, f.measure) for f in report_figures(contents, (0.95,))]
    assert [measure for part, measure in figures if part == "luck"] == ["AP", "RR"]
    assert figures.index(("luck", "AP")) == figures.index(("ranks", "AP")) + 1
    assert answer_sentences(contents)[1] == "It was lucky."
    assert conclusions(contents)["luck"] == "Lucky by AP."
    assert conclusions(contents.viewed(1, 0.9))["luck"] == "Lucky by RR."
    paragraph, latex, bibtex = methods_text(contents)
    assert (
        "compared with simultaneous 95% intervals" in paragraph.partition(" Luck was counted. ")[0]
    )
    assert "Luck was counted~\\cite{Efron1979}." in latex
    assert "@article{Efron1979," in bibtex
    assert [entry["luck"] for entry in page_data(contents)["measures"]] == [{"level": 0.95}] * 2


def test_a_new_study_has_its_place_on_the_page_folded_below_its_conclusion(luck):
    page = rendered(gathered())
    before, part, after = page.partition(f'<details class="part" id="{luck.folder}">')
    assert part
    assert 'id="leaderboard"' in before
    section, pairs, _ = after.partition('<details class="part" id="pairs">')
    assert pairs
    assert '<h3 id="luck-title" dir="auto">How lucky are the runs?</h3>' in section
    assert 'data-conclusion="luck">Lucky by AP.</span></summary>' in section
    assert "&lt;2&gt; measures of 3 runs" in section
    assert '<figure class="chart" data-part="luck">' in section
    assert 'data-table="luck"' in section


def test_a_study_that_cannot_be_made_is_left_out_with_its_reason(luck):
    contents = gathered(topics=8)
    assert contents.measures[0][luck.folder] is None
    assert contents.reasons("luck") == [(m, "luck needs 9 topics") for m in ("AP", "RR")]
    assert "luck" not in [figure.part for figure in report_figures(contents, (0.95,))]
    page = rendered(contents)
    heading = "<strong>How lucky are the runs?</strong>"
    assert f'<li id="luck">{heading} luck needs 9 topics.</li>' in page
    assert 'href="#luck"' not in page


def test_a_section_declares_its_verb_and_when_it_is_there():
    scores = gathered().scores
    section = Section(
        by_measure=True,
        gather=Verb(confir.compare_runs, ("baseline",), {"test": "wilcoxon"}),
        with_baseline=False,
        several_runs="luck needs two",
    )
    scope = Scope(scores, Settings(level=0.9, replicates=99, seed=3), None, None, None, {})
    expected = confir.compare_runs(scores, level=0.9, replicates=99, rng=3, test="wilcoxon")
    assert str(section.result("luck", scope).to_records()) == str(expected.to_records())
    against = replace(scope, settings=replace(scope.settings, baseline="b"))
    assert section.result("luck", against) is None
    found = replace(section, with_baseline=True).result("luck", against)
    assert found.baseline == "b"
    with pytest.raises(InvalidValueError, match=r"there is one run; luck needs two$"):
        section.result("luck", replace(scope, scores=scores.select(run=["a"])))


def test_a_result_by_level_is_drawn_at_the_levels_asked_for():
    drawn = {
        level: confir.confidence_interval([0.3, 0.5, 0.4], level=level) for level in (0.8, 0.9)
    }
    section = Section(by_measure=True, by_level=True, paper_part="luck", by_run=True)
    (figure,) = section.charts("luck", {"luck": drawn}, (0.9,), paper=True)
    assert figure[2:] == (0.9, True, False, None)
    assert figure.drawing == specification(drawn[0.9])
    assert not section.charts("luck", {"luck": drawn}, (0.9,), paper=False)


def test_a_declared_sentence_names_values_of_the_contents(luck, monkeypatch):
    contents = gathered()
    section = find_sections()[luck.folder]
    text = "{result.topics[1][0]} topics, {level}, {replicates}{documents}."
    declared = replace(section, methods=Sentence(45, text))
    monkeypatch.setattr(sys.modules[luck.module("section")], "SECTION", declared)
    assert " 12 topics, 95%, 199 replicates. " in methods_text(contents).paragraph


def test_a_new_study_counts_as_a_step_of_each_measure(luck, monkeypatch):
    with_luck = number_of_steps(3)
    monkeypatch.setattr(confir.studies, "STUDIES", STUDIES)
    assert luck.section
    assert with_luck == number_of_steps(3) + 3


def test_a_result_that_no_study_has_is_an_error():
    contents = gathered(measures=("AP",))
    with pytest.raises(KeyError):
        contents["no study"]
    with pytest.raises(KeyError):
        contents.measures[0]["no study"]


def test_a_study_left_out_by_some_measures_is_there_by_the_others():
    contents = gathered()
    first, second = contents.measures
    lacking = replace(
        first,
        results={**first.results, "coverage": None},
        left_out={**first.left_out, "coverage": "no luck"},
    )
    some = replace(contents, measures=(lacking, second))
    assert some.has("coverage")
    assert some.reasons("coverage") == [("AP", "no luck")]
    page = rendered(some)
    section = page[page.index('id="coverage">') : page.index('id="bias-variance">')]
    assert 'data-measure="AP">Left out: no luck.' in section
    assert '<figure class="chart" data-part="coverage">' in section


def test_every_section_is_where_its_line_says_with_what_it_needs():
    sections = find_sections()
    assert list(sections) == [study.folder for study in STUDIES if study.section]
    anchors = [section.anchor for section in sections.values() if section.anchor]
    assert len(set(anchors)) == len(anchors)
    for study, section in sections.items():
        folder = Path(confir.studies.__file__).parent / study
        assert (folder / "section.html").exists() == bool(section.anchor)
        assert bool(section.heading) == bool(section.anchor)
        assert section.leads or bool(section.conclusion) == bool(section.anchor)
    written = {path.parent.name for path in folder.parent.glob("*/section.py")}
    assert written == set(sections)


def test_the_documentation_lists_the_parts_of_the_page_under_their_headings():
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \*\*(.+?)\*\*", text.partition("\n## Contents\n")[2], re.MULTILINE)
    headings = [section.heading for section in find_sections().values() if section.anchor]
    assert listed == ["The answer", *headings, "How to read this page", "Methods"]
    page = rendered(gathered(measures=("AP",)))
    absent = ("judgements", "corrected_means", "leaderboard", "topic_groups", "tradeoff")
    absent += ("collection", "chance", "data_quality")  # scores alone
    shown = [n for n in listed[2:-2] if n not in {find_sections()[a].heading for a in absent}]
    shown[0] = "All 3 pairs, with groups and ranks"
    assert re.findall(r"<h3 [^>]*>([^<]*)</h3>", page) == [
        *shown,
        *("How to read this page", "Methods", "Left out"),
    ]
    headings = re.findall(r"<h2 [^>]*>([^<]*)</h2>", page)
    assert headings == ["The answer", "1 warning: check before citing the results", "More"]


def test_the_report_names_no_study():
    folders = {study.folder for study in STUDIES}
    for path in Path(contents_module.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant):
                assert node.value not in folders, f"{path}:{node.lineno} names {node.value}"


def test_sentences_of_the_same_place_stay_in_the_order_of_studies():
    told = [Sentence(2, "b"), Sentence(1, "a"), Sentence(2, "c")]
    assert [sentence.text for sentence in sorted(told, key=PLACE)] == ["a", "b", "c"]


def test_everything_a_section_sends_to_the_page_is_json():
    assert json.dumps(page_data(gathered()), allow_nan=False)


def test_a_measure_that_fails_late_costs_the_others_nothing():
    judged = {str(topic): {f"d{place}": place % 2 for place in range(6)} for topic in range(4)}
    runs = {
        "tied": {topic: dict.fromkeys(gains, 1.0) for topic, gains in judged.items()},
        "other": {topic: {one: float(one[1]) for one in gains} for topic, gains in judged.items()},
    }
    experiment = confir.Experiment(judged, runs, ["AP", "Bpref"], depth=3)
    found = gather_contents(
        confir.evaluate(experiment),
        qrels=confir.as_qrels(judged),
        runs=experiment.lists(),
        settings=Settings(replicates=99, rules=experiment.rules),
    )
    alone = confir.bound_ties(judged, runs, ["AP"], depth=3)
    assert found.measures[0]["ties"].to_records() == alone.to_records()
    ((measure, reason),) = found.reasons("ties")
    assert measure == "Bpref"
    assert reason.startswith("Bpref has no rule for ties at the depth")
