"""Names of measures as other tools spell them: which names are measures, and what confir calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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


# the keys of a result of pytrec_eval, and names with a cutoff
_SPELT_MEASURE = re.compile(
    r"(gm_)?(map|bpref)|Rprec|Rndcg|recip_rank|ndcg|ndcg_rel|infAP|11pt_avg|utility|(bin)?G|"
    r"relstring|runid|num_(q|ret|rel|rel_ret|nonrel_judged_ret)|set_(P|F|map|recall|relative_P)(_[\d.]+)?|"
    r"(P|recall|map_cut|ndcg_cut|success|relative_P|iprec_at_recall|Rprec_mult)_[\d.]+|"
    r"[A-Za-z_+-]+(\(.*\))?@\d+|AP|RR|nDCG|Rprec|Bpref"
)

# Names that only a measure has: with a cutoff, or called a score; and names that a run may have, too.
_CUT_MEASURE = re.compile(
    r"(?:n?dcg|m?ap|p|precision|r|recall|m?rr|n?err|rbp|q|f1|success|hit_rate|judged|bpref|"
    r"alpha[-_]ndcg|n?err[-_]ia|strecall|ds?[-_]ndcg)(?:\(.*\))?(?:@|_at_)[0-9]+"
    r"|(?:p|recall|success|map_cut|ndcg_cut|relative_p|iprec_at_recall|rprec_mult)_[0-9.]+"
    r"|\w+_score"
)
_BARE_MEASURE = re.compile(
    r"(?:gm_)?map|ap|m?rr|recip_rank|n?dcg|n?err|rbp|bpref|rprec|infap|precision|recall|f1|acc|"
    r"accuracy|exact_match|num_(?:ret|rel|rel_ret)"
)


def begins_like_a_measure(name: str) -> bool:
    """Whether a name begins as those of the usual measures do."""
    return _BEGINNING.match(name) is not None


def find_measures(names: Sequence[str]) -> list[str]:
    """Return the names among those of columns that are measures rather than runs.

    Some are measures whatever stands beside them, as nDCG@10 is; others, such as AP, where all are.
    """
    folded = [name.strip().casefold() for name in names]
    found = [n for n, f in zip(names, folded, strict=True) if _CUT_MEASURE.fullmatch(f)]
    known = (_BARE_MEASURE.fullmatch(name) or _CUT_MEASURE.fullmatch(name) for name in folded)
    return list(names) if all(known) else found


def is_text_measure(name: str) -> bool:
    """Whether trec_eval prints text under a name, where a measure would have a number."""
    return str(name).startswith(_TEXT_MEASURES)


def are_measures(names: Iterable[str]) -> bool:
    """Whether all names are measures as pytrec_eval and ir_measures spell them; none are not."""
    listed = list(names)
    return bool(listed) and all(_SPELT_MEASURE.fullmatch(str(name)) for name in listed)


def confir_name(name: str) -> str:
    """Return confir's name of a measure of trec_eval; one that confir lacks stays as it is."""
    match = _TREC_EVAL_CUTOFF.fullmatch(name)
    if match:
        return f"{_TREC_EVAL_CUTOFFS[match[1]]}@{match[2]}"
    return _TREC_EVAL_NAMES.get(name, name)
