"""Agreement on grades: Cohen's κ, Krippendorff's α, confusion, and their intervals over topics."""

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix

import confir
from confir.errors import FormatError, InvalidValueError, TopicMismatchError, UnknownNameError
from confir.resampling.replicates import draw_topics
from confir.studies.judgements.grade_coefficients import cohen_kappa, ordinal_alpha
from confir.studies.judgements.judges import gather_judges, judge_name

GRADES = (0, 1, 2, 4)


def judged(seed, topics=6, documents=40, left_out=0.0):
    """Judgements at random that depend on the document, some of them missing."""
    rng = np.random.default_rng(seed)
    base = np.random.default_rng(99).integers(0, 4, (topics, documents))
    shift = rng.integers(-1, 2, base.shape)
    places = np.clip(base + shift * (rng.random(base.shape) < 0.5), 0, 3)
    there = rng.random(base.shape) >= left_out
    return {
        f"t{t}": {f"d{d}": GRADES[places[t, d]] for d in range(documents) if there[t, d]}
        for t in range(topics)
    }


def shared_grades(first, second):
    pairs = [(first[t][d], second[t][d]) for t in first for d in first[t] if d in second.get(t, {})]
    return np.array(pairs).T


@pytest.mark.parametrize("left_out", [0.0, 0.3])
def test_kappa_against_scikit_learn(left_out):
    first, second = judged(1, left_out=left_out), judged(2, left_out=left_out)
    found = confir.measure_agreement({"a": first, "b": second}, replicates=99, rng=1)
    a, b = shared_grades(first, second)
    assert found.documents.tolist() == [len(a)]
    assert found.kappa[0] == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
    weighted = cohen_kappa_score(a, b, weights="quadratic")
    assert found.weighted_kappa[0] == pytest.approx(weighted, abs=1e-12)
    assert found.same_grade[0] == pytest.approx(np.mean(a == b))
    expected = confusion_matrix(a, b, labels=GRADES)
    np.testing.assert_array_equal(found.confusion.documents[0], expected)


def reliability(judges):
    keys = sorted({(t, d) for one in judges for t in one for d in one[t]})
    return [[one[t].get(d, np.nan) for t, d in keys] for one in judges]


def test_alpha_against_krippendorff_for_pairs_and_for_all_judges():
    judges = [judged(seed, left_out=0.3) for seed in (1, 2, 3)]
    found = confir.measure_agreement(judges, replicates=99, rng=1)

    def alpha(chosen):
        return krippendorff.alpha(reliability(chosen), level_of_measurement="ordinal")

    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = [alpha([judges[a], judges[b]]) for a, b in pairs]
    np.testing.assert_allclose(found.krippendorff_alpha, expected, rtol=0, atol=1e-12)
    assert found.joint_alpha == pytest.approx(alpha(judges), abs=1e-12)
    assert found.pairs == (("judge1", "judge2"), ("judge1", "judge3"), ("judge2", "judge3"))


def test_limits_against_a_plain_jackknife_and_bootstrap_over_whole_topics():
    first, second = judged(1, topics=9), judged(2, topics=9)
    found = confir.measure_agreement([first, second], replicates=300, rng=4, level=0.9)
    topics = sorted(first)

    def kappa(chosen):
        columns = [shared_grades({t: first[t]}, {t: second[t]}) for t in chosen]
        return cohen_kappa_score(*np.concatenate(columns, axis=1), weights="quadratic")

    weights = draw_topics(9, 300, np.random.default_rng(4)).shares()
    counts = np.rint(weights * 9).astype(int)
    replicates = [kappa(np.repeat(topics, row)) for row in counts]
    left = np.array([kappa([t for t in topics if t != out]) for out in topics])
    se = max(np.sqrt(8 / 9 * np.sum((left - left.mean()) ** 2)), np.std(replicates, ddof=1))
    estimate = kappa(topics)
    centre = 2 * estimate - np.mean(replicates)
    half = stats.t.ppf(0.95, 8) * se
    assert found.weighted_kappa_low[0] == pytest.approx(centre - half, abs=1e-12)
    assert found.weighted_kappa_high[0] == pytest.approx(centre + half, abs=1e-12)


def test_limits_stay_within_what_a_coefficient_can_be():
    judges = [judged(1, topics=4, documents=5), judged(2, topics=4, documents=5)]
    found = confir.measure_agreement(judges, replicates=99, rng=1, level=0.999)
    assert found.kappa_low[0] == -1.0
    assert found.kappa_high[0] == 1.0


def test_documents_of_a_topic_are_drawn_together():
    """Topics on which judges agree or disagree throughout widen the interval."""
    same = {f"t{t}": {f"d{d}": d % 2 for d in range(30)} for t in range(20)}
    mixed = {t: dict(documents) for t, documents in same.items()}
    whole = {t: dict(documents) for t, documents in same.items()}
    for t in range(20):
        for d in range(30):
            if d % 4 < 2:
                mixed[f"t{t}"][f"d{d}"] = 1 - d % 2
            if t % 2:
                whole[f"t{t}"][f"d{d}"] = 1 - d % 2
    spread = [
        confir.measure_agreement([same, other], replicates=199, rng=1) for other in (mixed, whole)
    ]
    assert spread[0].same_grade[0] == pytest.approx(14 / 30)
    assert spread[1].same_grade[0] == pytest.approx(0.5)
    widths = [one.kappa_high[0] - one.kappa_low[0] for one in spread]
    assert not widths[0] > 0  # the same in every topic: no interval, rather than one of no length
    assert widths[1] > 0.8


def test_agreement_of_grades_that_do_not_vary_is_undefined():
    assert np.isnan(cohen_kappa(np.array([[5.0, 0.0], [0.0, 0.0]]), power=0))
    assert np.isnan(ordinal_alpha(np.array([[5.0, 0.0], [0.0, 0.0]])))


def test_specific_agreement_by_hand():
    first = {"1": {"a": 0, "b": 0, "c": 1}, "2": {"a": 1}}
    second = {"1": {"a": 0, "b": 1, "c": 1}, "2": {"a": 1}}
    found = confir.measure_agreement([first, second], replicates=9, rng=1).confusion
    assert found.documents.tolist() == [[[1, 1], [0, 2]]]
    # grade 0: twice 1 of 2 + 1 judgements; grade 1: twice 2 of 2 + 3
    np.testing.assert_allclose(found.specific_agreement, [[2 / 3, 4 / 5]])


def test_documents_that_one_judge_has_alone_are_counted():
    first = {"1": {"a": 0, "b": 1}, "2": {"a": 1, "x": 0}}
    second = {"1": {"a": 0}, "2": {"a": 1, "y": 0, "z": 0}}
    found = confir.measure_agreement([first, second], replicates=9, rng=1)
    counts = (found.documents, found.only_reference, found.only_judge)
    assert [int(one[0]) for one in counts] == [2, 2, 2]


def test_a_document_of_several_subtopics_has_its_highest_grade(tmp_path):
    path = tmp_path / "sub.qrels"
    path.write_text("1 a x 1\n1 b x 2\n1 a y 0\n2 a x 1\n", encoding="utf-8")
    plain = {"1": {"x": 2, "y": 0}, "2": {"x": 1}}
    assert confir.measure_agreement([path, plain], replicates=9, rng=1).same_grade[0] == 1.0


def test_different_grades_need_a_scale_or_a_map():
    graded, binary = (
        judged(1),
        {t: {d: int(g > 1) for d, g in j.items()} for t, j in judged(2).items()},
    )
    judges = {"people": graded, "model": binary}
    with pytest.raises(FormatError) as refused:
        confir.measure_agreement(judges, replicates=9)
    assert str(refused.value) == (
        "the judges use different grades: people 0, 1, 2, 4, model 0, 1; expected one scale: name it "
        "(grades=[0, 1, 2, 4], --grades 0,1,2,4) where equal grades mean the same, or map a judge's "
        "grades (grade_maps={'model': {0:0,1:4}}, --grades 'model=0:0,1:4')"
    )
    scaled = confir.measure_agreement(judges, grades=[0, 1, 2, 4], replicates=9, rng=1)
    assert scaled.confusion.judge_grades == GRADES
    to_binary = {"people": {0: 0, 1: 0, 2: 1, 4: 1}}
    mapped = confir.measure_agreement(judges, grade_maps=to_binary, replicates=9, rng=1)
    a, b = shared_grades(graded, binary)
    assert mapped.confusion.judge_grades == (0, 1)
    assert mapped.kappa[0] == pytest.approx(cohen_kappa_score(a > 1, b), abs=1e-12)
    spread = confir.measure_agreement(judges, grade_maps={"model": {0: 0, 1: 4}}, replicates=9)
    assert spread.confusion.judge_grades == GRADES  # a mapped judge need not use them all
    with pytest.raises(FormatError, match="different grades: people 0, 1, 2, 4, model 0, 3"):
        confir.measure_agreement(judges, grade_maps={"model": {0: 0, 1: 3}}, replicates=9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grades": [0, 1]}, "judge a gives the grades 2, 4, which are not among 0, 1"),
        ({"grade_maps": {"a": {0: 0, 1: 1, 2: 0, 4: 2}}}, "changes their order"),
        ({"grade_maps": {"a": {0: 0, 1: 1}}}, "lacks 2, 4"),
        ({"grade_maps": {"a": {0: 0, 1: 1, 2: "x", 4: 4}}}, "a grade is 'x'"),
    ],
)
def test_a_map_that_is_none_is_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        confir.measure_agreement({"a": judged(1), "b": judged(2)}, **options)


def test_a_map_for_an_unknown_judge_is_refused():
    with pytest.raises(UnknownNameError, match="unknown judge 'c'"):
        confir.measure_agreement({"a": judged(1), "b": judged(2)}, grade_maps={"c": {0: 0}})


def test_what_judges_do_not_share_is_an_error():
    here, there = {"1": {"a": 0, "b": 1}}, {"2": {"a": 0, "b": 1}}
    with pytest.raises(TopicMismatchError, match="no topic in common: judge1 has 1; judge2 has 2"):
        confir.measure_agreement([here, there])
    first = {"1": {"a": 0, "b": 1}, "2": {"a": 1}}
    second = {"1": {"c": 0, "d": 1}, "2": {"e": 1}}
    with pytest.raises(TopicMismatchError, match="no judged document in common"):
        confir.measure_agreement({"a": first, "b": second})
    with pytest.raises(InvalidValueError, match="one topic in common"):
        confir.measure_agreement([here, here])


@pytest.mark.parametrize("judges", [[], [{"1": {"a": 0}}]])
def test_fewer_than_two_judges_are_refused(judges):
    with pytest.raises(InvalidValueError, match=r"at least one|two or more"):
        confir.measure_agreement(judges)


def test_topics_that_some_judge_lacks_are_left_out_with_a_warning():
    first, second = judged(1), judged(2)
    del second["t3"]
    with pytest.warns(
        confir.errors.TopicWarning,
        match="the 5 topics that all of them judged; left out: 1 topic of a",
    ):
        found = gather_judges({"a": first, "b": second})
    assert found.topics == ("t0", "t1", "t2", "t4", "t5")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("nist.qrels", "nist"),
        ("x/qrels.nist.txt.gz", "nist"),
        ("qrels.txt", "qrels"),
        ("gpt-qrels.txt", "gpt"),
        ("qrels_b", "b"),
    ],
)
def test_judges_are_named_by_their_files(path, name):
    assert judge_name(path) == name


def test_two_judges_of_one_name_are_refused(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.qrels").write_text("1 0 d 1\n", encoding="utf-8")
    paths = [tmp_path / "x" / "a.qrels", tmp_path / "y" / "a.qrels"]
    with pytest.raises(InvalidValueError, match=r"two judges are named 'a'.*other="):
        gather_judges(paths)
    assert gather_judges([paths[0], f"b={paths[1]}"]).names == ("a", "b")
