"""Simulated judges: noisy copies of qrels, as dicts topic → docid → gain; and their correction."""

import numpy as np
from scipy import stats


def noisy_judge(qrels, *, leniency=0.0, noise=0.7, seed=1, highest=3):
    """Return judgements that add leniency and noise to the gains, rounded to grades."""
    judged = qrels if isinstance(qrels, dict) else qrels.to_dict()
    gains = np.array([gain for documents in judged.values() for gain in documents.values()])
    errors = np.random.default_rng(seed).normal(0, noise, len(gains))
    grades = iter(np.clip(np.rint(gains + leniency + errors), 0, highest).astype(int).tolist())
    return {
        topic: {docid: next(grades) for docid in documents} for topic, documents in judged.items()
    }


def write_judge(path, judged):
    """Write judgements as a TREC qrels file."""
    lines = [f"{t} 0 {d} {g}\n" for t, documents in judged.items() for d, g in documents.items()]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def plain_weight(y, f, g):
    """Weight of the model by the formula, for one column."""
    covariance = np.mean((y - y.mean()) * (f - f.mean()))
    variance = np.var(np.concatenate([f, g]), ddof=1)
    if variance < 1e-13:
        return 0.0
    return min(max(covariance / ((1 + len(y) / len(g)) * variance), 0.0), 1.0)


def plain_correction(y, f, g, *, left_out=True):
    """Mean, weight, standard error and degrees of freedom by the formulas, for one column.

    With a weight of each topic that leaves it out, or with the weight of all topics alone.
    """
    n, more = len(y), len(g)
    variance = np.var(np.concatenate([f, g]), ddof=1)
    weight = plain_weight(y, f, g)
    rest = y - weight * f
    ddof = 2 if weight > 0 else 1
    s2 = np.sum((rest - rest.mean()) ** 2) / (n - ddof)
    mean = weight * g.mean() + rest.mean()
    varied = (g.mean() - f.mean()) ** 2 / np.var(f, ddof=1) if weight > 0 else 0.0
    s2 = (1 + varied) * s2
    if left_out and n >= 4 and weight > 0:
        weights = [plain_weight(np.delete(y, i), np.delete(f, i), g) for i in range(n)]
        each = y - np.array(weights) * (f - g.mean())
        mean, s2 = each.mean(), max(s2, each.var(ddof=1))
    se, df = np.sqrt(weight**2 * variance / more + s2 / n), n - ddof
    widest = 1.05 * stats.sem(y)
    if stats.t.ppf(0.975, df) * se > stats.t.ppf(0.975, n - 1) * widest:
        se, df = widest, n - 1
    return mean, weight, se, df
