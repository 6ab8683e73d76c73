"""Graded measures against NTCIREVAL: its own outputs, and those of pyNTCIREVAL.

NTCIREVAL gives each level a grade, which is a gain map here. Its stop probability is the grade over
the highest grade + 1, which is (2^g - 1)/2^gmax for g = log2(1 + 2^gmax · stop).
"""

import json
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyNTCIREVAL.metrics import AP, ERR, RBP, MSnDCG, QMeasure, nERR

import confir
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from strategies import collections, examples

GMAX = 5
VALIDATION = Path(__file__).parents[2] / "validation"
SCRIPT = runpy.run_path(str(VALIDATION / "ntcireval_values.py"))
STORED = json.loads(
    (VALIDATION / "reference_values" / "ntcireval.json").read_text(encoding="utf-8")
)
DECIMALS = 0.5e-4 + 1e-9  # it prints four


def gain_map(grades):
    return ",".join(f"{level}:{grade!r}" for level, grade in enumerate(grades, start=1))


def stop_map(grades):
    return gain_map([math.log2(1 + 2**GMAX * grade / (grades[-1] + 1)) for grade in grades])


def pairs(counts, grades):
    """Return (NTCIREVAL's measure, ours) for a topic with so many documents of each level."""
    gains, stops = gain_map(grades), stop_map(grades)
    shares = gain_map([grade / grades[-1] for grade in grades])
    cut = [
        pair
        for cutoff in (1, 3, 20)
        for pair in (
            (QMeasure(counts, grades, 1, cutoff), f"Q(gains='{gains}')@{cutoff}"),
            (QMeasure(counts, grades, 0.5, cutoff), f"Q(beta=0.5,gains='{gains}')@{cutoff}"),
            (nERR(counts, grades, cutoff), f"nERR(gmax={GMAX},gains='{stops}')@{cutoff}"),
            (MSnDCG(counts, grades, cutoff), f"nDCG(gains='{gains}')@{cutoff}"),
        )
    ]
    return [
        *cut,
        (QMeasure(counts, grades, 1), f"Q(gains='{gains}')"),
        (QMeasure(counts, grades, 0), f"Q(beta=0,gains='{gains}')"),
        (AP(counts, grades), "AP"),
        (ERR(counts, grades), f"ERR(gmax={GMAX},gains='{stops}')"),
        (RBP(counts, grades, 0.85), f"RBP(p=0.85,gains='{shares}')"),
    ]


def level_counts(judged, highest):
    """Return how many judged documents each level has; negative gains are none of them."""
    return [sum(gain == level for gain in judged.values()) for level in range(highest + 1)]


@pytest.mark.parametrize("grades", [[1, 2], [1, 3], [2, 7]])
def test_real_data_against_ntcireval(real_data, grades):
    folder = real_data / "trec-covid-r5"
    qrels = read_qrels(folder / "qrels.txt")
    run = read_run(folder / "runs" / "covidex.r5.1s.xz")
    # Its Q takes time quadratic in the length of the list.
    rankings = JudgedPositions(qrels).rank(run).cut(60)
    for number, topic in list(enumerate(qrels.topics))[::5]:
        judged = qrels[topic]
        ranked = [(document, max(judged.get(document, 0), 0)) for document, _ in run[topic][:60]]
        for theirs, ours in pairs(level_counts(judged, 2), grades):
            score = parse_measure(ours)(rankings)[0, number, 0]
            assert score == pytest.approx(theirs.compute(ranked), abs=1e-12), (topic, ours)


@given(
    collection=collections(topics=1, runs=1, lowest=0, highest=3),
    grades=st.sampled_from([[1, 2, 3], [1, 3, 7], [4, 5, 9]]),
)
@examples(40)
def test_small_lists_against_ntcireval(collection, grades):
    plain = collection.plain_list(0, "00")
    assume(plain.count_relevant() > 0)
    assume(plain.ranked)
    ranked = [(document, plain.gains.get(document, 0)) for document in plain.ranked]
    rankings = collection.rankings()
    for theirs, ours in pairs(level_counts(plain.gains, 3), grades):
        score = parse_measure(ours)(rankings)[0, 0, 0]
        assert score == pytest.approx(float(theirs.compute(ranked)), abs=1e-12), ours


def test_q_with_beta_0_is_average_precision(real_data):
    folder = real_data / "trec-covid-r5"
    positions = JudgedPositions(read_qrels(folder / "qrels.txt"))
    rankings = positions.rank(read_run(folder / "runs" / "covidex.r5.1s.xz"))
    np.testing.assert_allclose(
        parse_measure("Q(beta=0)")(rankings), parse_measure("AP")(rankings), rtol=0, atol=1e-15
    )


def stored_scores(part, name):
    """Return what NTCIREVAL printed for a measure, by topic."""
    return [scores[name] for scores in STORED[part].values()]


def runs_of(lists):
    return {
        "run": {
            topic: {one: -rank for rank, one in enumerate(listed)}
            for topic, listed in lists.items()
        }
    }


def test_ranked_retrieval_against_outputs_of_ntcireval():
    qrels, lists = SCRIPT["collection"]()
    grades = [1, 3, 7]
    gains, stops = gain_map(grades), stop_map(grades)
    shares = gain_map([grade / grades[-1] for grade in grades])
    names = {
        "AP": "AP",
        "RR": "RR",
        "Q-measure": f"Q(gains='{gains}')",
        "ERR": f"ERR(gmax={GMAX},gains='{stops}')",
        "RBP": f"RBP(p=0.95,gains='{shares}')",
    }
    for cutoff in SCRIPT["CUTOFFS"]:
        names |= {
            f"P@{cutoff:04}": f"P@{cutoff}",
            f"Hit@{cutoff:04}": f"Success@{cutoff}",
            f"AP@{cutoff:04}": f"Q(beta=0)@{cutoff}",  # over min(R, k), as there
            f"Q@{cutoff:04}": f"Q(gains='{gains}')@{cutoff}",
            f"MSnDCG@{cutoff:04}": f"nDCG(gains='{gains}')@{cutoff}",
            f"ERR@{cutoff:04}": f"ERR(gmax={GMAX},gains='{stops}')@{cutoff}",
            f"nERR@{cutoff:04}": f"nERR(gmax={GMAX},gains='{stops}')@{cutoff}",
            f"RBP@{cutoff:04}": f"RBP(p=0.95,gains='{shares}')@{cutoff}",
        }
    scores = confir.evaluate(qrels, runs_of(lists), list(names.values()))
    for theirs, ours in names.items():
        expected = stored_scores("ranked", theirs)
        found = scores.select(measure=ours).values.ravel()
        np.testing.assert_allclose(found, expected, rtol=0, atol=DECIMALS, err_msg=theirs)


def test_diversified_retrieval_against_outputs_of_ntcireval(tmp_path):
    _, lists = SCRIPT["collection"]()
    lines, shares = [], []
    for topic, by_intent in SCRIPT["intents"]().items():
        shares += [f"{topic} {intent} {share}" for intent, share in SCRIPT["PROBABILITIES"].items()]
        for intent, levels in by_intent.items():
            lines += [f"{topic} {intent} {one} {level}" for one, level in levels.items()]
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "intents.txt").write_text("\n".join(shares) + "\n")
    qrels = read_qrels(tmp_path / "qrels.txt", intents=tmp_path / "intents.txt")
    for cutoff in SCRIPT["CUTOFFS"]:
        covered = np.array(stored_scores("diverse", f"I-rec@{cutoff:04}"))
        gained = np.array(stored_scores("diverse", f"MSnDCG@{cutoff:04}"))
        expected = {"IRec": covered, "D_nDCG": gained, "DS_nDCG": (covered + gained) / 2}
        measures = [f"{name}@{cutoff}" for name in expected]
        found = confir.evaluate(qrels, runs_of(lists), measures).values[:, 0, :]
        np.testing.assert_allclose(
            found, np.stack(list(expected.values()), 1), rtol=0, atol=DECIMALS
        )
