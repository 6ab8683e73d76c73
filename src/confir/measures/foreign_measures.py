"""Measures that ir_measures computes: FOREIGN_MEASURES, how they are named, and how they are called."""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from confir.arguments import HIGHEST_COUNT
from confir.arrays import Floats
from confir.data.qrels import Qrels
from confir.data.ranked_lists.rankings import rank_in_single_precision
from confir.data.reading_rules import ReadingRules
from confir.data.run import Run
from confir.errors import (
    InvalidValueError,
    TopicWarning,
    UnknownNameError,
    counted,
    enumerate_names,
    warn_caller,
)

Value = int | float | bool


@dataclass(frozen=True)
class _Parameter:
    """A parameter of a measure: the type of its values, which of them are allowed, and its default."""

    kind: type[int | float | bool]
    expected: str
    allows: Callable[[Any], bool] = lambda _: True
    default: Value | None = None

    def read(self, value: Any) -> Value | None:
        """Return a value given as a name has it; None if it is not allowed."""
        if self.kind is bool:
            return {"True": True, "False": False, True: True, False: False}.get(value)
        numbers = (int, float) if self.kind is float else int
        if isinstance(value, numbers) and not isinstance(value, bool) and self.allows(value):
            return self.kind(value)
        return None


_COUNT = (int, f"1 to {HIGHEST_COUNT}", lambda value: 1 <= value <= HIGHEST_COUNT)
_SHARE = (float, "a number between 0 and 1", lambda value: 0 < value < 1)
_PARAMETERS: dict[str, _Parameter] = {
    "rel": _Parameter(*_COUNT, default=1),
    "cutoff": _Parameter(*_COUNT),
    "relative": _Parameter(bool, "True or False", default=False),
    "normalize": _Parameter(bool, "True or False", default=True),
    "p": _Parameter(*_SHARE, default=0.95),
    "beta": _Parameter(*_SHARE, default=0.5),
    "alpha": _Parameter(float, "a number from 0 to 1", lambda value: 0 <= value <= 1, 0.5),
    # trec_eval is given two decimals, and would compute another measure under the name of a third
    "recall": _Parameter(
        float,
        "a number from 0 to 1 with at most two decimals",
        lambda value: 0 <= value <= 1 and round(value, 2) == value,
    ),
}


@dataclass(frozen=True, slots=True)
class ForeignDefinition:
    """A measure that confir takes from ir_measures.

    Attributes
    ----------
    name, parameters
        Its name in ir_measures, and its parameters except that after the @.
    at
        The parameter after the @, and whether it is required.
    synonyms
        Names of trec_eval and ir_measures, with the parameters that they stand for.
    by_subtopic
        Whether its judgements are by subtopic.
    least_cutoff
        The lowest cutoff at which it is normalised as its definition says.
    undefined
        The score on a topic with a list on which ir_measures has none.
    """

    name: str
    parameters: tuple[str, ...] = ()
    at: str | None = None
    at_required: bool = False
    synonyms: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    by_subtopic: bool = False
    least_cutoff: int = 1
    undefined: float = np.nan


_REL = ("rel",)

FOREIGN_MEASURES: tuple[ForeignDefinition, ...] = (
    ForeignDefinition("infAP", _REL),
    ForeignDefinition("IPrec", _REL, "recall", True, {"iprec_at_recall": {}}),
    ForeignDefinition(
        "SetP",
        ("rel", "relative"),
        synonyms={
            "set_P": {},
            "set_relative_P": {"relative": True},
            "SetRelP": {"relative": True},
        },
    ),
    ForeignDefinition("SetR", _REL, synonyms={"set_recall": {}}),
    ForeignDefinition("SetAP", _REL, synonyms={"set_map": {}}),
    ForeignDefinition("SetF", _REL, synonyms={"set_F": {}}),
    ForeignDefinition("Accuracy", _REL, "cutoff"),
    ForeignDefinition("Compat", ("p", "normalize")),
    ForeignDefinition("AP_IA", _REL, synonyms={"MAP_IA": {}}, by_subtopic=True),
    ForeignDefinition("P_IA", _REL, "cutoff", True, by_subtopic=True),
    ForeignDefinition(
        "alpha_DCG",
        ("rel", "alpha"),
        "cutoff",
        True,
        {"α_DCG": {}},
        by_subtopic=True,
        least_cutoff=2,  # ndeval does not divide alpha_DCG@1 by its highest value
    ),
    ForeignDefinition("NRBP", ("rel", "alpha", "beta"), by_subtopic=True),
    ForeignDefinition("nNRBP", ("rel", "alpha", "beta"), by_subtopic=True, undefined=0.0),
)

_CWL = "is computed by cwl_eval, which looks at 1,000 documents of a list at most"
# Measures and parameters of ir_measures that confir does not take from it, and why.
_REFUSED = {
    **dict.fromkeys(("BPM", "SDCG", "INST", "INSQ", "NERR8", "NERR9", "NERR10", "NERR11"), _CWL),
    **dict.fromkeys(("NumQ", "num_q"), "counts topics, and is 1 on each of them"),
}
_REFUSED_PARAMETERS = {
    ("SetF", "beta"): "trec_eval's weight is not the beta of van Rijsbergen's F; expected SetF",
}

_SPELLINGS = {
    spelling: (definition, preset)
    for definition in FOREIGN_MEASURES
    for spelling, preset in ((definition.name, {}), *definition.synonyms.items())
}
# name, (parameters), and the parameter after @, _ or . in the styles of ir_measures and trec_eval
_NAME = re.compile(
    r"(?P<name>[^\W\d]\w*?)(?:\((?P<parameters>.*)\))?(?:[@._](?P<at>[0-9]*\.?[0-9]+))?", re.DOTALL
)
_LONGEST_NAME = 200


def parse_foreign_measure(
    name: str, rel: int, parse_parameters: Callable[[str, str], dict[str, Any]]
) -> ForeignMeasure | None:
    """Return the measure of ir_measures with a name; None where confir takes none of this name.

    Parameters
    ----------
    name, rel
        As in `parse_measure`.
    parse_parameters
        Function of the name and of the text in its parentheses.
    """
    match = _NAME.fullmatch(name.strip()) if len(name) <= _LONGEST_NAME else None
    if match is None:
        return None
    spelt = match["name"]
    reason = next((_REFUSED[one] for one in (spelt, name.partition("(")[0]) if one in _REFUSED), "")
    if reason:
        raise InvalidValueError(
            f"measure {name!r} {reason}; expected another measure, or scores that ir_measures printed, "
            "with --scores"
        )
    if spelt not in _SPELLINGS:
        return None
    definition, preset = _SPELLINGS[spelt]
    values = parse_parameters(name, match["parameters"]) if match["parameters"] else {}
    for key, value in preset.items():
        if values.setdefault(key, value) != value:
            raise InvalidValueError(f"measure {name!r}: {spelt} means {key}={value}")
    if match["at"] is not None:
        if definition.at is None:
            raise InvalidValueError(f"measure {name!r}: {definition.name} takes no cutoff")
        if definition.at in values:
            raise InvalidValueError(f"measure {name!r}: the {definition.at} is given twice")
        values[definition.at] = float(match["at"]) if "." in match["at"] else int(match["at"])
    if definition.at_required and definition.at not in values:
        example = "0.1" if definition.at == "recall" else "10"
        raise InvalidValueError(
            f"measure {name!r} needs a {definition.at}, as in {definition.name}@{example}"
        )
    if "rel" in definition.parameters and rel != 1:
        values.setdefault("rel", rel)
    return ForeignMeasure(definition.name, _checked(name, definition, values))


def _checked(
    name: str, definition: ForeignDefinition, values: Mapping[str, Any]
) -> tuple[tuple[str, Value], ...]:
    """Return the parameters that are not the default ones, in the order of the definition."""
    known = (*definition.parameters, *([definition.at] if definition.at else []))
    for key in values:
        if (definition.name, key) in _REFUSED_PARAMETERS:
            reason = _REFUSED_PARAMETERS[definition.name, key]
            raise InvalidValueError(f"measure {name!r}: {key} is not taken: {reason}")
        if key not in known:
            others = definition.parameters or ("none",)
            raise UnknownNameError(f"parameter of {definition.name}", key, others)
    settings: list[tuple[str, Value]] = []
    for key in filter(values.__contains__, known):
        value = _PARAMETERS[key].read(values[key])
        if value is None:
            raise InvalidValueError(
                f"measure {name!r}: {key}={values[key]!r} is not allowed; expected "
                f"{_PARAMETERS[key].expected}"
            )
        if key == "cutoff" and value < definition.least_cutoff:
            raise InvalidValueError(
                f"measure {name!r}: the cutoff is {value}; expected {definition.least_cutoff} or more: "
                f"ndeval does not normalise {definition.name} at lower ones"
            )
        if value != _PARAMETERS[key].default:
            settings.append((key, value))
    return tuple(settings)


@dataclass(frozen=True, slots=True)
class ForeignMeasure:
    """A measure of ir_measures with its parameters, such as ``infAP`` or ``IPrec@0.1``.

    It is for plain evaluation only: ir_measures scores whole runs, not resampled collections.
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()

    looks_at_judged: ClassVar[bool] = False

    @property
    def definition(self) -> ForeignDefinition:
        """What confir knows of the measure."""
        return _SPELLINGS[self.name][0]

    @property
    def lowest_gain(self) -> int:
        """The lowest gain that counts as relevant."""
        return int(dict(self.parameters).get("rel", 1))

    def __str__(self) -> str:
        at = self.definition.at
        listed = ",".join(f"{key}={value!r}" for key, value in self.parameters if key != at)
        text = f"{self.name}({listed})" if listed else self.name
        given = dict(self.parameters)
        return f"{text}@{given[at]}" if at in given else text

    def __call__(self, qrels: Qrels, run: Run) -> Floats:
        """Return the scores of a run, whose scores are places from below, on the topics of the qrels.

        A topic without a list scores 0; one on whose list the measure is not defined, NaN.
        """
        try:
            import ir_measures
        except ImportError:
            raise InvalidValueError(
                f"{self} is computed by ir_measures, which is not installed; expected "
                "pip install ir-measures"
            ) from None
        ranked = run.to_dict()
        measure = getattr(ir_measures, self.name)(**dict(self.parameters))
        try:
            # what pyndeval prints of qrels without subtopics holds of measures of confir as well
            with contextlib.redirect_stderr(io.StringIO()):
                scores = _scores(measure, self._judgements(qrels), ranked)
        except (TypeError, ValueError, RuntimeError, AssertionError, OSError) as error:
            problem = " ".join(str(error).split())
            raise InvalidValueError(f"ir_measures cannot compute {self}: {problem}") from error
        none = self.definition.undefined
        missing = [none if topic in ranked else 0.0 for topic in qrels.topics]
        values = np.array(
            [scores.get(topic, none) for topic, none in zip(qrels.topics, missing, strict=True)]
        )
        undefined = [qrels.topics[place] for place in np.flatnonzero(np.isnan(values))]
        if undefined:
            warn_caller(
                f"{self} of run {run.name!r} is not defined on {counted(len(undefined), 'topic')}, "
                f"which its mean leaves out: {enumerate_names(undefined, 5)}",
                TopicWarning,
            )
        return values

    def _judgements(self, qrels: Qrels) -> list[Any]:
        """Return the qrels for ir_measures, by subtopic if the measure uses subtopics."""
        import ir_measures

        topics = [qrels.topics[i] for i in qrels.document_topics.tolist()]
        if self.definition.by_subtopic:
            entries = zip(
                qrels.judged_documents.tolist(),
                qrels.subtopic_gains.tolist(),
                qrels.subtopics,
                strict=True,
            )
            return [
                ir_measures.Qrel(topics[place], qrels.documents[place], gain, subtopic)
                for place, gain, subtopic in entries
            ]
        # trec_eval writes beyond its memory if all gains of a topic are negative; it scores 0 either way
        relevant = np.maximum.reduceat(qrels.gains, qrels.offsets[:-1]) > 0
        gains = np.where(relevant[qrels.document_topics], qrels.gains, np.maximum(qrels.gains, 0))
        rows = zip(topics, qrels.documents, gains.tolist(), strict=True)
        return [ir_measures.Qrel(*row) for row in rows]


def _scores(
    measure: Any, judgements: list[Any], ranked: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Return the scores on the topics on which a measure is defined."""
    import ir_measures

    try:
        results = list(ir_measures.iter_calc([measure], judgements, ranked))
    except ZeroDivisionError:  # Accuracy of a list of relevant documents alone
        if len(ranked) == 1:
            return {}
        topics = list(ranked)
        halves = topics[::2], topics[1::2]
        parts = (
            _scores(measure, judgements, {one: ranked[one] for one in half}) for half in halves
        )
        return {topic: score for own in parts for topic, score in own.items()}
    held = ((result.query_id, float(result.value)) for result in results)
    return {topic: score for topic, score in held if not math.isnan(score)}


def rank_for_ir_measures(run: Run, rules: ReadingRules) -> Run:
    """Return a run whose scores are places from below, so that all packages rank it as confir does.

    They break ties each in its own way, and compare scores in single precision or in double.
    """
    documents = run.documents
    if rules.tie_precision == "single":
        documents = tuple(rank_in_single_precision(run))
    sizes = np.diff(run.offsets)
    before = np.arange(len(documents)) - np.repeat(run.offsets[:-1], sizes)
    places = np.repeat(sizes, sizes) - before
    if rules.depth is None:
        return Run(run.name, run.topics, run.offsets, documents, places.astype(np.float64))
    kept = np.flatnonzero(before < rules.depth)
    offsets = np.concatenate(([0], np.cumsum(np.minimum(sizes, rules.depth))))
    cut = tuple(documents[place] for place in kept.tolist())
    return Run(run.name, run.topics, offsets, cut, places[kept].astype(np.float64))
