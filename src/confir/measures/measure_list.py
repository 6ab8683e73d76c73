"""The catalogue of measures: MEASURES."""

from __future__ import annotations

from confir.measures import (
    binary,
    difference_bounds,
    diversity,
    graded,
    score_bounds,
    tied_scores,
)
from confir.measures.measure import Definition

# Why some measures have no bounds over completions of the judgements.
_RATIO = "its numerator and denominator both move, and no rule for their ratio is known"
_IDEAL = "its ideal list changes with every judgement, and no rule for the ratio is known"
_SUBTOPICS = "a document may serve any set of subtopics"

_ALL = (
    Definition(
        "AP",
        binary.average_precision,
        synonyms=("map", "map_cut", "average_precision"),
        bounds=score_bounds.average_precision_bounds,
        tied=tied_scores.expected_average_precision,
    ),
    Definition(
        "P",
        binary.precision,
        synonyms=("precision",),
        bounds=score_bounds.monotone_bounds,
        differences=difference_bounds.linear_differences,
        tied=binary.precision,
    ),
    Definition(
        "R",
        binary.recall,
        synonyms=("recall",),
        bounds=score_bounds.recall_bounds,
        differences=difference_bounds.recall_differences,
        tied=binary.recall,
    ),
    Definition(
        "Rprec",
        binary.r_precision,
        synonyms=("R-prec", "r-precision"),
        bounds="its cutoff moves with the number of relevant documents",
        tied=binary.r_precision,
    ),
    Definition(
        "RR",
        binary.reciprocal_rank,
        synonyms=("recip_rank", "mrr"),
        bounds=score_bounds.monotone_bounds,
        differences=difference_bounds.reciprocal_differences,
        tied=tied_scores.expected_reciprocal,
    ),
    Definition(
        "nDCG",
        graded.ndcg,
        synonyms=("ndcg", "ndcg_cut"),
        bounds=score_bounds.ndcg_bounds,
        differences=difference_bounds.ndcg_differences,
        tied=graded.ndcg,
    ),
    Definition(
        "ERR",
        graded.expected_reciprocal_rank,
        bounds=score_bounds.monotone_bounds,
        tied=tied_scores.expected_err,
    ),
    Definition(
        "nERR", graded.normalised_err, bounds=_IDEAL, tied=tied_scores.expected_normalised_err
    ),
    Definition(
        "RBP",
        graded.rank_biased_precision,
        in_gains=True,
        bounds=score_bounds.residual_bounds,
        differences=difference_bounds.residual_differences,
        tied=graded.rank_biased_precision,
    ),
    Definition(
        "rbp",
        graded.relative_rbp,
        bounds="its gains are relative to the topic's highest, which a judgement may raise",
        tied=graded.relative_rbp,
    ),
    Definition(
        "Q",
        graded.q_measure,
        synonyms=("Q-measure",),
        bounds=_IDEAL,
        tied=tied_scores.expected_q_measure,
    ),
    Definition(
        "Bpref",
        binary.binary_preference,
        needs="judged",
        synonyms=("bpref",),
        bounds=_RATIO,
        tied=tied_scores.expected_preference,
    ),
    Definition(
        "Success",
        binary.success,
        synonyms=("success", "hit_rate"),
        bounds=score_bounds.monotone_bounds,
        differences=difference_bounds.success_differences,
        tied=tied_scores.expected_success,
    ),
    Definition(
        "Judged",
        binary.judged_share,
        needs="judged",
        bounds="it is the share of judged documents itself",
        tied=binary.judged_share,
    ),
    Definition(
        "alpha_nDCG",
        diversity.alpha_ndcg,
        needs="subtopics",
        synonyms=("α_nDCG", "alpha-nDCG"),
        bounds=_SUBTOPICS,
    ),
    Definition(
        "ERR_IA", diversity.err_ia, needs="subtopics", synonyms=("ERR-IA",), bounds=_SUBTOPICS
    ),
    Definition(
        "nERR_IA",
        diversity.normalised_err_ia,
        needs="subtopics",
        synonyms=("nERR-IA",),
        bounds=_SUBTOPICS,
    ),
    Definition(
        "StRecall",
        diversity.subtopic_recall,
        needs="intents",
        synonyms=("IRec", "strec"),
        bounds=_SUBTOPICS,
    ),
    Definition(
        "D_nDCG", diversity.d_ndcg, needs="intents", synonyms=("D-nDCG",), bounds=_SUBTOPICS
    ),
    Definition(
        "DS_nDCG",
        diversity.d_sharp_ndcg,
        needs="intents",
        synonyms=("D#-nDCG", "D♯-nDCG", "D#_nDCG"),
        bounds=_SUBTOPICS,
    ),
    Definition(
        "NumRet",
        binary.count_retrieved,
        counts=True,
        synonyms=("num_ret",),
        bounds=score_bounds.monotone_bounds,
        tied=binary.count_retrieved,
    ),
    Definition(
        "NumRel",
        binary.count_relevant,
        counts=True,
        synonyms=("num_rel",),
        bounds=score_bounds.monotone_bounds,
        tied=binary.count_relevant,
    ),
    Definition(
        "NumRelRet",
        binary.count_relevant_retrieved,
        counts=True,
        synonyms=("num_rel_ret",),
        bounds=score_bounds.monotone_bounds,
        differences=difference_bounds.linear_differences,
        tied=binary.count_relevant_retrieved,
    ),
)

MEASURES: dict[str, Definition] = {definition.name: definition for definition in _ALL}

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")
