"""Numbers as text: scores, intervals, shares, p-values and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from confir.arrays import TIE, Booleans, Integers

# So many digits distinguish any two numbers.
_ALL_DIGITS = 17

# Levels that somebody chose, such as 99.95%, have at most so many decimals.
_DECIMALS_OF_LEVELS = 2

# So many decimals distinguish any level from 100%.
_MOST_DECIMALS = 17

# Decimals of scores in sentences, and in the leaderboard below them.
SENTENCE_DECIMALS = 3


class NumberText(str):
    """The text of a number, or of one with its limits, which can be written with fewer decimals.

    Attributes
    ----------
    value, low, high
        The numbers; NaN where there is none.
    is_signed
        Whether it is a difference, written with its sign.
    open_end
        1 where the lower limit is excluded from the interval, -1 where the upper one is, else 0.
    decimals
        Decimals of numbers below 10; None for as many as usual.
    """

    __slots__ = ("decimals", "high", "is_signed", "low", "open_end", "value")
    value: float
    low: float
    high: float
    is_signed: bool
    open_end: int
    decimals: int | None

    def rounded(self, decimals: int) -> NumberText:
        """Return the text with other decimals, rounded from the numbers themselves."""
        return number_text(
            self.value,
            self.low,
            self.high,
            is_signed=self.is_signed,
            open_end=self.open_end,
            decimals=decimals,
        )


def number_text(
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    *,
    is_signed: bool = False,
    open_end: int = 0,
    decimals: int | None = None,
) -> NumberText:
    """Return the text of numbers: ``0.2175``, ``0.2175 [0.1484, 0.2866]``, ``[0.1, 0.2]``.

    By default scores have four decimals and large numbers one; what is missing is a dash. Numbers that are
    shown together have the same decimals.
    """
    known = [number for number in (value, low, high) if not math.isnan(number)]
    has_limits = not (math.isnan(low) or math.isnan(high))
    shown_together = known if has_limits else [value]
    largest = max((abs(one) for one in shown_together if math.isfinite(one)), default=0.0)
    wanted = 4 if decimals is None else decimals
    places = wanted if largest < 10 else min(1, wanted)
    numbers = (value, low, high)
    if is_signed:
        # beside large numbers, a small one keeps its digits
        small = 0.5 * 10.0**-places
        texts = [signed(one, wanted if TIE <= abs(one) < small else places) for one in numbers]
    else:
        texts = ["–" if math.isnan(one) else f"{one:,.{places}f}" for one in numbers]
    shown = texts[0]
    if has_limits:
        limits = bracketed(texts[1], texts[2], open_end)
        shown = limits if math.isnan(value) else f"{shown} {limits}"
    text = NumberText(shown)
    text.value, text.low, text.high = numbers
    text.is_signed, text.open_end, text.decimals = is_signed, open_end, decimals
    return text


def limits_text(low: float, high: float) -> str:
    """Return limits alone: ``[0.1484, 0.2866]``, a dash if missing."""
    return number_text(math.nan, low, high)


def difference_text(difference: float, low: float, high: float, open_end: int = 0) -> str:
    """Return text such as ``+0.0210 [+0.0040, +0.0390]``; missing numbers are left out."""
    return number_text(difference, low, high, is_signed=True, open_end=open_end)


def signed(value: float, decimals: int = 4) -> str:
    """Return a signed difference to some decimals; one digit if it would round to 0."""
    if math.isnan(value):
        return "–"
    if abs(value) < TIE:
        return f"{0:.{decimals}f}"
    if abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:+.0e}"
    return f"{value:+,.{decimals if abs(value) < 10 else 1}f}"


def bracketed(low: str, high: str, open_end: int = 0) -> str:
    """Return the text of an interval: ``[low, high]``, a round bracket at an end that is excluded.

    Parameters
    ----------
    open_end
        1 where the lower end is excluded, -1 where the upper one is, else 0.
    """
    return f"{'(' if open_end > 0 else '['}{low}, {high}{')' if open_end < 0 else ']'}"


def percent(share: float, digits: int = 10) -> str:
    """Return a share or a level for a sentence: ``95%``, ``4.6%``.

    What is less than 1 has so many digits that it is not written as 100%.
    """
    if math.isnan(share):
        return "–"
    while share < 1.0 and float(f"{100 * share:.{digits}g}") >= 100.0 and digits < _ALL_DIGITS:
        digits += 1
    text = f"{100 * share:.{digits}g}"
    return f"{Decimal(text):f}%"


def level_text(level: float) -> str:
    """Return a confidence level: ``95%``, or one of many digits to one decimal, ``97.0%``, never 100%."""
    exact = f"{100.0 * level:.10g}"
    if level == 1.0 or (len(exact.partition(".")[2]) <= _DECIMALS_OF_LEVELS and exact != "100"):
        return f"{exact}%"
    decimals = 1
    while float(f"{100.0 * level:.{decimals}f}") >= 100.0 and decimals < _MOST_DECIMALS:
        decimals += 1
    return f"{100.0 * level:.{decimals}f}%"


def share_text(share: float, decimals: int = 1) -> str:
    """Return a share for a column of shares: ``12.3%``, a dash if missing."""
    return "–" if math.isnan(share) else f"{100 * share:.{decimals}f}%"


def share_words(share: float) -> str:
    """Return a share for a sentence, as a whole percentage: ``59%``, ``less than 1%``."""
    if 0.0 < share < 0.005:
        return "less than 1%"
    return "more than 99%" if 0.995 <= share < 1.0 else f"{100 * share:.0f}%"


def frequency_text(share: float) -> str:
    """Return a share of bootstrap samples: ``0.832``."""
    return f"{share:.3f}"


def p_text(p: float, decimals: int = 4) -> str:
    """Return a p-value for a table or a chart, never 0: ``0.0210``, ``<0.0001``, a dash if missing.

    Every p-value is written by this function, those of sentences by way of `p_words`.
    """
    if math.isnan(p):
        return "–"
    smallest = 10.0**-decimals
    return f"{p:.{decimals}f}" if p >= smallest else f"<{smallest:.{decimals}f}"


def score_words(value: float) -> str:
    """Return a score for a sentence, to three decimals: ``0.378``."""
    return number_text(value, decimals=SENTENCE_DECIMALS)


def limits_words(low: float, high: float) -> str:
    """Return limits for a sentence, to three decimals: ``[0.308, 0.454]``."""
    return number_text(math.nan, low, high, decimals=SENTENCE_DECIMALS)


def signed_words(value: float) -> str:
    """Return a difference for a sentence, with a true minus sign: ``−0.099``, ``+0.0004``."""
    tiny = TIE <= abs(value) < 0.5 * 10.0**-SENTENCE_DECIMALS
    return signed(value, SENTENCE_DECIMALS + tiny).replace("-", "−")


def difference_words(difference: float, low: float, high: float, open_end: int = 0) -> str:
    """Return a difference with its limits for a sentence: ``−0.099 [−0.188, −0.010]``."""
    limits = (
        ""
        if math.isnan(low) or math.isnan(high)
        else f" {bracketed(signed_words(low), signed_words(high), open_end)}"
    )
    return f"{signed_words(difference)}{limits}"


def p_words(p: float) -> str:
    """Return a p-value for a sentence, to three decimals: ``p = .021``, ``p < .001``, ``p = 1``."""
    if math.isnan(p):
        return "no p-value"
    if p >= 1.0:
        return "p = 1"
    text = p_text(p, SENTENCE_DECIMALS).replace("0.", ".", 1)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def count_words(number: float) -> str:
    """Return a number of topics as exactly as it is known: ``43``, ``1,300``, ``93,000``."""
    return f"{float(f'{number:.2g}'):,.0f}"


def topics_text(counts: Integers, model_topics: int = 0) -> str:
    """Return the number of topics of means: ``60 topics``, or ``40 to 60 topics``.

    Counts of 0, of runs without a mean, are ignored.

    Parameters
    ----------
    counts
        Topics of each mean.
    model_topics
        Further topics that only a model judged.
    """
    most = int(counts.max())
    topics = f"{most:,} topic{'' if most == 1 else 's'}"
    if model_topics:
        return f"{topics} with human judgements and {model_topics:,} with a model's"
    fewest = int(counts[counts > 0].min(initial=most))
    return topics if fewest == most else f"{fewest:,} to {topics}"


def topic_counts_text(counts: Sequence[int]) -> str:
    """Return the numbers of topics of a run's means by several measures; one where all agree."""
    return ", ".join(f"{n:,}" for n in (counts if len(set(counts)) > 1 else counts[:1]))


def runs_differ_in_topics(counts: Integers) -> Booleans:
    """Return for which measures runs have different numbers of topics, from counts runs × measures."""
    return np.array([len(set(column) - {0}) > 1 for column in counts.T.tolist()], bool)
