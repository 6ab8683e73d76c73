"""Results of MTEB, lm-eval and EuroEval as means of models on datasets: which number is read under which name."""

import json
import warnings

import numpy as np
import pytest

import confir
from confir.data.formats.benchmark_results import (
    MAIN_SCORE,
    Wanted,
    benchmark_means,
    named_by_folders,
)
from confir.data.formats.format_list import FORMATS
from confir.data.formats.sources import recognise
from confir.errors import (
    ConfirError,
    FormatError,
    InputWarning,
    InvalidValueError,
    ReadingWarning,
    collect_warnings,
)
from foreign_files import (
    MEANS,
    SCORES,
    WRONG_VALUES,
    euroeval_line,
    lm_eval_results,
    old_mteb_results,
    places,
    with_value,
)


def results_in(path):
    content = path.read_bytes()
    return list(recognise(str(path), content).read_results(content, str(path)))


def write(path, held):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(held if isinstance(held, str) else json.dumps(held))
    return path


def mteb(task, *, version="2.1.0", revision="r", **splits):
    """Results of a task; splits hold subset → scores, or scores of the one subset."""
    held = {}
    for split, subsets in splits.items():
        several = any(isinstance(one, dict) for one in subsets.values())
        parts = subsets if several else {"default": subsets}
        held[split] = [{"hf_subset": s, "languages": [], **one} for s, one in parts.items()]
    return {
        "dataset_revision": revision,
        "task_name": task,
        "mteb_version": version,
        "scores": held,
    }


@pytest.fixture
def models(tmp_path):
    """Write the results of two models by task; return what is read of them."""

    def make(*tasks, a=None, b=None):
        found = []
        for name, held in {"a": a or tasks, "b": b or tasks}.items():
            write(tmp_path / name / "model_meta.json", {"name": f"org/{name}"})
            for number, one in enumerate(held):
                found += results_in(write(tmp_path / name / f"{number}.json", one))
        return found

    return make


RETRIEVAL = {"ndcg_at_10": 0.3, "recall_at_100": 0.9, "map_at_10": 0.2, "main_score": 0.3}
CLASSES = {"accuracy": 0.7, "f1": 0.6, "ap": 0.55, "main_score": 0.7}
BITEXT = {"de-en": {"f1": 0.9, "main_score": 0.9}, "fr-en": {"f1": 0.7, "main_score": 0.7}}


def test_a_measure_is_read_by_its_key_and_not_as_the_main_score(models):
    found = models(mteb("A", test=RETRIEVAL), mteb("B", test={**RETRIEVAL, "recall_at_100": 0.5}))
    means = benchmark_means(found, Wanted(("R@100",)))
    assert means.scores.measures == ("R@100",)
    assert means.scores.values[:, 0, 0].tolist() == [0.9, 0.5]


def test_a_measure_that_a_task_lacks_is_refused_with_the_names_of_these_tasks(models):
    found = models(mteb("A", test=RETRIEVAL), mteb("B", test=CLASSES), mteb("C", test=BITEXT))
    with pytest.raises(FormatError, match=r"no measure 'R@100' on 2 datasets \(B, C\)"):
        benchmark_means(found, Wanted(("R@100",)))
    with pytest.raises(
        InvalidValueError, match=r"no result by 'foo'; expected one of nDCG@10, R@100"
    ):
        benchmark_means(found, Wanted(("foo",)))
    with pytest.warns(InputWarning, match=r"no measure 'R@100' on 2 datasets \(B, C\): left out"):
        means = benchmark_means(found, Wanted(("R@100",), drop_datasets=True))
    assert means.scores.topics == ("A",)


def test_average_precision_of_a_classifier_is_not_that_of_rankings(models):
    """MTEB's keys: map of rerankings is the mean of AP, ap of classifications that of a classifier."""
    reranked = {"map": 0.4, "mrr": 0.6, "main_score": 0.4}
    found = models(mteb("A", test=reranked), mteb("B", test=CLASSES))
    with pytest.raises(FormatError, match=r"no measure 'AP' on 1 dataset \(B\)"):
        benchmark_means(found, Wanted(("AP",)))
    with pytest.raises(FormatError, match=r"no measure 'ap' on 1 dataset \(A\)"):
        benchmark_means(found, Wanted(("ap", "AP")))


def test_main_scores_have_the_name_of_their_measure_where_it_is_one(models):
    means = benchmark_means(models(mteb("A", test=RETRIEVAL), mteb("B", test=RETRIEVAL)), Wanted())
    assert (means.scores.measures, means.main_measures()) == (("nDCG@10",), {})
    means = benchmark_means(
        models(mteb("A", test=RETRIEVAL), mteb("B", test=CLASSES), mteb("C", test=BITEXT)),
        Wanted(),
    )
    assert means.scores.measures == (MAIN_SCORE,)
    assert means.main_measures() == {"A": "nDCG@10", "B": "accuracy", "C": "f1"}


def test_a_main_score_is_named_by_the_measure_that_it_has_for_all_models(models):
    """One model's f1 and accuracy are the same: the other's tell which is the main score."""
    same = {"f1": 0.7, "accuracy": 0.7, "main_score": 0.7}
    other = {"f1": 0.6, "accuracy": 0.8, "main_score": 0.6}
    means = benchmark_means(models(a=[mteb("A", test=same)], b=[mteb("A", test=other)]), Wanted())
    assert means.scores.measures == ("f1",)
    unlike = models(a=[mteb("A", test=CLASSES)], b=[mteb("A", test=RETRIEVAL)])
    assert benchmark_means(unlike, Wanted()).scores.measures == (MAIN_SCORE,)


def test_subsets_are_part_of_their_task(models):
    means = benchmark_means(models(mteb("A", test=RETRIEVAL), mteb("C", test=BITEXT)), Wanted())
    assert means.scores.topics == ("A", "C")
    np.testing.assert_allclose(means.scores.values[:, 0, 0], [0.3, (0.9 + 0.7) / 2])
    chosen = benchmark_means(models(mteb("C", test=BITEXT)), Wanted(subset="de-en"))
    assert chosen.scores.values.ravel().tolist() == [0.9, 0.9]
    with pytest.raises(FormatError, match=r"no subset 'de-en' on 1 dataset \(A\)"):
        benchmark_means(
            models(mteb("A", test=RETRIEVAL), mteb("C", test=BITEXT)), Wanted(subset="de-en")
        )


def test_a_model_without_some_subsets_has_no_score_on_the_task(models):
    part = {"de-en": BITEXT["de-en"]}
    found = models(
        a=[mteb("A", test=RETRIEVAL), mteb("C", test=BITEXT)],
        b=[mteb("A", test=RETRIEVAL), mteb("C", test=part)],
    )
    with pytest.warns(
        InputWarning, match=r"no score on C where subsets are missing: org/b \(fr-en\)"
    ):
        means = benchmark_means(found, Wanted())
    assert np.isnan(means.scores.values[1, :, 0]).tolist() == [False, True]


def test_the_test_split_is_read_where_there_is_one(models):
    low = {**RETRIEVAL, "main_score": 0.1, "ndcg_at_10": 0.1}
    found = models(mteb("A", validation=low, test=RETRIEVAL), mteb("M", dev=low))
    with pytest.warns(ReadingWarning, match=r"splits that are not read: validation of A \(--split"):
        means = benchmark_means(found, Wanted())
    assert means.scores.topics == ("A", "M")  # never a second dataset
    assert means.scores.values[:, 0, 0].tolist() == [0.3, 0.1]
    with pytest.raises(FormatError, match=r"no split 'validation' on 1 dataset \(M\)"):
        benchmark_means(found, Wanted(split="validation"))
    with collect_warnings() as warned:
        means = benchmark_means(found, Wanted(split="validation", drop_datasets=True))
    assert [message for message, _ in warned] == [
        "no split 'validation' on 1 dataset (M): left out",
        "splits that are not read: test of A (--split names the one to read)",
    ]
    assert means.scores.values.ravel().tolist() == [0.1, 0.1]


def test_without_a_test_split_the_mean_is_over_all_splits_and_said(models):
    found = models(mteb("L", short={"main_score": 0.2}, long={"main_score": 0.4}))
    with pytest.warns(InputWarning, match=r"means over several splits, .*: L \(short, long\)"):
        means = benchmark_means(found, Wanted())
    np.testing.assert_allclose(means.scores.values.ravel(), [0.3, 0.3])


def test_a_model_without_the_split_has_no_score(models):
    found = models(a=[mteb("A", test=RETRIEVAL)], b=[mteb("A", validation=RETRIEVAL)])
    found += models(mteb("B", test=RETRIEVAL))
    with pytest.warns(ReadingWarning, match="splits that are not read: validation of A"):
        means = benchmark_means(found, Wanted())
    assert np.isnan(means.scores.values[:, :, 0]).tolist() == [[False, True], [False, False]]


def test_two_revisions_of_a_model_are_refused_and_of_a_dataset_warned_of(models):
    found = models(mteb("A", test=RETRIEVAL))
    with pytest.raises(
        FormatError, match=r"a second result of 'org/a' on A, split 'test'.*one revision"
    ):
        benchmark_means([*found, found[0]], Wanted())
    found = models(
        a=[mteb("A", test=RETRIEVAL, revision="x")], b=[mteb("A", test=RETRIEVAL, revision="y")]
    )
    with pytest.warns(InputWarning, match="different revisions of A: their scores need not be"):
        benchmark_means(found, Wanted())


def test_a_main_score_that_is_not_defined_is_missing(models):
    undefined = {"ndcg_at_10": 0.3, "main_score": None}
    found = models(
        a=[mteb("A", test=RETRIEVAL), mteb("B", test=RETRIEVAL)],
        b=[mteb("A", test=undefined), mteb("B", test=RETRIEVAL)],
    )
    means = benchmark_means(found, Wanted())
    assert means.scores.measures == ("nDCG@10",)
    assert np.isnan(means.scores.values[:, :, 0]).tolist() == [[False, True], [False, False]]


OLD = {
    "Retrieval": ({"ndcg_at_10": 0.3, "map_at_10": 0.2, "recall_at_100": 0.9}, "nDCG@10", 0.3),
    "Reranking": ({"map": 0.4, "mrr": 0.6}, "AP", 0.4),
    "Clustering": (
        {"v_measure": 0.35, "v_measure_std": 0.01, "v_measures": {"Level 0": [0.3, 0.4]}},
        "v_measure",
        0.35,
    ),
    "STS": (
        {
            "cos_sim": {"pearson": 0.7, "spearman": 0.8},
            "euclidean": {"pearson": 0.6, "spearman": 0.5},
            "manhattan": {"pearson": 0.6, "spearman": 0.55},
        },
        "cosine_spearman",
        0.8,
    ),
    "Summarization": (
        {"cos_sim": {"spearman": 0.3, "pearson": 0.2}, "dot": {"spearman": 0.31, "pearson": 0.2}},
        "cosine_spearman",
        0.3,
    ),
    "PairClassification": (
        {
            "cos_sim": {"ap": 0.8, "f1": 0.7, "accuracy": 0.9},
            "dot": {"ap": 0.85, "f1": 0.6, "accuracy": 0.9},
            "max": {"ap": 0.85, "f1": 0.7, "accuracy": 0.9},
        },
        "max_ap",
        0.85,
    ),
    "MultilabelClassification": (
        {"accuracy": 0.4, "f1": 0.5, "lrap": 0.6, "main_score": 0.6},
        "lrap",
        0.6,
    ),
    "Classification": ({"accuracy": 0.7, "f1": 0.6, "ap": 0.5, "main_score": 0.7}, "accuracy", 0.7),
}


@pytest.mark.parametrize("kind", OLD)
def test_results_before_1_11_are_read_and_said_to_be_old(tmp_path, kind):
    held, measure, score = OLD[kind]
    for number, splits in enumerate(({"test": held}, {"test": {"en": held, "de": held}})):
        path = write(tmp_path / "org__m" / f"{number}.json", old_mteb_results(kind, **splits))
        with pytest.warns(InputWarning, match="the old format of MTEB before 1.11"):
            means = benchmark_means(named_by_folders(results_in(path)), Wanted())
        assert (means.scores.runs, means.scores.topics) == (("org__m",), (kind,))
        assert means.scores.measures == (measure,)
        assert means.scores.values.item() == score


def test_old_results_without_any_main_score_are_refused(tmp_path):
    path = write(tmp_path / "T.json", old_mteb_results("T", test={"nobody_knows": 0.3}))
    with pytest.raises(FormatError, match="subset 'default' of split 'test' lacks 'main_score'"):
        results_in(path)


def test_models_without_a_name_have_that_of_their_folder_above_revisions(tmp_path):
    revision = "0" * 40
    found = []
    for folder in (f"org__a/{revision}", "b", f"org__c/{revision}", "org__c/external"):
        found += results_in(
            write(tmp_path / folder / f"{len(found)}.json", mteb("A", test=CLASSES))
        )
    write(tmp_path / f"org__c/{revision}/model_meta.json", {"name": "org/c"})
    found[2:3] = results_in(tmp_path / f"org__c/{revision}/2.json")
    assert [one.run for one in named_by_folders(found)] == ["org__a", "b", "org/c", "org/c"]


def test_evaluate_has_one_topic_per_task_whatever_its_subsets(tmp_path):
    files = [
        write(tmp_path / "m" / "A.json", mteb("A", test=RETRIEVAL)),
        write(tmp_path / "m" / "C.json", mteb("C", test=BITEXT)),
    ]
    with pytest.warns(
        InputWarning, match=r"stand for topics \(main_score is nDCG@10 of A; f1 of C\)"
    ):
        scores = confir.read_scores(files)
    assert (scores.runs, scores.topics, scores.measures) == (("m",), ("A", "C"), (MAIN_SCORE,))
    np.testing.assert_allclose(scores.values.ravel(), [0.3, 0.8])


def test_a_file_of_one_task_has_mtebs_own_mean_over_splits_and_subsets(tmp_path):
    halves = {"en": {"main_score": 0.5}, "de": {"main_score": 0.1}}
    path = write(tmp_path / "C.json", mteb("C", test=BITEXT, validation=halves))
    with collect_warnings() as warned:
        scores = confir.read_scores(path)
    assert "means over several splits, as MTEB has them: C (test, validation)" in warned[0][0]
    assert scores.values.item() == pytest.approx((0.9 + 0.7 + 0.5 + 0.1) / 4)


def test_results_of_lm_eval_are_means_of_tasks(tmp_path):
    held = lm_eval_results("org/m", t1={"acc": 0.5}, t2={"acc": 0.25})
    means = benchmark_means(results_in(write(tmp_path / "r.json", held)), Wanted())
    assert (means.scores.runs, means.scores.topics) == (("org/m",), ("t1", "t2"))
    assert (means.scores.measures, means.scores.values.ravel().tolist()) == (("acc",), [0.5, 0.25])
    with pytest.raises(FormatError, match=r"means of tasks, .* or confir leaderboard --means"):
        confir.read_scores(tmp_path / "r.json")


def test_lm_evals_several_metrics_are_to_be_named(tmp_path):
    held = lm_eval_results("m", t1={"acc": 0.5, "acc_norm": 0.6}, t2={"acc": 0.25})
    found = results_in(write(tmp_path / "r.json", held))
    with pytest.raises(FormatError, match=r"t1 has 2 measures \(acc, acc_norm\).*expected -m"):
        benchmark_means(found, Wanted())
    assert benchmark_means(found, Wanted(("acc",))).scores.values.ravel().tolist() == [0.5, 0.25]
    with pytest.raises(FormatError, match=r"no measure 'acc_norm' on 1 dataset \(t2\)"):
        benchmark_means(found, Wanted(("acc_norm",)))


def test_filters_are_part_of_the_metric_where_there_are_several(tmp_path):
    held = lm_eval_results("m", t1={"em": 0.5})
    held["results"]["t1"] |= {"em,strict": 0.1, "em_stderr,strict": 0.01}
    (one,) = results_in(write(tmp_path / "r.json", held))
    assert one.scores == {"em,none": 0.5, "em,strict": 0.1}


def test_subtasks_of_lm_eval_are_part_of_their_group_where_that_has_a_mean(tmp_path):
    tasks = {"mmlu": {"acc": 0.5}, "s1": {"acc": 0.4}, "s2": {"acc": 0.6}, "x": {"acc": 0.1}}
    held = lm_eval_results("m", groups={"mmlu": ["s1", "s2"]}, **tasks)
    assert [one.dataset for one in results_in(write(tmp_path / "r.json", held))] == ["mmlu", "x"]
    tasks["mmlu"] = {}
    held = lm_eval_results("m", groups={"mmlu": ["s1", "s2"]}, **tasks)
    assert [one.dataset for one in results_in(write(tmp_path / "r.json", held))] == [
        "s1",
        "s2",
        "x",
    ]


def test_old_results_of_lm_eval_name_the_model_in_its_arguments(tmp_path):
    held = {
        "results": {"t1": {"acc": 0.5, "acc_stderr": 0.1}},
        "versions": {"t1": 0},
        "config": {"model": "hf-causal", "model_args": "pretrained=org/m,use_accelerate=True"},
    }
    (one,) = results_in(write(tmp_path / "r.json", held))
    assert (one.run, one.dataset, one.scores) == ("org/m", "t1", {"acc": 0.5})


def test_lines_of_euroeval_are_means_of_datasets(tmp_path):
    lines = (
        euroeval_line("a", "d1", mcc=50.0, macro_f1=60.0)
        + euroeval_line("a", "d2", em=20.0, f1=30.0)
        + euroeval_line("a", "speed", task="speed", speed=7000.0)
    )
    with pytest.warns(InputWarning, match="speed is left out, which is no dataset"):
        found = results_in(write(tmp_path / "e.jsonl", lines))
    means = benchmark_means(found, Wanted())
    assert means.scores.topics == ("d1", "d2")
    assert means.scores.values.ravel().tolist() == [50.0, 20.0]
    assert means.main_measures() == {"d1": "mcc", "d2": "em"}
    with pytest.raises(FormatError, match="or confir leaderboard --means"):
        confir.read_scores(tmp_path / "e.jsonl")


def test_variants_of_a_model_in_euroeval_are_runs_and_validation_is_a_split(tmp_path):
    lines = euroeval_line("a", "d1", mcc=50.0) + euroeval_line("a", "d1", few_shot=False, mcc=40.0)
    found = results_in(write(tmp_path / "e.jsonl", lines))
    assert [one.run for one in found] == ["a (few-shot)", "a (zero-shot)"]
    lines = euroeval_line("a", "d1", mcc=50.0) + euroeval_line("b", "d1", val=True, mcc=40.0)
    lines += euroeval_line("b", "d2", mcc=40.0) + euroeval_line("a", "d2", mcc=45.0)
    with pytest.warns(ReadingWarning, match="splits that are not read: val of d1"):
        means = benchmark_means(results_in(write(tmp_path / "e.jsonl", lines)), Wanted())
    assert means.scores.runs == ("a", "b")
    assert np.isnan(means.scores.values[:, :, 0]).tolist() == [[False, True], [False, False]]


def test_results_of_real_models_have_mtebs_scores(real_data):
    folder = real_data / "intake" / "mteb-folder-board" / "results"
    found = []
    for path in sorted(folder.rglob("*.json")):
        if path.name != "model_meta.json":
            found += results_in(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # BUCC has two revisions there
        means = benchmark_means(found, Wanted())
        recall = benchmark_means(found, Wanted(("R@100",), drop_datasets=True)).scores
    assert means.main_measures() == {
        "ArguAna": "nDCG@10",
        "AskUbuntuDupQuestions": "AP",
        "BUCC": "f1",
        "Banking77Classification": "accuracy",
    }
    macro = dict(zip(means.scores.runs, means.scores.mean()[:, 0].tolist(), strict=True))
    assert macro["intfloat/multilingual-e5-large"] == pytest.approx(0.718097, abs=1e-6)
    assert recall.topics == ("ArguAna",)
    assert dict(zip(recall.runs, recall.values.ravel().tolist(), strict=True)) == {
        "intfloat/multilingual-e5-large": 0.97653,
        "intfloat/multilingual-e5-small": 0.91323,
    }


@pytest.mark.parametrize("kind", [*MEANS, "MTEB results"])
def test_whatever_stands_in_a_file_there_is_a_mean_or_one_sentence(kind):
    name, text = (MEANS | SCORES)[kind]
    held = json.loads(text)
    read = next(one for one in FORMATS if one.name == kind).read_results
    said = []
    for place in places(held):
        for value in (*WRONG_VALUES, -1, {"a": {"b": 1}}, [{}], 10**400):
            content = json.dumps(with_value(held, place, value)).encode()
            try:
                with collect_warnings():
                    benchmark_means(list(read(content, name)), Wanted())
            except ConfirError as error:
                said.append(str(error))
    assert said
    assert not any("\n" in one for one in said)


def test_scores_that_are_nan_are_not_defined(tmp_path):
    undefined = lm_eval_results("m", t1={"acc": 0.5, "acc_norm": float("nan")})
    (one,) = results_in(write(tmp_path / "r.json", undefined))
    assert one.scores == {"acc": 0.5}
    lines = euroeval_line("a", "d1", mcc=50.0).replace("1.96", "NaN")
    (one,) = results_in(write(tmp_path / "e.jsonl", lines))
    assert one.scores == {"mcc": 50.0}
