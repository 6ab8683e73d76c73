"""The catalogue of measures: MEASURES."""

from __future__ import annotations

from confir.measures import (
    binary,
    completion_differences,
    completions,
    diversity,
    graded,
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
        completions=completions.average_precision_bounds,
        tied=tied_scores.expected_average_precision,
    ),
    Definition(
        "P",
        binary.precision,
        synonyms=("precision",),
        completions=completions.monotone_bounds,
        differences=completion_differences.linear_differences,
        tied=binary.precision,
    ),
    Definition(
        "R",
        binary.recall,
        synonyms=("recall",),
        completions=completions.recall_bounds,
        differences=completion_differences.recall_differences,
        tied=binary.recall,
    ),
    Definition(
        "Rprec",
        binary.r_precision,
        synonyms=("R-prec", "r-precision"),
        completions="its cutoff moves with the number of relevant documents",
        tied=binary.r_precision,
    ),
    Definition(
        "RR",
        binary.reciprocal_rank,
        synonyms=("recip_rank", "mrr"),
        completions=completions.monotone_bounds,
        differences=completion_differences.reciprocal_differences,
        tied=tied_scores.expected_reciprocal,
    ),
    Definition(
        "nDCG",
        graded.ndcg,
        synonyms=("ndcg", "ndcg_cut"),
        completions=completions.ndcg_bounds,
        differences=completion_differences.ndcg_differences,
        tied=graded.ndcg,
    ),
    Definition(
        "ERR",
        graded.expected_reciprocal_rank,
        completions=completions.monotone_bounds,
        tied=tied_scores.expected_err,
    ),
    Definition(
        "nERR", graded.normalised_err, completions=_IDEAL, tied=tied_scores.expected_normalised_err
    ),
    Definition(
        "RBP",
        graded.rank_biased_precision,
        in_gains=True,
        completions=completions.residual_bounds,
        differences=completion_differences.residual_differences,
        tied=graded.rank_biased_precision,
    ),
    Definition(
        "rbp",
        graded.relative_rbp,
        completions="its gains are relative to the topic's highest, which a judgement may raise",
        tied=graded.relative_rbp,
    ),
    Definition(
        "Q",
        graded.q_measure,
        synonyms=("Q-measure",),
        completions=_IDEAL,
        tied=tied_scores.expected_q_measure,
    ),
    Definition(
        "Bpref",
        binary.binary_preference,
        needs="judged",
        synonyms=("bpref",),
        completions=_RATIO,
        tied=tied_scores.expected_preference,
    ),
    Definition(
        "Success",
        binary.success,
        synonyms=("success", "hit_rate"),
        completions=completions.monotone_bounds,
        differences=completion_differences.success_differences,
        tied=tied_scores.expected_success,
    ),
    Definition(
        "Judged",
        binary.judged_share,
        needs="judged",
        completions="it is the share of judged documents itself",
        tied=binary.judged_share,
    ),
    Definition(
        "alpha_nDCG",
        diversity.alpha_ndcg,
        needs="subtopics",
        synonyms=("α_nDCG", "alpha-nDCG"),
        completions=_SUBTOPICS,
    ),
    Definition(
        "ERR_IA", diversity.err_ia, needs="subtopics", synonyms=("ERR-IA",), completions=_SUBTOPICS
    ),
    Definition(
        "nERR_IA",
        diversity.normalised_err_ia,
        needs="subtopics",
        synonyms=("nERR-IA",),
        completions=_SUBTOPICS,
    ),
    Definition(
        "StRecall",
        diversity.subtopic_recall,
        needs="subtopics",
        synonyms=("IRec", "strec"),
        completions=_SUBTOPICS,
    ),
    Definition(
        "D_nDCG", diversity.d_ndcg, needs="subtopics", synonyms=("D-nDCG",), completions=_SUBTOPICS
    ),
    Definition(
        "DS_nDCG",
        diversity.d_sharp_ndcg,
        needs="subtopics",
        synonyms=("D#-nDCG", "D♯-nDCG", "D#_nDCG"),
        completions=_SUBTOPICS,
    ),
    Definition(
        "NumRet",
        binary.count_retrieved,
        counts=True,
        synonyms=("num_ret",),
        completions=completions.monotone_bounds,
        tied=binary.count_retrieved,
    ),
    Definition(
        "NumRel",
        binary.count_relevant,
        counts=True,
        synonyms=("num_rel",),
        completions=completions.monotone_bounds,
        tied=binary.count_relevant,
    ),
    Definition(
        "NumRelRet",
        binary.count_relevant_retrieved,
        counts=True,
        synonyms=("num_rel_ret",),
        completions=completions.monotone_bounds,
        differences=completion_differences.linear_differences,
        tied=binary.count_relevant_retrieved,
    ),
)

MEASURES: dict[str, Definition] = {definition.name: definition for definition in _ALL}

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")
