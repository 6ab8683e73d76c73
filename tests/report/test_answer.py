"""The answer in sentences: only what the data allow."""

import re
from dataclasses import replace

import numpy as np
import pytest

from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.measures.evaluation import evaluate
from confir.number_text import count_words, percent
from confir.pairs.best_runs import find_best
from confir.pairs.compare import compare_runs
from confir.pairs.ranking import rank_runs
from confir.report.contents import Settings
from confir.report.gathering import gather_contents
from confir.report.messages import isolated
from confir.report.page_data import page_data
from confir.report.report_page import write_report
from confir.report.result_table import result_table
from confir.report.sections import MOST_FINDINGS, answer_sentences, conclusions
from confir.report.tables import Cell
from confir.studies.leaderboard.board_sources import board_scores
from confir.studies.means.board import board_table
from confir.studies.planning.planning import plan_topics
from samples import short_sample

TOPICS = 40
FAST = Settings(replicates=499)


def scores_of(*means, spread=0.02, names=None, measures=("AP",), seed=1):
    """Scores whose runs have about these means, by every measure the same."""
    rng = np.random.default_rng(seed)
    values = np.clip(
        np.array(means)[None, :, None] + rng.normal(0, spread, (TOPICS, len(means), len(measures))),
        0.001,
        0.999,
    )
    runs = names or tuple(f"run{r}" for r in range(len(means)))
    return Scores(tuple(f"{t}" for t in range(TOPICS)), runs, measures, values)


def answer(scores, **options):
    """Return the headline and the sentences below it."""
    sentences = answer_sentences(gather_contents(scores, settings=FAST, **options))
    assert len(sentences) <= 1 + MOST_FINDINGS
    return sentences


def concluded(contents, anchor):
    """Return what a folded part of the page concludes."""
    return conclusions(contents)[anchor]


def test_a_clear_winner_is_the_best():
    sentences = answer(scores_of(0.3, 0.6, 0.4))
    assert re.fullmatch(
        r"run1 has the highest AP, 0\.\d{3} \(95% confidence interval \[0\.\d{3}, 0\.\d{3}\]\), and is the "
        r"best of the 3 runs\.",
        sentences[0],
    )
    assert sentences[1].startswith(
        "3 of 3 pairs differ significantly (100%); the smallest observed"
    )
    assert len(sentences) == 2


def test_a_winner_by_chance_is_only_one_that_may_be_the_best():
    scores = scores_of(0.5, 0.5, 0.5, spread=0.3)
    sentences = answer(scores)
    assert sentences[0].endswith("; each of the 3 runs may be the best.")
    assert sentences[1] == "None of 3 pairs differs significantly."
    plan = concluded(gather_contents(scores, settings=FAST), "plan")
    assert "a test of this pair among all 3 pairs has power 0.8" in plan
    assert plan.endswith("; there are 40.")
    assert re.search(
        r"topics \([\d,]+ or more over the simultaneous 95% interval of that diff.*contains 0\)",
        plan,
    )


def test_the_smallest_significant_difference_is_that_of_the_comparison():
    scores = scores_of(0.3, 0.42, 0.4, 0.35, spread=0.1)
    comparison = compare_runs(scores, replicates=FAST.replicates, rng=FAST.seed)
    found = [
        abs(difference)
        for difference, verdict in zip(
            comparison.difference[:, 0], comparison.verdict[0, :, 0], strict=True
        )
        if verdict in ("better", "worse")
    ]
    assert 0 < len(found) < 6
    assert answer(scores)[1].startswith(
        f"{len(found)} of 6 pairs differ significantly ({100 * len(found) / 6:.0f}%); the smallest observed "
        f"difference that is significant is {min(found):.3f}."
    )


def test_the_plan_of_the_best_two_is_for_the_family_of_all_pairs():
    scores = scores_of(0.5, 0.5, 0.5, 0.5, spread=0.3)
    contents = gather_contents(scores, settings=FAST)
    best, runner_up = (scores.runs[place] for place in contents.measures[0].order[:2])
    whole = plan_topics(scores, baseline=runner_up, difference="observed", family="all-pairs")
    plan, alike = contents["planning"], whole.select(run=best)
    assert contents.measures[0]["comparison"][0.95].family == plan.family == "all-pairs"
    for name in ("topics", "difference", "low", "high", "half_width", "achieved_power"):
        assert getattr(plan, name) == pytest.approx(getattr(alike, name), nan_ok=True)
    assert result_table(plan).note == result_table(alike).note
    assert plan.pairs == 6
    said = concluded(contents, "plan")
    assert "among all 6 pairs has power 0.8" in said
    assert f"with about {count_words(float(alike.topics[0, 0]))} topics" in said


def test_the_plan_of_two_runs_is_for_them_alone():
    contents = gather_contents(scores_of(0.5, 0.5, spread=0.3), settings=FAST)
    assert "a test of this pair alone has power 0.8" in concluded(contents, "plan")


def test_a_significant_lead_needs_no_plan():
    said = concluded(gather_contents(scores_of(0.3, 0.6), settings=FAST), "plan")
    assert said == (
        "40 topics were enough for the difference between run1 and run0 in AP, which is significant."
    )


def test_some_of_the_runs_may_be_the_best():
    assert answer(scores_of(0.3, 0.601, 0.6, 0.2, spread=0.05))[0].endswith(
        "; 2 of the 4 runs may be the best."
    )


def test_two_runs_are_compared_in_a_sentence_the_better_one_first():
    for means in ((0.3, 0.6), (0.6, 0.3)):
        said = answer(scores_of(*means))[1]
        better, worse = ("run1", "run0") if means[1] > means[0] else ("run0", "run1")
        assert said.startswith(f"{better} is significantly better than {worse} in AP (+0.")
        assert said.endswith(", p < .001).")
    scores = scores_of(0.5, 0.5, spread=0.3)
    headline, unclear, step = answer(scores)
    assert headline.endswith("; each of the 2 runs may be the best.")
    comparison = compare_runs(scores, replicates=FAST.replicates, rng=FAST.seed)
    low, high = (float(limit[0, 0]) for limit in comparison.limits)
    if comparison.difference[0, 0] < 0:
        low, high = -high, -low
    assert unclear.startswith("The difference between run")
    assert step.startswith("These 40 topics would show a true lead of ")
    assert f"95% CI [{low:+.3f}, {high:+.3f}], p = .".replace("-", "−") in unclear


def test_headlines_have_minus_signs_and_say_what_datasets_conclusions_are_about():
    scores = scores_of(0.5, 0.5, spread=0.3, measures=("gain",))
    below = replace(scores, values=scores.values - 0.9, inside=())
    assert re.search(r"gain, −0\.\d{3} \(95% .* \[−0\.\d{3}, −0\.\d{3}\]\); each", answer(below)[0])
    datasets = board_scores(scores_of(0.5, 0.5, spread=0.3), None, None, "error")
    assert answer(datasets)[0].endswith(
        "each of the 2 runs may be the best on datasets like these."
    )


def test_an_interval_of_a_headline_that_is_simultaneous_is_called_so():
    settings = replace(FAST, baseline="run0")
    said = answer_sentences(
        gather_contents(scores_of(0.5, 0.52, 0.54, spread=0.3), settings=settings)
    )
    assert any(", simultaneous 95% CI [" in one for one in said)


def test_one_run_is_not_compared():
    sentences = answer(scores_of(0.5))
    assert sentences[0].startswith("run0 has a mean AP of 0.")
    assert sentences[0].endswith("over 40 topics.")
    assert sentences[1].startswith("Runs are not compared: ")
    assert len(sentences) == 2


def test_one_topic_gives_no_interval_and_no_comparison():
    many = scores_of(0.3, 0.6)
    sentences = answer(Scores(("0",), many.runs, many.measures, many.values[:1]))
    assert re.fullmatch(r"run1 has the highest AP, 0\.\d{3}\.", sentences[0])
    assert sentences[1].startswith("Runs are not compared: ")
    assert len(sentences) == 2


def test_a_shared_first_place_is_said():
    scores = scores_of(0.5, 0.5)
    same = Scores(scores.topics, scores.runs, scores.measures, scores.values[:, [0, 0]])
    sentences = answer(same)
    assert sentences[0].startswith("run0 and run1 have the highest AP, 0.")
    assert sentences[1] == "run0 and run1 are identical in AP."


def test_other_measures_agree_or_favour_others():
    scores = scores_of(0.3, 0.6, measures=("AP", "RR", "P@10"))
    values = scores.values.copy()
    values[:, :, 2] = values[:, ::-1, 2]
    sentences = answer(Scores(scores.topics, scores.runs, scores.measures, values))
    assert (
        "run1 also has the highest RR; other runs lead by other measures: run0 by P@10."
        in sentences
    )


def test_another_level_is_named_everywhere():
    contents = gather_contents(scores_of(0.3, 0.6), settings=Settings(0.8, replicates=499))
    said = " ".join([*answer_sentences(contents), *conclusions(contents).values()])
    assert "(80% confidence interval" in said
    assert ", 80% CI [" in said
    assert "of 80% intervals contain the true mean" in said
    assert "95%" not in said


def test_the_pages_of_a_baseline_hold_the_family_of_its_pairs_alone():
    scores = scores_of(0.3, 0.6, 0.45, 0.31, spread=0.1, measures=("AP", "RR"))
    settings = replace(FAST, baseline="run0")
    contents = gather_contents(scores, settings=settings)
    first = contents.measures[0]
    assert first["best"] is None
    assert first["ranks"] is None
    assert contents["planning"] is None
    comparison = compare_runs(scores, baseline="run0", replicates=499, rng=FAST.seed)
    words = comparison.select(measure="AP").verdict[0, :, 0].tolist()
    assert words.count("better") == 2
    sentences = answer_sentences(contents)
    assert sentences[0] == (
        "Of 3 other runs, 2 are significantly better than run0 and 1 is inconclusive by AP."
    )
    assert sentences[1].startswith("run1 is significantly better than run0 in AP (+0.")
    means = scores.mean()[:, 0]
    assert sentences[1].endswith(f"): run0 {means[0]:.3f} → run1 {means[1]:.3f}.")
    assert sentences[2].startswith("run1 gains most on topics ")
    assert sentences[3] == "By other measures, 2 runs better and 0 worse in RR."
    table = board_table(first, settings)
    assert table.columns == ("run", "AP", "difference from run0", "verdict")
    shown = {row[0].text: row[-1].text for row in table.rows}
    assert shown == {"run0": "baseline"} | dict(zip(scores.runs[1:], words, strict=True))
    data = page_data(contents)["measures"][0]
    assert not {"best", "ranks"} & set(data)
    assert data["comparison"]["gaps"]["at"]["0.95"]["words"] == ["baseline", *words]
    assert concluded(contents, "topics").startswith("run1 scores higher than run0 on ")


def test_two_runs_and_a_baseline_have_one_sentence():
    contents = gather_contents(scores_of(0.3, 0.6), settings=replace(FAST, baseline="run0"))
    assert re.fullmatch(
        r"run1 is significantly better than run0 in AP \(\+0\.\d{3}, 95% CI \[.*\], p < \.001\): run0 0\.\d{3} "
        r"→ run1 0\.\d{3}\.",
        answer_sentences(contents)[0],
    )


@pytest.fixture(scope="module")
def with_documents():
    sample = short_sample()
    runs = [run for run in sample.runs if run.name in ("bm25", "dense", "rerank")]
    scores = evaluate(sample.qrels, runs, ["AP"])
    return gather_contents(scores, qrels=sample.qrels, runs=runs, settings=FAST)


def share_sentence(contents):
    return concluded(contents, "collection")


def with_collection(contents, changed):
    return replace(contents, results={**contents.results, "collection": changed})


def test_with_documents_it_says_what_limits_the_certainty(with_documents):
    said = share_sentence(with_documents)
    variance = with_documents["collection"].difference_variance
    place = variance.runs.index("dense")
    parts = [p[place, 0, 0] for p in (variance.topics, variance.documents, variance.interaction)]
    for part in parts:
        assert percent(part / sum(parts), 2) in said
    assert "between rerank and dense by AP" in said
    assert said.endswith("topics contribute most to the uncertainty.")


@pytest.mark.parametrize(
    ("documents", "interaction", "said"),
    [
        (3.0, 0.0, ": documents contribute most to the uncertainty."),
        (1.1, 0.0, ": topics and documents contribute about equally to the uncertainty."),
        (0.5, 0.0, ": topics contribute most to the uncertainty."),
        (0.33, 6.3, ": the interaction contributes most to the uncertainty."),
        (0.3, 1.05, ": topics and the interaction contribute about equally to the uncertainty."),
        (
            1,
            1,
            ": topics, documents and the interaction contribute about equally to the uncertainty.",
        ),
    ],
)
def test_what_limits_the_certainty_is_the_largest_share(
    with_documents, documents, interaction, said
):
    """Topics have 13% and documents 4.3% in one case, where the interaction has 82%."""
    collection = with_documents["collection"]
    variance = collection.difference_variance
    other = replace(
        variance,
        documents=documents * variance.topics,
        interaction=interaction * variance.topics,
    )
    changed = replace(collection, difference_variance=other)
    assert share_sentence(with_collection(with_documents, changed)).endswith(said)


def test_a_difference_without_variance_is_not_shared_out(with_documents):
    variance = with_documents["collection"].difference_variance
    none = replace(
        variance,
        **dict.fromkeys(("topics", "documents", "interaction", "total"), 0.0 * variance.topics),
    )
    changed = replace(with_documents["collection"], difference_variance=none)
    assert share_sentence(with_collection(with_documents, changed)) == ""


def test_intervals_that_hold_far_less_often_for_a_run_are_reported():
    scores = scores_of(0.5, 0.6)
    values = scores.values.copy()
    values[:, 0, 0] = 0.0
    values[0, 0, 0] = 1.0
    rare = Scores(scores.topics, scores.runs, scores.measures, values)
    contents = gather_contents(rare, settings=Settings(method="t", replicates=499))
    said = concluded(contents, "coverage")
    assert not said.startswith("Yes")
    assert "far less often for one run, least for run0: " in said
    assert "39 of 40 topics score 0" in said


def test_verdicts_are_from_the_side_of_the_run_named():
    comparison = compare_runs(scores_of(0.3, 0.6, 0.2))
    assert comparison.verdicts_against(1) == {0: "better", 2: "better"}
    assert comparison.verdicts_against(2) == {0: "worse", 1: "worse"}


def test_names_in_other_scripts_keep_their_direction_to_themselves():
    assert isolated("bm25") == "bm25"
    assert isolated("\N{HEBREW LETTER ALEF}") == "\u2068\N{HEBREW LETTER ALEF}\u2069"
    said = answer(scores_of(0.3, 0.6, names=("a", "\N{HEBREW LETTER ALEF}1")))[0]
    assert said.startswith("\u2068\N{HEBREW LETTER ALEF}1\u2069 has the highest AP, ")


def with_gaps(values, names, topics=30):
    """Scores by AP where NaN says that a run lacks a topic."""
    return Scores(tuple(f"{t:02d}" for t in range(topics)), names, ("AP",), values[:, :, None])


@pytest.fixture(scope="module")
def favoured():
    """Run x has the easy half of the topics only, and loses to y on each of them."""
    rng = np.random.default_rng(3)
    easy = np.arange(30) < 15
    y = np.where(easy, 0.8, 0.2) + rng.normal(0, 0.01, 30)
    x = np.where(easy, y - 0.1 + rng.normal(0, 0.005, 30), np.nan)
    z = np.full(30, 0.1) + rng.normal(0, 0.01, 30)
    return with_gaps(np.stack([x, y, z], axis=1), ("x", "y", "z"))


def test_the_best_run_is_the_best_on_the_topics_that_all_runs_have(favoured):
    contents = gather_contents(favoured, settings=FAST)
    sentences = answer_sentences(contents)
    assert sentences[0].startswith(
        "y has the highest AP on the 15 topics that all runs have, "
        f"{favoured.mean()[1, 0]:.3f} over its 30 topics (95% confidence interval "
    )
    assert sentences[0].endswith(", and is the best of the 3 runs.")
    assert contents.measures[0]["ranks"][0.95].rank[:, 0].tolist() == [2, 1, 3]
    assert (
        "runs are ranked by AP on the 15 topics that all of them have, of 30" in contents.warnings
    )
    data = page_data(contents)["measures"][0]
    assert (data["order"], data["means"]["topics"]) == ([1, 0, 2], [15, 30, 30])
    assert (data["means"]["over"], data["means"]["rank"]) == ("15 to 30 topics", [2, 1, 3])
    table = board_table(contents.measures[0], FAST)
    assert [row[:2] for row in table.rows] == [
        (Cell("y", strong=True), Cell("30")),
        (Cell("x"), Cell("15")),
        (Cell("z"), Cell("30")),
    ]
    assert "over 15 to 30 topics" in table.note


def test_ranks_without_common_topics_are_left_out_and_say_so(favoured):
    values = favoured.values.copy()
    values[:15, 2] = np.nan
    contents = gather_contents(replace(favoured, values=values), settings=FAST)
    part = contents.measures[0]
    assert part["ranks"] is None
    assert part.left_out["ranks"] == "ranks by AP need 2 topics that all runs have; there are none"
    assert answer_sentences(contents)[0].startswith(
        "x has the highest AP, each over its own topics, 0."
    )
    assert page_data(contents)["measures"][0]["means"]["rank"] == [None, None, None]


def test_runs_without_common_topics_are_not_compared():
    rng = np.random.default_rng(2)
    values = np.clip(rng.normal([0.5, 0.3, 0.4], 0.02, (30, 3)), 0, 1)
    values[:, 2] = np.nan
    contents = gather_contents(with_gaps(values, ("a", "b", "none")), settings=FAST)
    sentences = answer_sentences(contents)
    assert sentences[0].endswith(", and is the best of the 2 runs.")
    assert sentences[1].startswith("1 of 3 pairs differs significantly")
    data = page_data(contents)
    pairs = data["measures"][0]["comparison"]
    assert pairs["held"][0] == 0
    words = [pairs["verdicts"][int(v)] for v in pairs["at"]["0.95"]["against"][0]]
    assert words[1:] == ["better", "not compared"]
    verdicts = [pairs["verdicts"][v] for v in pairs["at"]["0.95"]["verdict"]]
    assert verdicts == ["worse", "not compared", "not compared"]


def test_means_that_differ_by_rounding_are_the_same():
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 11, 30) / 10
    other = np.roll(grades, 7)
    moved = next(
        other for shift in range(1, 30) if (other := np.roll(grades, shift)).mean() != grades.mean()
    )
    scores = with_gaps(np.stack([grades, moved], axis=1), ("a", "b"))
    assert scores.mean()[0, 0] != scores.mean()[1, 0]
    assert re.search(
        "^[ab] and [ab] have the highest .*; each of the 2 runs may be the best",
        answer(scores)[0],
    )


def test_a_shared_best_mean_by_another_measure_is_no_other_run():
    scores = scores_of(0.6, 0.3, measures=("AP", "RR", "P@10"))
    values = scores.values.copy()
    values[:, 1, 1] = values[:, 0, 1]
    values[:, :, 2] = np.nan
    sentences = answer(Scores(scores.topics, scores.runs, scores.measures, values))
    assert "run0 also has the highest RR." in sentences
    assert not any("P@10" in sentence for sentence in sentences)


def test_a_measure_without_scores_has_no_best_run():
    values = np.full((30, 2), np.nan)
    assert answer(with_gaps(values, ("a", "b")))[0] == "No run has a score by AP."


def test_a_difference_that_only_the_correction_hides_is_called_so():
    rng = np.random.default_rng(12)
    runs = 12
    base = rng.normal(0.5, 0.1, (40, 1))
    values = base + rng.normal(0, 0.02, (40, runs))
    values[:, 1:] -= values[:, 1:].mean(axis=0) - 0.5
    values[:, 0] += 0.5 + 0.012 - values[:, 0].mean()
    contents = gather_contents(
        with_gaps(values, tuple(f"run{r:02d}" for r in range(runs)), 40), settings=FAST
    )
    said = concluded(contents, "plan")
    assert said.startswith("On its own, the difference between run00 and run")
    assert re.search(r"would be significant \(p = \.0\d", said)
    assert said.endswith("among all 66 pairs it is not.")


def test_headline_leaderboard_and_table_for_a_paper_have_the_confidence_set_of_find_best():
    scores = scores_of(0.3, 0.601, 0.6, 0.2, spread=0.05)
    contents = gather_contents(scores, settings=FAST)
    best = find_best(scores, replicates=FAST.replicates, rng=FAST.seed)
    members = {run for run, held in zip(best.runs, best.in_set[:, 0], strict=True) if held}
    assert members == {"run1", "run2"}
    assert "; 2 of the 4 runs may be the best." in answer_sentences(contents)[0]
    rows = board_table(contents.measures[0], FAST).rows
    assert {row[0].text for row in rows if row[-1].text == "yes"} == members
    shown = page_data(contents)["measures"][0]["best"]
    at = shown["at"]["0.95"]
    assert {
        run for run, digit in zip(scores.runs, at["in_set"], strict=True) if digit in "13"
    } == members
    numbers = zip(best.difference[:, 0], best.lower[:, 0], best.upper[:, 0], strict=True)
    texts = zip(shown["gap_text"], at["limits"], strict=True)
    for (gap, low, high), (gap_text, limits) in zip(numbers, texts, strict=True):
        assert gap_text == f"{gap:+.3f}".replace("-", "−")
        ends = [f"{end:+.3f}".replace("-", "−") if end else "0.000" for end in (low, high)]
        assert limits == f"[{', '.join(ends)}]"


def test_ranks_of_the_report_are_those_of_rank_runs():
    scores = scores_of(0.3, 0.4, 0.41, spread=0.1)
    contents = gather_contents(scores, settings=FAST)
    for level, shown in contents.measures[0]["ranks"].items():
        found = rank_runs(scores, level=level, replicates=FAST.replicates, rng=FAST.seed)
        assert shown.to_records() == found.to_records()


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_comparisons_of_the_report_are_those_of_compare_runs():
    """The report takes the replicates from the best run; a gap or a design has others."""
    plain = scores_of(0.3, 0.4, 0.41, 0.41, spread=0.1)
    plain.values[:, 3] = plain.values[:, 2]
    gap = plain.values.copy()
    gap[3, 1] = np.nan
    halves = {topic: f"{int(topic) // 2}" for topic in plain.topics}
    for scores in (plain, replace(plain, values=gap), plain.with_design(halves)):
        contents = gather_contents(scores, settings=FAST)
        for level, shown in contents.measures[0]["comparison"].items():
            found = compare_runs(scores, level=level, replicates=FAST.replicates, rng=FAST.seed)
            np.testing.assert_equal(shown.to_records(), found.to_records())


def test_the_set_leaves_out_runs_that_every_pair_cannot_separate():
    base = np.random.default_rng(5).normal(0.4, 0.1, (TOPICS, 1))
    noise = np.random.default_rng(6).normal(0, 0.03, (TOPICS, 9))
    noise -= noise.mean(axis=0) + np.where(np.arange(9) == 0, 0, 0.0185)
    scores = replace(scores_of(*[0.5] * 9), values=(base + noise)[:, :, None])
    contents = gather_contents(scores, settings=FAST)
    verdicts = contents.measures[0]["comparison"][0.95].verdicts_against(0)
    held = contents.measures[0]["best"].at[0.95].in_set[:, 0]
    left = sum(word == "inconclusive" and not held[run] for run, word in verdicts.items())
    assert left > 1
    said = answer(scores)[1]
    assert f" {left} runs are ruled out as the best, though inconclusive against " in said


def test_a_design_and_human_judgements_are_said_with_what_they_change():
    scores = scores_of(0.3, 0.6)
    halves = {topic: f"{int(topic) // 2}" for topic in scores.topics}
    said = answer(scores.with_design(halves))
    assert any(
        s.startswith("By the design, 40 topics in 20 clusters: as precise as ") for s in said
    )
    people = scores.select(topic=list(scores.topics[:15]))
    model = scores_of(0.8, 0.7, seed=2)
    judged = JudgedScores(people.topics, people.runs, people.measures, people.values, model=model)
    contents = gather_contents(judged, settings=FAST)
    lead, whose, *_ = answer_sentences(contents)
    assert lead.startswith("run1 has the highest AP, ")
    assert whose == (
        "Results estimate what human judgements of all 40 topics would give, from those of 15 and a "
        "model's of all."
    )
    bias = (model.select(topic=list(people.topics)).mean() - people.mean()).mean()
    said = concluded(contents, "human")
    assert f"means are {bias:.3f} too high on average over the runs; run0 has the highest" in said


def test_a_model_that_judges_as_humans_do_is_not_called_too_low():
    scores = scores_of(0.3, 0.6)
    people = scores.select(topic=list(scores.topics[:15]))
    judged = JudgedScores(people.topics, people.runs, people.measures, people.values, model=scores)
    said = concluded(gather_contents(judged, settings=FAST), "human")
    assert "means are neither too high nor too low on average over the runs" in said


def test_runs_without_common_topics_are_not_said_to_score_the_same(tmp_path):
    values = np.array([[[0.2], [np.nan]], [[0.4], [np.nan]], [[np.nan], [0.3]], [[np.nan], [0.6]]])
    scores = Scores(("1", "2", "3", "4"), ("a", "b"), ("AP",), values)
    contents = gather_contents(scores, settings=FAST)
    assert concluded(contents, "topics").startswith("b and a have no topic in common; hardest")
    page = write_report(tmp_path / "page.html", scores, replicates=99).read_text()
    assert "remarks about runs without an interval" in page
    assert "Runs with identical scores" not in page
