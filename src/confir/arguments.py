"""Checks of arguments: one function for each type of plain value.

Each takes the name of the parameter, for messages, and the value given, and returns the checked
value. Runs, qrels, scores and measures are checked where they are defined.
"""

from __future__ import annotations

import math
import operator
import os
import reprlib
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Number, Real
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from confir.arrays import Floats
from confir.errors import InvalidValueError, UnknownNameError, enumerate_names

Name = TypeVar("Name", bound=str)

HIGHEST_COUNT = 2**31 - 1

# With this many replicates the Monte-Carlo error is negligible.
MOST_REPLICATES = 10_000_000

_BOOLEAN = (bool, np.bool_)

# What is one number, or is meant as one, where several may be given.
_NUMBER = (Number, Decimal, str, bytes, NoneType)

_LONGEST = 60

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = _LONGEST


def shown(value: Any) -> str:
    """Return a value as one line of at most 60 characters, for messages."""
    plain = value.item() if isinstance(value, np.generic) else value
    text = " ".join(_SHORT.repr(plain).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def invalid(name: str, value: Any, expected: str) -> InvalidValueError:
    """Return the error with the parameter's name, the value given, and what was expected."""
    return InvalidValueError(f"{name} is {shown(value)}; expected {expected}")


def as_integer(name: str, value: Any, *, lowest: int = 1, highest: int = HIGHEST_COUNT) -> int:
    """Return an integer; floats and booleans are rejected."""
    try:
        number = None if isinstance(value, _BOOLEAN) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not lowest <= number <= highest:
        open_ended = highest == HIGHEST_COUNT and (number is None or number < lowest)
        allowed = f"{lowest} or more" if open_ended else f"{lowest} to {highest}"
        raise invalid(name, value, f"{'a whole number, ' if number is None else ''}{allowed}")
    return number


def as_integers(name: str, value: Any, *, lowest: int = 1) -> tuple[int, ...]:
    """Return integers, given as one or several."""
    several = as_list(name, value, single=_NUMBER)
    return tuple(as_integer(name, one, lowest=lowest) for one in several)


def as_real(
    name: str, value: Any, *, above: float = -math.inf, below: float = math.inf, like: str = ""
) -> float:
    """Return a finite number between two limits; booleans and complex numbers are rejected."""
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, _BOOLEAN):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not above < number < below:
        allowed = "a finite number" if above == -math.inf else f"a number above {above:g}"
        if below < math.inf:
            allowed = f"a number between {above:g} and {below:g}"
        raise invalid(name, value if math.isnan(number) else number, f"{allowed}{like}")
    return number


def as_level(value: Any, name: str = "level") -> float:
    """Return a confidence level, between 0 and 1."""
    return as_real(name, value, above=0.0, below=1.0, like=", such as 0.95")


def as_power(value: Any, alpha: float) -> float:
    """Return the power of a test: more than α, its rate of false positives, and below 1."""
    power = as_real("power", value, above=0.0, below=1.0, like=", such as 0.8")
    if power <= alpha:
        raise InvalidValueError(
            f"power is {power:g}; expected more than α = {alpha:.4g}, the share of tests that are "
            "significant where there is no difference"
        )
    return power


def as_levels(value: Any, name: str = "level") -> tuple[float, ...]:
    """Return confidence levels, given as one or several."""
    return tuple(as_level(one, name) for one in as_list(name, value, single=_NUMBER))


def as_text(name: str, value: Any) -> str:
    """Return a non-empty string."""
    if not isinstance(value, str) or not value:
        raise invalid(name, value, "text")
    return value


def as_texts(name: str, value: Any, *, least: int = 1) -> tuple[str, ...]:
    """Return non-empty strings, given as one or several."""
    return tuple(as_text(name, one) for one in as_list(name, value, least=least, single=str))


def as_choice(name: str, value: Any, known: Iterable[Name], kind: str | None = None) -> Name:
    """Return one of the known names; ``kind`` describes them in messages."""
    names = list(known)
    if not isinstance(value, str) or not value:
        raise invalid(name, value, f"one of {enumerate_names(names, 20)}")
    if value not in names:
        raise UnknownNameError(kind or name, value, names)
    return names[names.index(value)]


def as_choices(
    name: str, value: Any, known: Collection[Name], kind: str | None = None
) -> tuple[Name, ...]:
    """Return some of the known names, given as one or several."""
    return tuple(as_choice(name, one, known, kind) for one in as_list(name, value, single=str))


def as_list(
    name: str, value: Any, *, least: int = 1, single: type | tuple[type, ...] = ()
) -> list[Any]:
    """Return several values as a list, and one of a ``single`` type as a list of one.

    Other strings, bytes and masked arrays are rejected.
    """
    if isinstance(value, single):
        return [value]
    listed = [*value] if isinstance(value, list) else None
    is_single = isinstance(value, str | bytes) or not isinstance(value, Iterable)
    if listed is None and not (is_single or _is_masked(value)):
        with suppress(TypeError):  # an array of no dimension, or a class
            listed = list(value)
    if listed is None:
        raise invalid(name, value, "one, or several in a list")
    if len(listed) < least:
        raise InvalidValueError(f"no {name.removesuffix('s')} is named; expected at least one")
    return listed


def as_flag(name: str, value: Any) -> bool:
    """Return a boolean; nothing else is accepted."""
    if not isinstance(value, _BOOLEAN):
        raise invalid(name, value, "True or False")
    return bool(value)


def as_function(name: str, value: Any) -> Callable[..., Any] | None:
    """Return a function or None."""
    if value is not None and not callable(value):
        raise invalid(name, value, "a function, or None")
    function: Callable[..., Any] | None = value
    return function


def as_path(name: str, value: Any) -> str:
    """Return a path as a string; bytes and NUL characters are rejected."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise invalid(name, value, "a path")
    return path


def check_replicates(replicates: int) -> None:
    """Raise if the number of replicates is invalid."""
    if as_integer("replicates", replicates) > MOST_REPLICATES:
        raise InvalidValueError(
            f"replicates is {replicates:,}; expected at most {MOST_REPLICATES:,}"
        )


def check_rng(rng: Any) -> None:
    """Raise where a value is neither a seed nor a generator nor None.

    Seeds are checked here, since numpy.random takes time to load.
    """
    if not (rng is None or (type(rng) is int and rng >= 0)):
        as_generator(rng)


def as_generator(rng: Any) -> np.random.Generator:
    """Return the random generator of a seed, or the generator itself."""
    # the generator of a RandomState cannot be spawned for threads
    wrong = isinstance(rng, str | bytes | float | np.random.RandomState)
    problem = wrong or _is_masked(rng) or isinstance(rng, _BOOLEAN)
    try:
        generator = None if problem else np.random.default_rng(rng)
    except (TypeError, ValueError, AttributeError):
        generator = None
    if generator is None:
        raise invalid("rng", rng, "a whole number from 0, a generator, or None")
    return generator


def as_seed(rng: Any) -> int:
    """Return the seed of draws that several verbs share: the one given, or a new one of the generator."""
    generator = as_generator(rng)
    if isinstance(rng, Integral):
        return as_integer("rng", rng, lowest=0, highest=2**128)
    return int(generator.integers(2**63))


def as_reals(name: str, value: Any, expected: str = "an array of numbers") -> Floats:
    """Return an array of numbers, NaN where missing.

    Masked values, strings, dates and complex numbers are rejected: converted to floats they would
    change their meaning.
    """
    try:
        array = np.asarray(value)
        plain = array.dtype.kind in "biuf" or all(map(_is_number, array.reshape(-1).tolist()))
        numbers = array.astype(np.float64, copy=False) if plain else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or _is_masked(value):
        raise invalid(name, value, expected)
    return numbers


def _is_masked(value: Any) -> bool:
    """Whether a value is a masked array, of a module that numpy loads when it is needed."""
    # While another thread loads the module, it lacks the class, and there are no such arrays yet.
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return masked is not None and isinstance(value, masked)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, _BOOLEAN))


def is_from(package: str, value: object) -> bool:
    """Whether an object is one of a package, or of a subclass, without importing the package."""
    modules = (base.__module__ for base in type(value).__mro__)
    return any(module.partition(".")[0] == package for module in modules)
