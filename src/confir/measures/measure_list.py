"""The catalogue of measures: MEASURES lists them, `parse_measure` parses their names."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

from confir.arguments import HIGHEST_COUNT, as_integer, invalid
from confir.data.text_numbers import parse_number
from confir.errors import InvalidValueError, UnknownNameError
from confir.measures import (
    binary,
    completion_differences,
    completions,
    diversity,
    graded,
    tied_scores,
)
from confir.measures.measure import Definition, Measure, Parameter

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

HIGHEST_NUMBER = HIGHEST_COUNT

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")

# name, then (parameters), then a cutoff in the style of ir-measures (@10); after a name alone also in
# that of trec_eval (_10, .10), old trec_eval (P10) or MTEB (_at_10)
_NAME = re.compile(
    r"(?P<name>[^\W\d][\w♯#-]*+)(?:\((?P<parameters>.*)\))?(?:[@._]?(?P<cutoff>[0-9]++))?",
    re.DOTALL,
)
_DIGITS = "0123456789"
# Of a cutoff that is worth reading; int() refuses some thousands.
_MOST_DIGITS = 20


def parse_measure(name: Any, *, rel: int = 1) -> Measure:
    """Return the measure of a name such as ``nDCG(dcg='exp-log2')@10``.

    Different spellings of a measure become one, whose text is its name in all results.

    Parameters
    ----------
    name
        In the spelling of ir-measures, or a name of trec_eval such as ``ndcg_cut_10``; or a measure
        of confir or ir_measures.
    rel
        Lowest gain that counts as relevant, unless the name states it.

    Examples
    --------
    >>> str(confir.parse_measure("ndcg_cut_10"))
    'nDCG@10'
    """
    as_integer("rel", rel)
    if isinstance(name, Measure):
        return name
    name = measure_name(name)
    match = _NAME.fullmatch(name.strip())
    spelt, digits = _split_cutoff(match) if match else ("", None)
    definition = find_definition(spelt)
    if not match or not definition:
        raise _unknown_measure(name)
    values = _parse_parameters(name, match["parameters"])
    if digits is not None and len(digits) > _MOST_DIGITS:
        raise InvalidValueError(
            f"measure '{name[:_MOST_DIGITS]}…': the cutoff has {len(digits):,} digits; expected 1 to "
            f"{HIGHEST_NUMBER}"
        )
    cutoff = None if digits is None else int(digits)
    accepted = definition.parameters
    if "rel" in accepted and rel != 1:
        values.setdefault("rel", rel)
    _check(name, definition, values, cutoff)
    settings = tuple(
        (key, values[key])
        for key, parameter in accepted.items()
        if key in values and values[key] != parameter.default
    )
    return Measure(definition, settings, cutoff)


def _split_cutoff(match: re.Match[str]) -> tuple[str, str | None]:
    """Return the name of a measure, and the digits of its cutoff, which may be part of the name."""
    name, digits = match["name"], match["cutoff"]
    if digits is not None or match["parameters"] is not None:
        return name, digits
    stem = name.rstrip(_DIGITS)
    if stem == name:
        return name, None
    shorter = stem[:-3] if stem.casefold().endswith("_at_") else stem
    return shorter.removesuffix("_"), name[len(stem) :]


def measure_name(measure: Any) -> str:
    """Return the name of a measure, given as text or as an object of ir_measures."""
    if is_from_ir_measures(measure):
        return str(measure)
    if not isinstance(measure, str):
        raise invalid("measure", measure, "a name such as 'nDCG@10', or a measure")
    return measure


def is_from_ir_measures(measure: Any) -> bool:
    """Whether an object is a measure of ir_measures, without importing the package."""
    modules = (base.__module__ for base in type(measure).__mro__)
    return any(module.partition(".")[0] == "ir_measures" for module in modules)


def canonical_name(name: str) -> str:
    """Return the canonical spelling of a measure's name; unknown names are unchanged."""
    try:
        return str(parse_measure(name))
    except (UnknownNameError, InvalidValueError):
        return name


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")


# Case matters where it tells a measure of trec_eval from another: rbp from RBP.
_SPELLINGS = {
    spelling: definition
    for definition in _ALL
    for spelling in (definition.name, *definition.synonyms)
}
_FOLDED = {_folded(spelling): definition for spelling, definition in reversed(_SPELLINGS.items())}


def find_definition(name: str) -> Definition | None:
    """Return the measure with this name, in any case; None if there is none."""
    return _SPELLINGS.get(name) or _FOLDED.get(_folded(name))


def _unknown_measure(name: str) -> UnknownNameError:
    """Return the error that suggests similar names, with the cutoff of the given one.

    Else those that are a part of it: trec_eval names variants so, as rbp_resid and gm_map.
    """
    cutoff = re.search(r"@[0-9]+$", name)
    ending = cutoff[0] if cutoff else ""
    parts = filter(None, map(find_definition, re.split(r"[_.@]", name)))
    related = dict.fromkeys(part.name for part in parts)
    known = [spelling + ending for spelling in MEASURES]
    return UnknownNameError("measure", name, known, related)


# Nothing is given back, so that a long text is looked at once.
_SETTING = re.compile(
    r"\s*+(\w++)\s*+=\s*+('[^']*+'|\"[^\"]*+\"|\{[^{}]*+\}|[^,'\"(){}]++)\s*+(?:,|\Z)"
)


def _parse_parameters(name: str, text: str | None) -> dict[str, Parameter]:
    """Return the parameters in text such as ``rel=2, dcg='exp-log2'``; nothing is evaluated."""
    values: dict[str, Parameter] = {}
    place = 0
    while text and place < len(text):
        match = _SETTING.match(text, place)
        if match is None:
            raise InvalidValueError(
                f"measure {name!r}: {text!r} is not a list of parameters; expected for example "
                "(rel=2)"
            )
        if match[1] in values:
            raise InvalidValueError(f"measure {name!r}: {match[1]} is given twice")
        values[match[1]] = _literal(match[2].strip())
        place = match.end()
    return values


def _literal(text: str) -> Parameter:
    """Return the number, or the quoted or bare word, of a parameter value.

    A map such as ``{0: 1, 1: 4}``, as ir_measures spells gains, is text without its braces.
    """
    if text[:1] in ("'", '"'):
        return text[1:-1]
    if text[:1] == "{":
        return "".join(text[1:-1].split())
    number = parse_number(text)
    if number is None:
        return text
    # 2.0 and 2 have the same canonical spelling.
    return int(number) if number.is_integer() and abs(number) <= HIGHEST_NUMBER else number


def _check(
    name: str, definition: Definition, values: dict[str, Parameter], cutoff: int | None
) -> None:
    """Raise if a parameter is unknown or of the wrong type, or a cutoff is missing or not allowed."""
    accepted = definition.parameters
    for key, value in values.items():
        if key not in accepted or key == "cutoff":
            others = [other for other in accepted if other != "cutoff"]
            raise UnknownNameError(f"parameter of {definition.name}", key, others or ["none"])
        if not _fits(value, accepted[key]):
            raise InvalidValueError(f"measure {name!r}: {key}={value!r} is not allowed")
    if cutoff is not None and "cutoff" not in accepted:
        raise InvalidValueError(f"measure {name!r}: {definition.name} takes no cutoff")
    if cutoff is not None and not 1 <= cutoff <= HIGHEST_NUMBER:
        raise InvalidValueError(
            f"measure {name!r}: the cutoff is {cutoff}; expected 1 to {HIGHEST_NUMBER}"
        )
    if cutoff is None and "cutoff" in accepted:
        required = accepted["cutoff"].default is inspect.Parameter.empty
        # trec_eval's ndcg_cut and map_cut alone are lists of cutoffs, not nDCG and AP.
        if required or name.strip().casefold().endswith("_cut"):
            raise InvalidValueError(f"measure {name!r} needs a cutoff, as in {definition.name}@10")


_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,)}


def _fits(value: Parameter, parameter: inspect.Parameter) -> bool:
    """Whether a value has the type of the parameter's annotation."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if parameter.name == "rel" and (not isinstance(value, int) or value < 1):
        return False
    if parameter.name == "dcg":
        return value in ("log2", "exp-log2")
    allowed = [
        kind for part in str(parameter.annotation).split(" | ") for kind in _KINDS.get(part, ())
    ]
    return isinstance(value, tuple(allowed)) and not isinstance(value, bool)
