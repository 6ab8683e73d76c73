"""Compiled kernels for the lines of a run file, and the judged documents in them.

Kernels for numba find out, from bytes alone: they parse, hash, look up and sort. All of them, and
what they call, are in this one file: numba's cache notices that the file of a kernel has changed,
but not that another one has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arrays import Bytes, Floats, Integers, Numbers
from confir.compilation import Compile, compile_with_numba, inline_parts

TAB, NEWLINE, RETURN, SPACE = b"\t\n\r "
NUMBER_SIGN, PLUS, MINUS, POINT, ZERO, NINE, LETTER_E = b"#+-.09e"
UPPER_TO_LOWER = 32
SHORTEST_LINE = len("1 0 d 1 1 t\n")

# Bytes are compared and hashed eight at a time; a buffer has this many beyond its content.
WORD = 8
EACH_BYTE = np.uint64(0x0101010101010101)
EACH_BLANK = EACH_BYTE * np.uint64(SPACE + 1)
EACH_HIGH_BIT = EACH_BYTE << np.uint64(7)
NOTHING, ONE, BITS_BELOW, BITS_ABOVE = (np.uint64(n) for n in (0, 1, 7, 56))

# Ids that are looked up at a time.
AHEAD = 256
# At most a quarter of it is used: lists of a thousand documents need no larger one.
SMALLEST_TABLE = 1 << 12
# An id stands fewer slots than this after the one that its hash names, and a search ends after twice
# as many. Hashes of a hundred million ids do not make half of them necessary; those of ids that were
# made to collide would let every search take forever.
LONGEST_SEARCH = 128
HASH_START = np.uint64(0x9E3779B97F4A7C15)
HASH_FACTOR = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)

# A float holds every whole number up to here, and every power of ten up to 10**22.
EXACT_WHOLE = 2**53
POWERS_OF_TEN = np.array([float(10**n) for n in range(23)])
# Mantissas of this many digits fit into 64 bits.
MOST_DIGITS = 18
# Splits the 53 bits of a float into two parts whose products are exact.
SPLITTER = float(2**27 + 1)
# Far above the relative error of a quotient's correction, which is below 2**-51.
DOUBT = 2.0**-40

Hashes = npt.NDArray[np.uint64]


class IdTable(NamedTuple):
    """Finds ids given as bytes, by a hash table for each group of them.

    Attributes
    ----------
    text, starts
        Id ``n`` is ``text[starts[n]:starts[n + 1] - 1]``; a newline follows.
    slots
        The upper half of an id's hash, and in the lower half its number plus 1; 0 where empty.
    bounds
        The table of group ``g`` is ``slots[bounds[g]:bounds[g + 1]]``, a power of two.
    """

    text: Bytes
    starts: Integers
    slots: Hashes
    bounds: Integers


class Lines(NamedTuple):
    """The lines of a block, as far as they were understood.

    Attributes
    ----------
    understood
        Whether that is all of them.
    scores, document_starts, rows
        For each line its score, where its docid starts, and the row of that among the documents
        of the index, or -1.
    odd_lines, odd_starts
        The lines whose score is left to Python, and where it starts.
    group_topics, group_starts, group_lines
        For each topic its number in the qrels, or -1; where its id starts; its first line, and
        after the last topic the number of lines.
    tag_start
        Where the tag of the first line starts.
    """

    understood: bool
    scores: Floats
    document_starts: Integers
    rows: Integers
    odd_lines: Integers
    odd_starts: Integers
    group_topics: Integers
    group_starts: Integers
    group_lines: Integers
    tag_start: int


def index_ids(ids: Sequence[str], offsets: Integers, kernels: ScanKernels) -> tuple[IdTable, bool]:
    """Return the table of ids of which ``offsets[g]:offsets[g + 1]`` form group ``g``.

    And whether it finds all of them: it does not where their hashes collide too often.
    """
    # Text from Python may hold what UTF-8 does not; it is then found in no file.
    encoded = [text.encode("utf-8", "surrogatepass") for text in ids]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    # More than twice the ids: half the slots stay empty, which ends every search.
    capacity = np.int64(1) << np.frexp(2.0 * np.diff(offsets))[1].astype(np.int64)
    table = IdTable(
        np.frombuffer(bytearray(b"\n".join(encoded) + b"\n" * WORD), np.uint8),
        np.concatenate(([0], np.cumsum(lengths + 1))),
        np.zeros(capacity.sum(), np.uint64),
        np.concatenate(([0], np.cumsum(capacity))),
    )
    return table, kernels.fill_slots(table, offsets)


# The kernels: plain functions, which numba compiles when they are needed. A block ends with a
# newline, and no loop over the bytes of a field or of blanks goes beyond one.


def _signed(number: np.uint64 | np.uint8) -> int:
    """Return a number as a signed one; mixed with others, some versions make a float of it."""
    return int(np.int64(number))


def _byte(text: Bytes, at: int) -> int:
    """Return the byte at a position; unlike other indices, positions are never negative."""
    return _signed(text[np.uint64(at)])


def _word(text: Bytes, at: int) -> np.uint64:
    """Return eight bytes as one number, the first one lowest; compiled, this is one step."""
    word = NOTHING
    for i in range(WORD):
        word |= np.uint64(_byte(text, at + i)) << np.uint64(8 * i)
    return word


def _field_ends(word: np.uint64) -> np.uint64:
    """Return a number whose lowest bit marks the first byte that is no part of a field."""
    return (word - EACH_BLANK) & ~word & EACH_HIGH_BIT


def _bytes_before(ends: np.uint64) -> np.uint64:
    """Return the mask of the bytes before the first marked one."""
    return ((ends & (NOTHING - ends)) >> BITS_BELOW) - ONE


def _count_bytes(mask: np.uint64) -> int:
    """Return how many bytes a mask covers."""
    return _signed(((mask & EACH_BYTE) * EACH_BYTE) >> BITS_ABOVE)


def _skip_field(text: Bytes, at: int) -> int:
    """Return where a field ends."""
    ends = _field_ends(_word(text, at))
    while ends == NOTHING:
        at += WORD
        ends = _field_ends(_word(text, at))
    return at + _count_bytes(_bytes_before(ends))


def _hash_field(text: Bytes, at: int) -> tuple[np.uint64, int]:
    """Return half a hash of a field, and where the field ends."""
    key, end = _key_of_field(text, at)
    return key >> HALF, end


def _key_of_field(text: Bytes, at: int) -> tuple[np.uint64, int]:
    """Return a hash of a field, and where the field ends."""
    mixed = HASH_START
    word = _word(text, at)
    ends = _field_ends(word)
    while ends == NOTHING:
        mixed = (mixed ^ word) * HASH_FACTOR
        mixed ^= mixed >> HALF
        at += WORD
        word = _word(text, at)
        ends = _field_ends(word)
    mask = _bytes_before(ends)
    mixed = (mixed ^ (word & mask)) * HASH_FACTOR
    mixed ^= mixed >> HALF
    return mixed * HASH_FACTOR, at + _count_bytes(mask)


def _same_bytes(one: Bytes, at: int, other: Bytes, start: int, length: int) -> bool:
    """Whether two texts agree from two positions on."""
    shift = 0
    while length - shift >= WORD:
        if _word(one, at + shift) != _word(other, start + shift):
            return False
        shift += WORD
    mask = (ONE << np.uint64(8 * (length - shift))) - ONE
    return bool((_word(one, at + shift) ^ _word(other, start + shift)) & mask == NOTHING)


def _same_field(text: Bytes, at: int, start: int, length: int) -> bool:
    """Whether the field at a position equals the one of that length at another."""
    return _same_bytes(text, at, text, start, length) and _byte(text, at + length) <= SPACE


def _is_blank(byte: int) -> bool:
    return byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE)


def _skip_blanks(block: Bytes, at: int) -> int:
    while _is_blank(_byte(block, at)):
        at += 1
    return at


def _next_field(block: Bytes, at: int) -> int:
    """Return where the next field of the line starts, or what stands there instead."""
    return _skip_blanks(block, _skip_field(block, at))


def _next_line(block: Bytes, at: int, stop: int) -> int:
    """Return where the first field of a line begins that is neither blank nor a comment."""
    while at < stop:
        byte = _byte(block, at)
        if byte == NUMBER_SIGN:
            # A zero byte ends this too; it is then found not to begin a field.
            while _byte(block, at) != NEWLINE and _byte(block, at) != 0:
                at += 1
        elif byte == NEWLINE or _is_blank(byte):
            at += 1
        else:
            break
    return at


def _fill_slots(table: IdTable, offsets: Integers) -> bool:
    """Enter the ids into the tables of their groups; return whether all of them have a place."""
    for group in range(len(offsets) - 1):
        first = table.bounds[group]
        mask = table.bounds[group + 1] - first - 1
        for number in range(offsets[group], offsets[group + 1]):
            tag, _ = _hash_field(table.text, table.starts[number])
            if not _fill_slot(table.slots, first, mask, tag, number):
                return False
        if _longest_run(table.slots[first : first + mask + 1]) > 2 * LONGEST_SEARCH:
            return False
    return True


def _longest_run(slots: Hashes) -> int:
    """Return how many slots without an empty one between them there are, at most: a search's work."""
    longest, run, first = 0, 0, -1
    for slot in slots:
        if slot != 0:
            run += 1
        else:
            if first < 0:
                first = run
            longest = max(longest, run)
            run = 0
    return max(longest, run + max(first, 0))  # the last one goes on at the beginning


def _fill_slot(slots: Hashes, first: int, mask: int, tag: np.uint64, number: int) -> bool:
    """Enter the number of an id into the first free slot from the one that its hash names on.

    Return whether there is one that a search will reach.
    """
    named = _signed(tag) & mask
    place = named
    while slots[first + place] != 0:
        place = (place + 1) & mask
        if (place - named) & mask == LONGEST_SEARCH:
            return False
    slots[first + place] = (tag << HALF) | np.uint64(number + 1)
    return True


def _find_id(table: IdTable, group: int, tag: np.uint64, block: Bytes, at: int, length: int) -> int:
    """Return the number of the id that stands in the block, or -1."""
    first = table.bounds[group]
    mask = table.bounds[group + 1] - first - 1
    place = _signed(tag) & mask
    while table.slots[first + place] != 0:
        slot = table.slots[first + place]
        if slot >> HALF == tag:
            number = _signed(slot & LOW_HALF) - 1
            start = table.starts[number]
            if table.starts[number + 1] - 1 - start == length and _same_bytes(
                table.text, start, block, at, length
            ):
                return number
        place = (place + 1) & mask
    return -1


def _hash_ids(block: Bytes, at: Integers) -> tuple[Hashes, Integers]:
    """Return half a hash of each id that stands in a block, and where it ends."""
    tags = np.empty(len(at), np.uint64)
    ends = np.empty(len(at), np.int64)
    for entry in range(len(at)):
        tags[entry], ends[entry] = _hash_field(block, at[entry])
    return tags, ends


def _copy_ids(block: Bytes, at: Integers) -> tuple[Bytes, Numbers, Hashes]:
    """Return ids that stand in a block, a newline after each; their sizes, and their keys."""
    sizes = np.empty(len(at), np.int32)
    keys = np.empty(len(at), np.uint64)
    size = 0
    for entry in range(len(at)):
        keys[entry], end = _key_of_field(block, at[entry])
        sizes[entry] = end - at[entry]
        size += sizes[entry] + 1
    text = np.empty(size, np.uint8)
    place = 0
    for entry in range(len(at)):
        for position in range(at[entry], at[entry] + sizes[entry]):
            text[place] = block[position]
            place += 1
        text[place] = NEWLINE
        place += 1
    return text, sizes, keys


def _number_ids(
    block: Bytes, at: Integers, tags: Hashes, ends: Integers, table: IdTable, count: int
) -> tuple[Integers, int]:
    """Return the numbers of ids that stand in a block, and how many ids the table then holds.

    Ids that the table, of one group and with room for all, does not hold yet are entered. Where one
    finds no place, since hashes collide too often, the count is that of those before, negative, less 1.
    """
    numbers = np.empty(len(at), np.int64)
    for entry in range(len(at)):
        if entry % AHEAD == 0:
            _look_ahead(tags[entry : entry + AHEAD], table)
        start, end, tag = at[entry], ends[entry], tags[entry]
        number = _find_id(table, 0, tag, block, start, end - start)
        if number < 0:
            number = count
            if not _fill_slot(table.slots, 0, len(table.slots) - 1, tag, number):
                return numbers, -1 - count
            count += 1
            place = table.starts[number]
            for position in range(start, end):
                table.text[place] = block[position]
                place += 1
            table.text[place] = NEWLINE
            table.starts[count] = place + 1
        numbers[entry] = number
    return numbers, count


def _look_ahead(tags: Hashes, table: IdTable) -> None:
    """Have the cache hold what finds ids.

    The processor waits for many places of memory at a time where none depends on another.
    """
    near = np.empty(len(tags), np.uint64)
    mask = len(table.slots) - 1
    for entry in range(len(tags)):
        near[entry] = table.slots[_signed(tags[entry]) & mask]
    for entry in range(len(tags)):
        number = max(_signed(near[entry] & LOW_HALF) - 1, 0)
        near[entry] = np.uint64(table.starts[number])
    for entry in range(len(tags)):
        near[entry] = np.uint64(table.text[np.int64(near[entry])])


def _move_slots(slots: Hashes, larger: Hashes) -> None:
    """Enter the ids of one table into an empty larger one.

    None stands farther from the slot that its hash names than before: ids that name neighbouring
    slots of the larger table named neighbouring ones of the smaller.
    """
    mask = len(larger) - 1
    for slot in slots:
        if slot != 0:
            place = _signed(slot >> HALF) & mask
            while larger[place] != 0:
                place = (place + 1) & mask
            larger[place] = slot


def _find_last_topic(block: Bytes, stop: int) -> int:
    """Return where the lines of the last topic begin, which may go on in the next block."""
    while stop > 0 and _byte(block, stop - 1) != NEWLINE:
        stop -= 1
    first = stop
    topic = -1
    length = 0
    while stop > 0:
        start = stop - 1
        while start > 0 and _byte(block, start - 1) != NEWLINE:
            start -= 1
        field = start
        while field < stop and _byte(block, field) <= SPACE:
            field += 1
        if field < stop and _byte(block, field) != NUMBER_SIGN:
            if topic < 0:
                topic = field
                length = _skip_field(block, field) - field
            elif not _same_field(block, field, topic, length):
                return first
        first = start
        stop = start
    return 0


def _scan_lines(block: Bytes, stop: int, topics: IdTable, documents: IdTable) -> Lines:
    """Return the lines of a block, up to the first that is not understood."""
    most = stop // SHORTEST_LINE + 1
    scores = np.empty(most, np.float64)
    document_starts = np.empty(most, np.int64)
    rows = np.empty(most, np.int64)
    odd_lines = np.empty(most, np.int64)
    odd_starts = np.empty(most, np.int64)
    group_topics = np.empty(most, np.int64)
    group_starts = np.empty(most, np.int64)
    group_lines = np.empty(most + 1, np.int64)
    seen = np.zeros(SMALLEST_TABLE, np.uint64)
    understood = True
    line, groups, odd, tag_start = 0, 0, 0, 0
    topic, topic_start, topic_length, first_line = -1, 0, 0, 0
    at = _next_line(block, 0, stop)
    while at < stop:
        if not groups or not _same_field(block, at, topic_start, topic_length):
            topic_start = at
            tag, end = _hash_field(block, at)
            topic_length = end - at
            topic = _find_id(topics, 0, tag, block, at, topic_length)
            first_line = line
            group_topics[groups] = topic
            group_starts[groups] = topic_start
            group_lines[groups] = first_line
            groups += 1
        at = _skip_blanks(block, at + topic_length)
        # Where a column is missing, all of the following stay at the end of the line.
        start = _next_field(block, at)
        tag, end = _hash_field(block, start)
        score_start = _next_field(block, _skip_blanks(block, end))
        score, score_stop, exact = _parse_score(block, score_start)
        last = _skip_blanks(block, score_stop)
        at = _next_field(block, last)
        if topic_length == 0 or _byte(block, last) <= SPACE or _byte(block, at) != NEWLINE:
            understood = False
            break
        if 4 * (line - first_line) >= len(seen):
            seen = _enlarge(seen, first_line)
        if not _enter(seen, tag, line, first_line, block, document_starts, start, end - start):
            understood = False
            break
        scores[line] = score
        document_starts[line] = start
        rows[line] = -1 if topic < 0 else _find_id(documents, topic, tag, block, start, end - start)
        if not exact:
            odd_lines[odd] = line
            odd_starts[odd] = score_start
            odd += 1
        if line == 0:
            tag_start = last
        line += 1
        at = _next_line(block, at, stop)
    group_lines[groups] = line
    return Lines(
        understood,
        scores[:line],
        document_starts[:line],
        rows[:line],
        odd_lines[:odd],
        odd_starts[:odd],
        group_topics[:groups],
        group_starts[:groups],
        group_lines[: groups + 1],
        tag_start,
    )


def _enter(
    seen: Hashes,
    tag: np.uint64,
    line: int,
    first_line: int,
    block: Bytes,
    document_starts: Integers,
    at: int,
    length: int,
) -> bool:
    """Enter a docid into the table of its topic's docids; return whether it is new, and has a place.

    A slot holds hash and line as those of an `IdTable` do. It is free where it is 0 and where its
    line is of an earlier topic, so that the table need not be cleared.
    """
    mask = len(seen) - 1
    named = _signed(tag) & mask
    place = named
    while _signed(seen[place] & LOW_HALF) > first_line:
        slot = seen[place]
        if slot >> HALF == tag:
            other = document_starts[_signed(slot & LOW_HALF) - 1]
            if _same_field(block, other, at, length):
                return False
        place = (place + 1) & mask
        if (place - named) & mask == LONGEST_SEARCH:
            return False
    seen[place] = (tag << HALF) | np.uint64(line + 1)
    return True


def _enlarge(seen: Hashes, first_line: int) -> Hashes:
    """Return a larger table with the docids of the topic that begins at a line."""
    larger = np.zeros(4 * len(seen), np.uint64)
    mask = len(larger) - 1
    for slot in seen:
        if _signed(slot & LOW_HALF) > first_line:
            place = _signed(slot >> HALF) & mask
            while larger[place] != 0:
                place = (place + 1) & mask
            larger[place] = slot
    return larger


def _parse_score(block: Bytes, at: int) -> tuple[float, int, bool]:
    """Return the number in a field, where the field ends, and whether the number is exact.

    Exact means the float nearest to the decimal number, as Python reads it.
    """
    negative = _byte(block, at) == MINUS
    if negative or _byte(block, at) == PLUS:
        at += 1
    start = at
    mantissa = 0
    exponent = 0
    while ZERO <= _byte(block, at) <= NINE:
        mantissa = 10 * mantissa + (_byte(block, at) - ZERO)
        at += 1
    digits = at - start
    if _byte(block, at) == POINT:
        at += 1
        fraction = at
        while ZERO <= _byte(block, at) <= NINE:
            mantissa = 10 * mantissa + (_byte(block, at) - ZERO)
            at += 1
        exponent = fraction - at
        digits += at - fraction
    exact = digits > 0
    if digits > MOST_DIGITS:
        exact = digits - _count_leading_zeros(block, start) <= MOST_DIGITS
    if _byte(block, at) | UPPER_TO_LOWER == LETTER_E:
        shift, at = _parse_exponent(block, at + 1)
        exponent += shift
    if _byte(block, at) > SPACE or abs(exponent) >= len(POWERS_OF_TEN):
        exact = False
    value = 0.0
    if exact:
        if mantissa > EXACT_WHOLE:
            value, exact = _divide(mantissa, -exponent)
        elif exponent < 0:
            value = mantissa / POWERS_OF_TEN[-exponent]
        else:
            value = mantissa * POWERS_OF_TEN[exponent]
    return -value if negative else value, _skip_field(block, at), exact


def _count_leading_zeros(block: Bytes, at: int) -> int:
    zeros = 0
    while _byte(block, at) == ZERO or _byte(block, at) == POINT:
        zeros += _byte(block, at) == ZERO
        at += 1
    return zeros


def _parse_exponent(block: Bytes, at: int) -> tuple[int, int]:
    """Return the exponent after an "e", and where it ends; a huge one where there is none."""
    negative = _byte(block, at) == MINUS
    if negative or _byte(block, at) == PLUS:
        at += 1
    start = at
    exponent = 0
    while ZERO <= _byte(block, at) <= NINE:
        exponent = min(10 * exponent + (_byte(block, at) - ZERO), EXACT_WHOLE)
        at += 1
    if at == start:
        exponent = EXACT_WHOLE
    return -exponent if negative else exponent, at


def _divide(mantissa: int, power: int) -> tuple[float, bool]:
    """Return a mantissa beyond 2**53 divided by a power of ten, and whether it is surely exact.

    The quotient of the nearest float is corrected by the exact remainder. If the correction
    decides how to round, even when it is a little larger or smaller, the result is exact.
    """
    if power < 0:
        return 0.0, False
    divisor = POWERS_OF_TEN[power]
    nearest = float(mantissa)
    quotient = nearest / divisor
    product = quotient * divisor
    scaled = SPLITTER * quotient
    high = scaled - (scaled - quotient)
    low = quotient - high
    scaled = SPLITTER * divisor
    divisor_high = scaled - (scaled - divisor)
    divisor_low = divisor - divisor_high
    missed = (
        high * divisor_high - product + high * divisor_low + low * divisor_high
    ) + low * divisor_low
    remainder = (nearest - product) - missed
    correction = (remainder + (mantissa - int(nearest))) / divisor
    value = quotient + correction * (1.0 + DOUBT)
    return value, value == quotient + correction * (1.0 - DOUBT)


def _rank_judged(block: Bytes, lines: Lines) -> tuple[Integers, Integers, Integers]:
    """Return topic, row and number of documents above, for each document that is in the index."""
    most = 0
    for row in lines.rows:
        most += row >= 0
    topics = np.empty(most, np.int64)
    rows = np.empty(most, np.int64)
    before = np.empty(most, np.int64)
    order = np.empty(len(lines.rows), np.int64)
    spare = np.empty(len(lines.rows), np.int64)
    found = 0
    for group in range(len(lines.group_topics)):
        topic = lines.group_topics[group]
        if topic < 0:
            continue
        start = lines.group_lines[group]
        stop = lines.group_lines[group + 1]
        for line in range(start, stop):
            order[line] = line
        _sort_list(order, spare, start, stop, block, lines)
        for place in range(start, stop):
            row = lines.rows[order[place]]
            if row >= 0:
                topics[found] = topic
                rows[found] = row
                before[found] = place - start
                found += 1
    return topics, rows, before


def _rank_lines(block: Bytes, lines: Lines) -> Integers:
    """Return the lines in rank order within each topic."""
    order = np.arange(len(lines.scores))
    spare = np.empty(len(lines.scores), np.int64)
    for group in range(len(lines.group_topics)):
        start, stop = lines.group_lines[group], lines.group_lines[group + 1]
        _sort_list(order, spare, start, stop, block, lines)
    return order


def _sort_list(
    order: Integers, spare: Integers, start: int, stop: int, block: Bytes, lines: Lines
) -> None:
    """Order the lines of one topic by score, then by docid, both descending.

    Most files are in order except for ties; then only these are sorted.
    """
    for place in range(start + 1, stop):
        if lines.scores[place] > lines.scores[place - 1]:
            _merge_sort(order, spare, start, stop, block, lines)
            return
    tie = start
    for place in range(start + 1, stop + 1):
        if place == stop or lines.scores[place] != lines.scores[tie]:
            if place - tie > 1:
                _merge_sort(order, spare, tie, place, block, lines)
            tie = place


def _merge_sort(
    order: Integers, spare: Integers, start: int, stop: int, block: Bytes, lines: Lines
) -> None:
    """Order the lines in ``order[start:stop]``; ``spare`` is room to work."""
    width = 1
    while width < stop - start:
        for first in range(start, stop, 2 * width):
            middle = min(first + width, stop)
            last = min(middle + width, stop)
            left, right = first, middle
            for place in range(first, last):
                if left == middle or (
                    right < last and _stands_above(order[right], order[left], block, lines)
                ):
                    spare[place] = order[right]
                    right += 1
                else:
                    spare[place] = order[left]
                    left += 1
        for place in range(start, stop):
            order[place] = spare[place]
        width *= 2


def _stands_above(one: int, other: int, block: Bytes, lines: Lines) -> bool:
    """Whether one line's document is ranked above that of another line."""
    if lines.scores[one] != lines.scores[other]:
        return bool(lines.scores[one] > lines.scores[other])
    at = lines.document_starts[one]
    shift = lines.document_starts[other] - at
    while _byte(block, at) == _byte(block, at + shift) and _byte(block, at) > SPACE:
        at += 1
    return bool(_byte(block, at) > SPACE and (_byte(block, at) > _byte(block, at + shift)))


# What numba makes of them


class ScanKernels(NamedTuple):
    """The compiled kernels."""

    fill_slots: Callable[[IdTable, Integers], bool]
    find_last_topic: Callable[[Bytes, int], int]
    scan_lines: Callable[[Bytes, int, IdTable, IdTable], Lines]
    rank_judged: Callable[[Bytes, Lines], tuple[Integers, Integers, Integers]]
    rank_lines: Callable[[Bytes, Lines], Integers]
    hash_ids: Callable[[Bytes, Integers], tuple[Hashes, Integers]]
    copy_ids: Callable[[Bytes, Integers], tuple[Bytes, Numbers, Hashes]]
    number_ids: Callable[[Bytes, Integers, Hashes, Integers, IdTable, int], tuple[Integers, int]]
    move_slots: Callable[[Hashes, Hashes], None]


_PARTS_OF_KERNELS: tuple[Callable[..., Any], ...] = (
    _signed,
    _byte,
    _word,
    _field_ends,
    _bytes_before,
    _count_bytes,
    _skip_field,
    _key_of_field,
    _hash_field,
    _same_bytes,
    _same_field,
    _is_blank,
    _skip_blanks,
    _next_field,
    _next_line,
    _fill_slot,
    _longest_run,
    _find_id,
    _look_ahead,
    _enter,
    _enlarge,
    _parse_score,
    _count_leading_zeros,
    _parse_exponent,
    _divide,
    _sort_list,
    _merge_sort,
    _stands_above,
)


@cache
def load_kernels() -> ScanKernels | None:
    """Return the compiled kernels, or None where numba is not installed or switched off."""
    return compile_with_numba(_build)


def _build(numba: Any, compiled: Compile) -> ScanKernels:
    inline_parts(*_PARTS_OF_KERNELS)
    size, text = numba.int64, numba.uint8[::1]
    numbers, reals, hashes = (kind[::1] for kind in (numba.int64, numba.float64, numba.uint64))
    table = numba.types.NamedTuple((text, numbers, hashes, numbers), IdTable)
    lines = numba.types.NamedTuple((numba.boolean, reals, *[numbers] * 7, size), Lines)
    return ScanKernels(
        fill_slots=compiled(_fill_slots, table, numbers),
        find_last_topic=compiled(_find_last_topic, text, size),
        scan_lines=compiled(_scan_lines, text, size, table, table),
        rank_judged=compiled(_rank_judged, text, lines),
        rank_lines=compiled(_rank_lines, text, lines),
        hash_ids=compiled(_hash_ids, text, numbers),
        copy_ids=compiled(_copy_ids, text, numbers),
        number_ids=compiled(_number_ids, text, numbers, hashes, numbers, table, size),
        move_slots=compiled(_move_slots, hashes, hashes),
    )
