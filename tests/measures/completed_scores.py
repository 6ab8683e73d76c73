"""Scores after every completion of the judgements, by plain loops."""

from itertools import product

from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from reference.plain_measures import PlainList, plain_score
from strategies import VARIANTS

BOUNDED = [
    parse_measure(text)
    for name, variants in VARIANTS.items()
    if callable(MEASURES[name].bounds)
    for text in variants
]


def completed_scores(topic, measure, depth):
    """Return the scores of each run after each completion, by plain loops."""
    ranked = [topic.ranked(run) for run in range(len(topic.scores))]
    pool = sorted({one for docs in ranked for one in docs[:depth] if one not in topic.gains})
    grades = sorted({gain for gain in topic.gains.values() if gain > 0}) or [1]
    for gains in product([0, *grades], repeat=len(pool)):
        judged = {**topic.gains, **dict(zip(pool, gains, strict=True))}
        lists = (PlainList(documents, list(judged), judged) for documents in ranked)
        yield [plain_score(measure, one) for one in lists]


def below_the_list(topic, measure):
    """What documents below the end of each list could add to RBP: p^depth at the best gain."""
    grades = [gain for gain in topic.gains.values() if gain > 0] or [1]
    maps = dict(pair.split(":") for pair in (measure.gain_map or "").split(",") if pair)
    credit = max(float(maps.get(str(grade), grade)) for grade in grades)
    if "rel" in dict(measure.parameters):
        credit = 1.0
    return [credit * measure.value("p") ** len(scores) for scores in topic.scores]
