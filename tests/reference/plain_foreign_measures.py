"""Plain implementations of the measures that confir takes from ir_measures, one list at a time.

``ranking`` has the docids in rank order, ``judged`` their gains by docid, ``intents`` the gains by
subtopic and docid.
"""

import math


def relevant_documents(judged, rel):
    return {document for document, gain in judged.items() if gain >= rel}


def inferred_ap(ranking, judged, *, rel=1):
    """Yilmaz & Aslam 2006, with trec_eval's constant; negative gains are pooled, but unjudged."""
    total, epsilon, score = len(relevant_documents(judged, rel)), 0.00001, 0.0
    relevant = others = unjudged = 0
    for above, document in enumerate(ranking):
        gain = judged.get(document)
        if gain is None:
            continue
        if gain < 0:
            unjudged += 1
        elif gain < rel:
            others += 1
        else:
            share = (relevant + epsilon) / (relevant + others + 2 * epsilon)
            pooled = relevant + others + unjudged
            score += 1.0 if above == 0 else (1 + pooled * share) / (above + 1)
            relevant += 1
    return score / total if total else 0.0


def interpolated_precision(ranking, judged, *, recall, rel=1):
    """As trec_eval 9: the recall is reached at ``int(recall * R + 0.9)`` relevant documents."""
    wanted = relevant_documents(judged, rel)
    needed = int(recall * len(wanted) + 0.9)
    best, found = 0.0, 0
    for rank, document in enumerate(ranking, start=1):
        found += document in wanted
        if document in wanted and found >= needed:
            best = max(best, found / rank)
    return best


def set_precision(ranking, judged, *, rel=1, relative=False):
    wanted = relevant_documents(judged, rel)
    possible = min(len(wanted), len(ranking)) if relative else len(ranking)
    return len(wanted & set(ranking)) / possible if possible else 0.0


def set_recall(ranking, judged, *, rel=1):
    wanted = relevant_documents(judged, rel)
    return len(wanted & set(ranking)) / len(wanted) if wanted else 0.0


def set_average_precision(ranking, judged, *, rel=1):
    return set_precision(ranking, judged, rel=rel) * set_recall(ranking, judged, rel=rel)


def set_f(ranking, judged, *, rel=1):
    precision, recall = (one(ranking, judged, rel=rel) for one in (set_precision, set_recall))
    return 2 * precision * recall / (precision + recall) if precision else 0.0


def accuracy(ranking, judged, *, cutoff=None, rel=1):
    """The share of pairs of a relevant document and another that are in order; None without pairs."""
    is_relevant = [judged.get(document, 0) >= rel for document in ranking[:cutoff]]
    pairs = [
        first
        for place, first in enumerate(is_relevant)
        for second in is_relevant[place + 1 :]
        if first != second
    ]
    if not any(is_relevant):
        return None
    return sum(pairs) / len(pairs) if pairs else math.nan


def compatibility(ranking, judged, *, p=0.95, normalize=True):
    """Clarke et al. 2021: rank-biased overlap with the nearest ideal ranking."""
    place = {document: rank for rank, document in enumerate(ranking)}
    ideal = sorted(
        (document for document, gain in judged.items() if gain > 0),
        key=lambda document: (-judged[document], place.get(document, len(ranking))),
    )

    def overlap(listed):
        shares = [
            len(set(listed[:depth]) & set(ideal[:depth])) / depth
            for depth in range(1, max(len(ranking), len(ideal)) + 1)
        ]
        weights = [p**depth for depth in range(len(shares))]
        return sum(map(float.__mul__, weights, shares)) / sum(weights)

    best = overlap(ideal)
    return overlap(ranking) / best if normalize and best else overlap(ranking)


def _novelty(ranking, intents, alpha, rel, discount):
    """The discounted novelty of each document: seen intents count by powers of 1 - alpha."""
    wanted = [relevant_documents(judged, rel) for judged in intents.values()]
    seen, gained = [0] * len(wanted), []
    for rank, document in enumerate(ranking, start=1):
        gain = 0.0
        for number, relevant in enumerate(wanted):
            if document in relevant:
                gain += (1 - alpha) ** seen[number]
                seen[number] += 1
        gained.append(gain * discount(rank))
    return gained


def _subtopics(intents, rel):
    return sum(bool(relevant_documents(judged, rel)) for judged in intents.values())


def intent_aware_precision(ranking, intents, *, cutoff, rel=1):
    found = [
        len(relevant_documents(judged, rel) & set(ranking[:cutoff])) for judged in intents.values()
    ]
    number = _subtopics(intents, rel)
    return sum(found) / cutoff / number if number else 0.0


def intent_aware_ap(ranking, intents, *, rel=1):
    total = 0.0
    for judged in intents.values():
        wanted = relevant_documents(judged, rel)
        places = [rank for rank, document in enumerate(ranking, start=1) if document in wanted]
        hits = [number / rank for number, rank in enumerate(places, start=1)]
        total += sum(hits) / len(wanted) if wanted else 0.0
    number = _subtopics(intents, rel)
    return total / number if number else 0.0


def alpha_dcg(ranking, intents, *, cutoff, alpha=0.5, rel=1):
    def discount(rank):
        return 1 / math.log2(rank + 1)

    best = sum((1 - alpha) ** (rank - 1) * discount(rank) for rank in range(1, cutoff + 1))
    number = _subtopics(intents, rel)
    gained = sum(_novelty(ranking, intents, alpha, rel, discount)[:cutoff])
    return gained / best / number if number else 0.0


def nrbp(ranking, intents, *, alpha=0.5, beta=0.5, rel=1):
    """Clarke et al. 2009."""
    gained = sum(_novelty(ranking, intents, alpha, rel, lambda rank: beta ** (rank - 1)))
    number = _subtopics(intents, rel)
    return gained * (1 - (1 - alpha) * beta) / number if number else 0.0


def normalised_nrbp(ranking, intents, *, alpha=0.5, beta=0.5, rel=1):
    """NRBP over that of the greedy ideal list."""
    left = sorted({document for judged in intents.values() for document in judged}, reverse=True)
    ideal = []
    while left:
        gains = [_novelty([*ideal, one], intents, alpha, rel, lambda _: 1.0)[-1] for one in left]
        ideal.append(left.pop(gains.index(max(gains))))
    best = nrbp(ideal, intents, alpha=alpha, beta=beta, rel=rel)
    return nrbp(ranking, intents, alpha=alpha, beta=beta, rel=rel) / best if best else 0.0


PLAIN = {
    "infAP": inferred_ap,
    "IPrec": interpolated_precision,
    "SetP": set_precision,
    "SetR": set_recall,
    "SetAP": set_average_precision,
    "SetF": set_f,
    "Accuracy": accuracy,
    "Compat": compatibility,
    "AP_IA": intent_aware_ap,
    "P_IA": intent_aware_precision,
    "alpha_DCG": alpha_dcg,
    "NRBP": nrbp,
    "nNRBP": normalised_nrbp,
}
