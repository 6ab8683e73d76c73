"""The methods paragraph: what was done, and every work it names as BibTeX."""

import re
from importlib.metadata import version

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.intervals.method_list import METHODS
from confir.measures.evaluation import evaluate
from confir.references import REFERENCES
from confir.report.contents import Settings
from confir.report.gathering import gather_contents
from confir.report.methods_text import methods_text
from confir.studies.means.board import board_table
from samples import short_sample


def table(runs=3, topics=20, measures=("AP",), scale=1.0):
    values = scale * np.random.default_rng(5).random((topics, runs, len(measures)))
    names = tuple(f"run{r}" for r in range(runs))
    return Scores(tuple(map(str, range(topics))), names, measures, values)


def text(scores, qrels=None, runs=(), **settings):
    contents = gather_contents(
        scores, qrels=qrels, runs=runs, settings=Settings(replicates=499, **settings)
    )
    return methods_text(contents)


@pytest.mark.parametrize("method", METHODS)
def test_every_work_that_a_method_names_has_its_reference(method):
    for use in METHODS[method].uses.values():
        years = re.findall(r"([A-Z][\w-]+)[^;,\d]* (\d{4})", use.source)
        assert len(years) == len(use.cites) == len(re.findall(r"\d{4}", use.source))
        for key, (name, year) in zip(use.cites, years, strict=True):
            assert key.startswith(name)
            assert key.endswith(year)
            assert REFERENCES[key].startswith("@")
            assert f"{{{key}," in REFERENCES[key]


def test_references_are_well_formed():
    for key, entry in REFERENCES.items():
        assert entry.count("{") == entry.count("}"), key
        assert re.search(r"year\s+= \{\d{4}\}", entry), key


def test_the_paragraph_says_what_was_scored_how_and_with_which_seed():
    paragraph, _, bibtex = text(table(), seed=11)
    assert paragraph.startswith(
        f"3 runs were scored by AP over 20 topics (confir {version('confir')})."
    )
    assert "95% confidence intervals over topics by the method calibrated-beta" in paragraph
    assert "All 3 pairs of runs were compared with simultaneous 95% intervals" in paragraph
    assert "over 499 bootstrap samples of the topics" in paragraph
    assert "d ± c·√(se² + u·M/n)" in paragraph
    assert "at most Bonferroni's (Westfall & Young 1993)" in paragraph
    assert "2·3.1787·m·Φ(−|T|) is at most α" in paragraph
    assert "The adjusted p-value is min(max(p_B, p_1), m·p_1, p_T, 1)" in paragraph
    assert (
        "M is the median variance of those of the m differences that are not constant" in paragraph
    )
    assert "u·M is the same in all samples" in paragraph
    assert "families of comparisons, and M the median over all pairs" in paragraph
    assert "r is rejected where at least r of them are better, or K − r + 1 worse" in paragraph
    assert "symmetric about 0 (Bentkus & Dzindzalieta 2015)" in paragraph
    assert paragraph.endswith("The seed of all random numbers was 11.")
    keys = re.findall(r"@\w+\{([^,]+),", bibtex)
    assert keys == [
        "confir",
        "Hall1992",
        "Hsu1984",
        "Bentkus2015",
        "Mogstad2024",
        "Efron1979",
        "Westfall1993",
        "Soboroff2014",
        "Zhang2013",
    ]
    assert f"note   = {{Version {version('confir')}}}" in bibtex


def test_a_named_method_is_cited_with_its_replicates():
    paragraph, _, bibtex = text(table(), method="percentile")
    assert "method percentile (Efron 1979; Park 2011, Soboroff 2014, 499 replicates)" in paragraph
    assert "Park2011" in bibtex
    assert "Hall1992" not in bibtex


def test_a_measure_that_is_bounded_by_its_scores_alone_is_named():
    paragraph, _, _ = text(table(measures=("mine",)))
    assert (
        "The measure mine, unknown to confir, is assumed to lie in [0, 1], as all of its scores do."
    ) in paragraph
    paragraph, _, _ = text(table(measures=("mine",)), method="t")
    assert "taken to lie" not in paragraph


def test_the_leaderboard_names_the_method_of_each_measure():
    scores = table(measures=("AP", "NumRet", "mine"))
    values = scores.values * np.array([1.0, 900.0, 1.0])
    contents = gather_contents(
        Scores(scores.topics, scores.runs, scores.measures, values),
        settings=Settings(replicates=499),
    )
    notes = [board_table(part, contents.settings).note for part in contents.measures]
    for note, said in zip(
        notes,
        ("calibrated-beta, over", "t, over", "calibrated-beta, over 20 topics; mine, unk"),
        strict=True,
    ):
        assert f"95% confidence interval (CI) by {said}" in note


def test_measures_with_different_methods_are_distinguished():
    scores = table(measures=("AP", "NumRet"))
    values = scores.values * np.array([1.0, 900.0])
    paragraph, _, _ = text(Scores(scores.topics, scores.runs, scores.measures, values))
    assert (
        "Means by AP have 95% confidence intervals over topics by the method calibrated-beta"
        in paragraph
    )
    assert (
        "Means by NumRet have 95% confidence intervals over topics by the method t (" in paragraph
    )


def test_two_runs_are_not_called_all_pairs():
    paragraph, _, bibtex = text(table(runs=2))
    assert "The two runs were compared with t intervals" in paragraph
    assert "Westfall" not in paragraph + bibtex


def test_one_run_on_one_topic_is_said_in_the_singular_and_cites_little():
    paragraph, _, bibtex = text(table(runs=1, topics=1))
    assert paragraph.startswith("1 run was scored by AP over 1 topic (")
    assert "confidence interval" not in paragraph
    assert "compared" not in paragraph
    assert re.findall(r"@\w+\{([^,]+),", bibtex)[0] == "confir"


def test_missing_scores_are_said_to_be_left_out():
    scores = table()
    values = scores.values.copy()
    values[0, 0, 0] = np.nan
    paragraph, _, _ = text(Scores(scores.topics, scores.runs, scores.measures, values))
    assert "A topic without a score is left out of the run's mean." in paragraph


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_parts_about_documents_are_described_where_they_are_there():
    sample = short_sample()
    runs = [run for run in sample.runs if run.name in ("bm25-rm3", "dense")]
    scores = evaluate(sample.qrels, runs, ["AP"])
    paragraph, _, bibtex = text(scores, sample.qrels, runs, documents=1_000_000)
    assert "A topic that a run lacks scores 0." in paragraph
    assert "bootstrap of its documents" in paragraph
    assert "random rankings of 1,000,000 documents, after Bestgen (2015)" in paragraph
    assert "Cormack2006" in bibtex
    assert "Bestgen2015" in bibtex


def test_the_paragraph_for_latex_cites_by_key_and_is_escaped():
    paragraph, latex, bibtex = text(table(measures=("AP", "alpha_nDCG@20")), method="betting")
    assert "AP, alpha\\_nDCG@20 over 20 topics" in latex
    assert "95\\% confidence intervals" in latex
    assert "Waudby-Smith \\& Ramdas 2023)~\\cite{Waudby-SmithRamdas2023}." in latex
    assert re.search(r"(?<!\\)[%&_]", re.sub(r"\\cite\{[^}]*\}", "", latex)) is None
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", latex) for key in keys.split(",")}
    assert cited == set(re.findall(r"@\w+\{([^,]+),", bibtex))
    assert latex.count(". ") == paragraph.count(". ")
