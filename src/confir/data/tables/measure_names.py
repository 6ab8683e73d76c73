"""Names of measures as other tools spell them: which names are measures, and what confir calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from confir.errors import enumerate_names, warn_caller

# trec_eval's rbp is left alone: it is not confir's RBP
_TREC_EVAL_NAMES = {
    "map": "AP",
    "Rprec": "Rprec",
    "R-prec": "Rprec",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "bpref": "Bpref",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}
_TREC_EVAL_CUTOFFS = {
    "map_cut": "AP",
    "P": "P",
    "recall": "R",
    "ndcg_cut": "nDCG",
    "success": "Success",
}
_TREC_EVAL_CUTOFF = re.compile(rf"({'|'.join(_TREC_EVAL_CUTOFFS)})[_.]?([0-9]+)")

_TEXT_MEASURES = ("runid", "relstring")

# how the names of the usual measures begin, to distinguish their column from that of topics
_BEGINNING = re.compile(
    r"(gm_)?(map|bpref)|ndcg|recip_rank|recall_|success_|num_|set_|infAP|11pt_avg|iprec_at_recall|"
    r"ircl_prn|R-?prec|P([@_(]|\d+$)|R[@(]|Q[@(]|AP|RR|nDCG|n?ERR|u?RBP|Bpref|Success|Judged|"
    r"alpha_nDCG|α_nDCG|StRecall|DS?_nDCG|Num"
)

# names that are numbers, and that end in one, as those of topics do
_ALL_DIGITS = re.compile(r"\d+")
_ENDS_IN_DIGITS = re.compile(r"\D*\d+")

_BLANK = re.compile(r"[\s-]+")

# Names of measures in the usual spellings, in small letters and with _ for blanks and hyphens: bare,
# and with a cutoff after a sign or, for single letters, after @ alone.
_MEASURE_WORDS = (
    r"(?:gm_?)?map|ap|(?:mean_)?average_precision|m?rr|(?:mean_)?(?:recip|reciprocal)_rank|"
    r"(?:alpha_?|ds?_?)?n?dcg|n?err(?:_ia)?|u?rbp|bpref|r_?prec(?:ision)?|infap|prec(?:ision)?|(?:st_?)?recall|f1|"
    r"acc|accuracy|exact_match|hit_?rate|hits|success|judged|f1_score|em|"
    # of answers, as Ragas, DeepEval, TruLens and translation's tools name them
    r"faithfulness|groundedness|(?:answer|response|context|contextual)_?(?:relevancy|relevance|precision|recall|"
    r"correctness|similarity|faithfulness|utilization|entity_recall|entities_recall)|factual_correctness|"
    r"llm_context_precision_with(?:out)?_reference|nv_\w+|noise_sensitivity\w*|semantic_similarity|"
    r"relevance|relevancy|correctness|helpfulness|harmfulness|coherence|conciseness|completeness|fluency|"
    r"hallucination|toxicity|bleu|sacrebleu|rouge(?:_?[12l])?(?:_?f1?)?|rouge_?lsum|meteor|chrf|bert_?score"
)
_KNOWN_MEASURE = re.compile(
    rf"(?:{_MEASURE_WORDS})(?:\(.*\))?(?:(?:@|_at_|_)[0-9.]+)?"
    r"|(?:p|r|q|f|hit|hr)(?:\(.*\))?(?:@|_at_)[0-9]+"
    r"|(?:p|map_cut|ndcg_cut|relative_p|iprec_at_recall|rprec_mult)_[0-9.]+"
    r"|num_?(?:q|ret|rel|rel_?ret|nonrel_judged_ret)|set_(?:p|f|map|recall|relative_p)(?:_[0-9.]+)?|"
    r"11pt_avg|rndcg|ndcg_rel|utility|runid|relstring|\w+_score"
)
_SURE_MEASURE = re.compile(rf"(?:{_MEASURE_WORDS})(?:_score)?(?:(?:@|_at_)[0-9.]+)?")
# A cutoff without a sign: P10. Runs may be numbered as well, but not by the usual cutoffs alone.
_NUMBERED = re.compile(rf"({_MEASURE_WORDS}|p|r)([0-9]+)")
_USUAL_CUTOFFS = frozenset(
    {"1", "3", "5", "10", "15", "20", "30", "50", "100", "200", "500", "1000"}
)
_NO_SINGLE_CUTOFF = frozenset({"1", "3"})


def begins_like_a_measure(name: str) -> bool:
    """Whether a name begins as those of the usual measures do."""
    return _BEGINNING.match(name) is not None


def find_measures(names: Iterable[str]) -> list[str]:
    """Return the names among those of columns, or keys, that are measures rather than runs or topics."""
    given = [str(name) for name in names]
    folded = [_BLANK.sub("_", name.strip().casefold()) for name in given]
    numbered: dict[str, set[str]] = {}
    for name in folded:
        found = _NUMBERED.fullmatch(name)
        if found:
            numbered.setdefault(found[1], set()).add(found[2])
    cut = {word for word, cutoffs in numbered.items() if _are_cutoffs(cutoffs)}
    return [
        name
        for name, plain in zip(given, folded, strict=True)
        if _KNOWN_MEASURE.fullmatch(plain)
        or ((found := _NUMBERED.fullmatch(plain)) is not None and found[1] in cut)
    ]


def find_sure_measures(names: Iterable[str]) -> list[str]:
    """Return the names that `find_measures` does, but for those that a run could bear, as gpt_score."""
    return [
        name
        for name in find_measures(names)
        if not name.strip().casefold().endswith("score")
        or _SURE_MEASURE.fullmatch(_BLANK.sub("_", name.strip().casefold()))
    ]


def _are_cutoffs(numbers: set[str]) -> bool:
    """Whether the numbers after a word are cutoffs; those of runs go 1, 2, 3."""
    return numbers <= _USUAL_CUTOFFS and not numbers <= _NO_SINGLE_CUTOFF


def is_text_measure(name: str) -> bool:
    """Whether trec_eval prints text under a name, where a measure would have a number."""
    return str(name).startswith(_TEXT_MEASURES)


def confir_name(name: str) -> str:
    """Return confir's name of a measure of trec_eval; one that confir lacks stays as it is."""
    match = _TREC_EVAL_CUTOFF.fullmatch(name)
    if match:
        return f"{_TREC_EVAL_CUTOFFS[match[1]]}@{match[2]}"
    return _TREC_EVAL_NAMES.get(name, name)


def topics_come_first(runs: Iterable[Mapping[Any, Mapping[Any, Any]]], source: str) -> bool:
    """Whether runs hold topic → measure → score rather than measure → topic → score.

    Known measures decide it, else whether the names of one level alone are numbers. If neither does, a
    warning says how they are read.
    """
    outer: dict[str, None] = {}
    inner: dict[str, None] = {}
    for held in runs:
        outer.update((str(name), None) for name in held)
        for part in held.values():
            inner.update((str(name), None) for name in part)
    known = bool(find_measures(outer)), bool(find_measures(inner))
    if known[0] != known[1]:
        return known[1]
    if _are_all(_ALL_DIGITS, outer) != _are_all(_ALL_DIGITS, inner):
        return _are_all(_ALL_DIGITS, outer)
    numbered = _are_all(_ENDS_IN_DIGITS, outer), _are_all(_ENDS_IN_DIGITS, inner)
    if len(outer) == 1 or numbered == (False, True):
        return False
    first = numbered == (True, False)
    order = ("topic", "measure") if first else ("measure", "topic")
    warn_caller(
        f"{source}: read as run → {' → '.join(order)} → score: the {order[0]}s "
        f"{enumerate_names(map(repr, outer), 3)}, the {order[1]}s {enumerate_names(map(repr, inner), 3)}; "
        "expected that, or a table with the columns run, measure, topic, score"
    )
    return first


def _are_all(pattern: re.Pattern[str], names: Iterable[str]) -> bool:
    return all(map(pattern.fullmatch, names))
