"""Judges who err: noisy copies of qrels, as dicts topic → docid → gain."""

import numpy as np


def noisy_judge(qrels, *, leniency=0.0, noise=0.7, seed=1, highest=3):
    """Return judgements that add leniency and noise to the gains, rounded to grades."""
    rng = np.random.default_rng(seed)
    return {
        topic: {
            docid: int(np.clip(np.rint(gain + leniency + rng.normal(0, noise)), 0, highest))
            for docid, gain in judged.items()
        }
        for topic, judged in (qrels if isinstance(qrels, dict) else qrels.to_dict()).items()
    }


def write_judge(path, judged):
    """Write judgements as a TREC qrels file."""
    lines = [f"{t} 0 {d} {g}\n" for t, documents in judged.items() for d, g in documents.items()]
    path.write_text("".join(lines), encoding="utf-8")
    return path
