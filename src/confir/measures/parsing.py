"""Measures by name: those of confir, functions of a list, and of ir_measures; and their range."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from confir.arguments import HIGHEST_COUNT, as_integer, invalid, is_from
from confir.arrays import Booleans
from confir.data.run_scores import RunScores
from confir.data.text_numbers import parse_number
from confir.errors import InvalidValueError, UnknownNameError
from confir.measures.foreign_measures import parse_foreign_measure
from confir.measures.graded import parse_gains
from confir.measures.measure import (
    AnyMeasure,
    Definition,
    ListMeasure,
    Measure,
    Parameter,
)
from confir.measures.measure_list import MEASURES

# Case matters where it distinguishes a measure of trec_eval from another: rbp from RBP.
_SPELLINGS = {
    spelling: definition
    for definition in MEASURES.values()
    for spelling in (definition.name, *definition.synonyms)
}
_FOLDED = {
    spelling.casefold().replace("-", "_"): definition
    for spelling, definition in reversed(_SPELLINGS.items())
}

# name, then (parameters), then a cutoff in the style of ir-measures (@10); after a name alone also in
# that of trec_eval (_10, .10), old trec_eval (P10) or MTEB (_at_10)
_NAME = re.compile(
    r"(?P<name>[^\W\d][\w♯#-]*+)(?:\((?P<parameters>.*)\))?(?:[@._]?(?P<cutoff>[0-9]++))?",
    re.DOTALL,
)
_DIGITS = "0123456789"
# Of a cutoff that is worth reading; int() refuses some thousands.
_MOST_DIGITS = 20

# Possessive quantifiers, so that a long text is scanned once.
_SETTING = re.compile(
    r"\s*+(\w++)\s*+=\s*+('[^']*+'|\"[^\"]*+\"|\{[^{}]*+\}|[^,'\"(){}]++)\s*+(?:,|\Z)"
)
_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,)}
_EXPECTED = {"int": "a whole number", "float": "a finite number", "str": "text, such as '1:1,2:3'"}


def parse_measures(measures: Any, rel: int = 1) -> list[AnyMeasure]:
    """Return the measures of names, each once."""
    if isinstance(measures, str | bytes) or not isinstance(measures, Sequence):
        measures = [measures]
    if not measures:
        raise InvalidValueError("no measure is named; expected at least one, such as 'AP'")
    rel = as_integer("rel", rel)
    parsed: dict[str, AnyMeasure] = {}
    for entry in measures:
        measure: AnyMeasure | None = None
        if isinstance(entry, AnyMeasure):
            measure = entry
        elif callable(entry) and not is_from("ir_measures", entry) and not isinstance(entry, type):
            measure = ListMeasure(entry)
        else:
            measure = parse_foreign_measure(measure_name(entry), rel, _parse_parameters)
            measure = measure or parse_measure(entry, rel=rel)
        if isinstance(measure, Measure) and measure.gain_map is not None:
            parse_gains(measure.gain_map)
        parsed[str(measure)] = measure
    return list(parsed.values())


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
    if not isinstance(name, str):
        name = measure_name(name)
    match = _NAME.fullmatch(name.strip())
    spelt, parameters, digits = match.groups() if match else ("", None, None)
    definition = find_definition(spelt)
    if definition is None and parameters is None and digits is None:
        spelt, digits = _split_cutoff(spelt)
        definition = find_definition(spelt)
    if definition is None:
        raise _unknown_measure(name)
    values = _parse_parameters(name, parameters) if parameters else {}
    if definition is MEASURES["NumRet"] and "rel" in values:  # as ir_measures has NumRelRet
        definition = MEASURES["NumRelRet"]
    if "cutoff" in values:  # P(cutoff=10) is P@10
        if digits is not None:
            raise InvalidValueError(f"measure {name!r}: the cutoff is given twice")
        digits = str(values.pop("cutoff"))
        if not digits.isdecimal():
            raise InvalidValueError(
                f"measure {name!r}: the cutoff is {digits}; expected 1 to {HIGHEST_COUNT}"
            )
    if definition is not None and "judged_only" in values:
        raise InvalidValueError(
            f"measure {name!r}: judged_only is not taken; --show unjudged --unjudged condensed "
            "(estimate_unjudged) scores lists without their unjudged documents"
        )
    if digits is not None and len(digits) > _MOST_DIGITS:
        raise InvalidValueError(
            f"measure '{name[:_MOST_DIGITS]}…': the cutoff has {len(digits):,} digits; expected 1 to "
            f"{HIGHEST_COUNT}"
        )
    cutoff = None if digits is None else int(digits)
    accepted = definition.parameters
    if "rel" in accepted and rel != 1:
        values.setdefault("rel", rel)
    _check(name, definition, values, cutoff)
    changed = ((key, values[key]) for key in accepted if key in values)
    settings = tuple(pair for pair in changed if pair[1] != accepted[pair[0]].default)
    return Measure(definition, settings, cutoff)


def _split_cutoff(name: str) -> tuple[str, str | None]:
    """Return the name of a measure without the cutoff that it ends in, and the cutoff's digits."""
    stem = name.rstrip(_DIGITS)
    if stem == name:
        return name, None
    shorter = stem[:-3] if stem.casefold().endswith("_at_") else stem
    return shorter.removesuffix("_"), name[len(stem) :]


def measure_name(measure: Any) -> str:
    """Return the name of a measure, given as text or as an object of ir_measures."""
    if isinstance(measure, str):
        return measure
    if not is_from("ir_measures", measure):
        raise invalid("measure", measure, "a name such as 'nDCG@10', or a measure")
    return str(measure)


def canonical_name(name: str) -> str:
    """Return the canonical spelling of a measure's name; unknown names are unchanged."""
    try:
        return str(parse_measure(name))
    except (UnknownNameError, InvalidValueError):
        return name


def find_definition(name: str) -> Definition | None:
    """Return the measure with this name, in any case; None if there is none."""
    return _SPELLINGS.get(name) or _FOLDED.get(name.casefold().replace("-", "_"))


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


def _parse_parameters(name: str, text: str) -> dict[str, Parameter]:
    """Return the parameters in text such as ``rel=2, dcg='exp-log2'``; nothing is evaluated."""
    values: dict[str, Parameter] = {}
    place = 0
    while place < len(text):
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
    return int(number) if number.is_integer() and abs(number) <= HIGHEST_COUNT else number


def _check(
    name: str, definition: Definition, values: dict[str, Parameter], cutoff: int | None
) -> None:
    """Raise if a parameter is unknown or of the wrong type, or a cutoff is missing or not allowed."""
    accepted = definition.parameters
    for key, value in values.items():
        if key not in accepted:
            others = [other for other in accepted if other != "cutoff"]
            raise UnknownNameError(f"parameter of {definition.name}", key, others or ["none"])
        expected = _mismatch(value, accepted[key])
        if expected:
            raise InvalidValueError(
                f"measure {name!r}: {key}={value!r} is not allowed; expected {expected}"
            )
    if cutoff is not None and "cutoff" not in accepted:
        raise InvalidValueError(f"measure {name!r}: {definition.name} takes no cutoff")
    if cutoff is not None and not 1 <= cutoff <= HIGHEST_COUNT:
        raise InvalidValueError(
            f"measure {name!r}: the cutoff is {cutoff}; expected 1 to {HIGHEST_COUNT}"
        )
    if cutoff is None and "cutoff" in accepted:
        required = accepted["cutoff"].default is inspect.Parameter.empty
        # trec_eval's ndcg_cut and map_cut alone are lists of cutoffs, not nDCG and AP.
        if required or name.strip().casefold().endswith("_cut"):
            raise InvalidValueError(f"measure {name!r} needs a cutoff, as in {definition.name}@10")


def _mismatch(value: Parameter, parameter: inspect.Parameter) -> str:
    """Return what was expected of a parameter by its annotation; empty where the value is that."""
    if parameter.name == "dcg":
        return "" if value in ("log2", "exp-log2") else "'log2' or 'exp-log2'"
    if parameter.name == "rel":
        return "" if isinstance(value, int) and value >= 1 else f"1 to {HIGHEST_COUNT}"
    parts = str(parameter.annotation).split(" | ")
    allowed = [kind for part in parts for kind in _KINDS.get(part, ())]
    finite = not isinstance(value, float) or math.isfinite(value)
    if finite and isinstance(value, tuple(allowed)) and not isinstance(value, bool):
        return ""
    return next(words for part, words in _EXPECTED.items() if part in parts)


@lru_cache(maxsize=4096)
def definition_bound(name: str) -> bool | None:
    """Return whether a measure lies in [0, 1] by its definition; None for an unknown name."""
    try:
        measure = parse_measure(name)
    except (UnknownNameError, InvalidValueError):
        return None
    in_gains = measure.definition.in_gains and "rel" not in measure.keywords
    return not measure.definition.counts and not in_gains


def bounded_measures(scores: RunScores) -> Booleans:
    """Return which measures of scores lie in [0, 1].

    Known measures by definition; unknown ones as the scores state, else if all scores in their
    table do.
    """
    if not scores.in_range:
        return np.zeros(len(scores.measures), bool)
    bounds = [definition_bound(name) for name in scores.measures]
    if None in bounds:  # only then are the scores looked at, which may be in files
        own = scores.inside if scores.bounded is None else [scores.bounded] * len(bounds)
        bounds = [seen if known is None else known for known, seen in zip(bounds, own, strict=True)]
    return np.array(bounds, bool)


def assumed_bounded(scores: RunScores) -> tuple[str, ...]:
    """Return the unknown measures assumed to lie in [0, 1] because all of their scores do."""
    if not scores.in_range or scores.bounded is not None:
        return ()
    inside = zip(scores.measures, scores.inside, strict=True)
    return tuple(name for name, seen in inside if seen and definition_bound(name) is None)
