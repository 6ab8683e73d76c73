"""Are simultaneous intervals, verdicts and best sets valid for a whole family? Error rates on real scores.

Topics are drawn with replacement from the topics of real collections, whose mean differences are the
truth. A sample counts as covered if every interval of the family contains the true difference. Errors of
verdicts are counted where no run is better than another, and those of best sets where five runs are
the best.

    python reproductions/families.py --data data --output docs/reproductions

It takes about ten minutes of processor time; --samples 10 is for a first look.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats
from confir.data.files import write_whole
from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.measures.evaluation import evaluate
from confir.pairs.best_runs import find_best
from confir.pairs.simultaneous import ComparisonFamily, is_significant
from confir.report.tables import Cell, Table, to_markdown
from confir.resampling.kinds import as_topic_sample
from confir.resampling.pair_draws import BorrowedVariance, median_variance
from confir.resampling.studentised_maxima import largest_statistics

SEED = 1993
LEVEL = 0.95
SIZES = (10, 25, 50)
RUNS = (10, 40, 1_000)  # the last is for all runs of a table
REPLICATES = 499
SAMPLES = 120

# Of all runs of a table, and of best sets, fewer samples.
SHARE_OF_ALL = 3
SHARE_OF_BEST = 4

# Variances of no more than this are 0.
ROUNDING = 1e-15

# Scores of one measure in a file, topics × runs.
FILES = (
    "robust2004_ap.csv",
    *(
        f"urbano2018/{name}.csv"
        for name in (
            "adhoc8_ap",
            "adhoc8_p10",
            "adhoc8_rr",
            "robust2004_p10",
            "web2010_ap",
            "web2010_err20",
            "web2010_ndcg20",
            "web2010_p20",
            "web2010_rr",
        )
    ),
)
# Scores of several measures in a file.
TABLES = {
    "soboroff2014/scores/trec15.terabyte-adhoc.csv.gz": ("AP", "RR", "P@10"),
    "soboroff2014/scores/trec21.web.csv.gz": ("AP", "RR", "P@10"),
}
# folder → qrels, folder of the runs
RUN_FILES = {
    "trec-dl-2021": ("qrels.nist.txt", "runs"),
    "trec-covid-r5": ("qrels.txt", "runs"),
}
MEASURES = ("AP", "nDCG@10", "P@10", "RR")

# Runs that are the best together, among how many.
TIED, AMONG = 5, 40


class Rule(NamedTuple):
    """What was found of one sample by one rule: of all pairs."""

    covered: bool
    significant: float
    width: float


@dataclass(frozen=True, slots=True)
class StudyCell:
    """Means over the samples of one table, number of runs and of topics."""

    table: str
    runs: int
    topics: int
    values: dict[str, float]


def tables(data: Path) -> Iterator[tuple[str, Floats]]:
    """Yield scores of one measure, topics × runs, of runs that have all topics."""
    for name in FILES:
        yield name.removesuffix(".csv"), _whole(read_scores(data / name).values[:, :, 0])
    for name, wanted in TABLES.items():
        scores = read_scores(data / name)
        for place, measure in enumerate(scores.measures):
            if measure in wanted:
                yield (
                    f"{Path(name).name.removesuffix('.csv.gz')}, {measure}",
                    _whole(scores.values[:, :, place]),
                )
    for folder, (qrels, runs) in RUN_FILES.items():
        paths = sorted(path for path in (data / folder / runs).iterdir() if path.is_file())
        scores = evaluate(data / folder / qrels, paths, MEASURES)
        for place, measure in enumerate(scores.measures):
            yield f"{folder}, {measure}", _whole(scores.values[:, :, place])


def _whole(values: Floats) -> Floats:
    values = values[:, ~np.isnan(values).any(axis=0)]
    return values[:, values.std(axis=0) > 0]


class Sample:
    """All pairs of the runs of one sample of topics, by one measure."""

    def __init__(self, values: Floats, truth: Floats, baseline: bool) -> None:
        self.values = values
        runs = values.shape[1]
        self.first, self.second = np.triu_indices(runs, 1)
        if baseline:
            self.first, self.second = np.zeros(runs - 1, np.int64), np.arange(1, runs)
        self.alone = [0] if baseline else None
        apart = values[:, self.second] - values[:, self.first]
        self.topics = len(values)
        self.difference = apart.mean(axis=0)
        variance = apart.var(axis=0, ddof=1)
        self.variance = np.where(variance > ROUNDING, variance, 0.0)
        self.true = truth[self.second] - truth[self.first]

    def family(self, rng: np.random.Generator, *, borrows: bool, draws: bool) -> ComparisonFamily:
        """Return the family of the pairs that are not identical."""
        size = int(np.sum((self.variance > 0) | (np.abs(self.difference) > ROUNDING)))
        median = median_variance(self.variance) if borrows else 0.0
        borrowed = BorrowedVariance(size, median)
        maxima = np.empty(0)
        if draws:
            maxima = largest_statistics(
                as_topic_sample(self.values), REPLICATES, rng, borrowed, self.alone
            )
        return ComparisonFamily.of(size, maxima, borrowed=borrowed)

    def self_normalised(self, se: Floats) -> Floats:
        """Return T of every pair, from the standard error of its difference."""
        units = np.full(len(se), float(self.topics))
        return as_topic_sample(self.values).self_normalised(self.difference, se, units)

    def judge(self, family: ComparisonFamily, *, signs: bool) -> tuple[Rule, Booleans]:
        """Return what a family finds, and which pairs it calls significant."""
        se = np.sqrt(self.variance / self.topics)
        df = np.full(len(se), self.topics - 1.0)
        sums = self.self_normalised(se) if signs else None
        limits = family.limits(self.difference, se, np.full(len(se), self.topics), LEVEL, df, sums)
        inside = (limits.low <= self.true + ROUNDING) & (self.true - ROUNDING <= limits.high)
        inside &= ~((limits.open > 0) & (self.true <= 0)) & ~((limits.open < 0) & (self.true >= 0))
        known = ~np.isnan(limits.low)
        t = self.difference / family.standard_errors(self.difference, se, self.topics, df)
        found = is_significant(family.p_values(t, df, sums), LEVEL)
        width = float(np.nanmedian(limits.high - limits.low))
        return Rule(bool(inside[known].all()), float(found.mean()), width), found


def coverage(
    name: str, values: Floats, runs: int, topics: int, samples: int, *, baseline: bool
) -> StudyCell:
    """Return the coverage of a family's intervals, by the rule and without its parts."""
    rng = np.random.default_rng([SEED, topics, runs])
    truth = values.mean(axis=0)
    rows: list[dict[str, float]] = []
    for _ in range(samples):
        chosen = rng.permutation(values.shape[1])[:runs]
        drawn = rng.integers(0, len(values), topics)
        sample = Sample(values[np.ix_(drawn, chosen)], truth[chosen], baseline)
        rule, found = sample.judge(sample.family(rng, borrows=True, draws=True), signs=True)
        plain, _ = sample.judge(sample.family(rng, borrows=False, draws=True), signs=False)
        wrong = found & (sample.difference * sample.true < 0)
        rows.append(
            {
                "covered": rule.covered,
                "plain": plain.covered,
                "significant": rule.significant,
                "plain significant": plain.significant,
                "width": rule.width / plain.width,
                "wrong": bool(wrong.any()),
            }
        )
    return StudyCell(name, runs, topics, _means(rows))


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def exchangeable(values: Floats, topics: int, rng: np.random.Generator) -> Floats:
    """Return a sample in which the scores of each topic are shuffled among the runs."""
    drawn: Floats = rng.permuted(values[rng.integers(0, len(values), topics)], axis=1)
    return drawn


def rescaled(values: Floats, topics: int, rng: np.random.Generator) -> Floats:
    """Return a sample of runs that differ on the topics on which real pairs do, with mean 0.

    Each is a shared run plus the difference of a near-tied pair, whose gains or losses are rescaled
    to a mean of 0: ties and skewness stay.
    """
    order = np.argsort(values.mean(axis=0), kind="stable")
    made = np.repeat(values[:, order[len(order) // 2]][:, None], values.shape[1], axis=1)
    for place in range(1, values.shape[1]):
        one = int(rng.integers(0, values.shape[1] - 1))
        apart = values[:, order[one + 1]] - values[:, order[one]]
        gain, loss = apart[apart > 0].sum(), -apart[apart < 0].sum()
        if gain > 0 and loss > 0:
            made[:, place] += np.where(apart > 0, apart * loss / gain, apart)
    return made[rng.integers(0, len(values), topics)]


def error_rate(
    values: Floats,
    make: Callable[[Floats, int, np.random.Generator], Floats],
    topics: int,
    samples: int,
) -> tuple[float, float]:
    """Return how often any pair of 40 equal runs is called different: by the rule, and by t alone."""
    rng = np.random.default_rng([SEED, topics, 7])
    rule, plain = [], []
    for _ in range(samples):
        chosen = rng.permutation(values.shape[1])[:AMONG]
        drawn = make(values[:, chosen], topics, rng)
        sample = Sample(drawn, np.zeros(drawn.shape[1]), baseline=False)
        rule.append(sample.judge(sample.family(rng, borrows=True, draws=True), signs=True)[1].any())
        alone = sample.family(rng, borrows=False, draws=False)
        plain.append(sample.judge(alone, signs=False)[1].any())
    return float(np.mean(rule)), float(np.mean(plain))


def best_sets(values: Floats, topics: int, samples: int) -> dict[str, float]:
    """Return how often each and all of five tied best runs among 40 are in the set, and its size."""
    rng = np.random.default_rng([SEED, topics, 8])
    rows = []
    for _ in range(samples):
        chosen = rng.permutation(values.shape[1])[:AMONG]
        best = np.argsort(-values[:, chosen].mean(axis=0), kind="stable")[:TIED]
        drawn = values[np.ix_(rng.integers(0, len(values), topics), chosen)]
        drawn[:, best] = rng.permuted(drawn[:, best], axis=1)
        names = tuple(f"{place:03d}" for place in range(max(drawn.shape)))
        scores = Scores(names[:topics], names[: drawn.shape[1]], ("score",), drawn[:, :, None])
        found = find_best(scores, replicates=REPLICATES, rng=int(rng.integers(2**32)))
        kept = found.in_set[:, 0]
        rows.append({"each": kept[best].mean(), "all": bool(kept[best].all()), "size": kept.sum()})
    return _means(rows)


def added_noise(topics: int = 53) -> list[tuple[float, float]]:
    """Return adjusted p-values of B = A + 0.02 + noise among 40 runs, by the noise's sd."""
    rng = np.random.default_rng(SEED)
    others = np.clip(rng.normal(0.3, 0.15, (topics, 1)) + rng.normal(0, 0.1, (topics, 39)), 0, 1)
    noise = rng.normal(0.0, 1.0, topics)
    found = []
    for sd in (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.02):
        values = np.column_stack([others, others[:, 0] + 0.02 + sd * (noise - noise.mean())])
        sample = Sample(values, np.zeros(40), baseline=False)
        family = sample.family(np.random.default_rng(SEED), borrows=True, draws=True)
        place = int(np.flatnonzero((sample.first == 0) & (sample.second == 39))[0])
        se = np.sqrt(sample.variance / topics)
        sums = sample.self_normalised(se)
        df = np.full(len(se), topics - 1.0)
        t = sample.difference / family.standard_errors(sample.difference, se, topics, df)
        p = family.p_values(t, df, sums)
        found.append((sd, float(p[place])))
    return found


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    return to_markdown(Table(columns, cells, names=1)).strip()


def coverage_table(found: list[StudyCell]) -> str:
    """Return coverage by number of runs and of topics: mean over tables, and the lowest."""
    rows = []
    for runs in sorted({min(one.runs, RUNS[-1]) for one in found}):
        for topics in SIZES:
            cells = [one.values for one in found if (one.runs, one.topics) == (runs, topics)]
            texts = [
                f"{np.mean([cell[key] for cell in cells]):.3f} ({min(cell[key] for cell in cells):.2f})"
                for key in ("covered", "plain")
            ]
            mean = {key: np.mean([cell[key] for cell in cells]) for key in cells[0]}
            texts += [f"{100 * mean[key]:.1f}" for key in ("significant", "plain significant")]
            texts += [f"{mean['width']:.2f}", f"{100 * mean['wrong']:.2f}"]
            rows.append(("all" if runs == RUNS[-1] else str(runs), str(topics), *texts))
    columns = (
        *("runs", "topics", "covered", "covered without help"),
        *("significant (%)", "significant without help (%)", "width", "wrong direction (%)"),
    )
    return _table(columns, rows)


def page(data: Path, samples: int) -> str:
    """Return the page in Markdown."""
    known = dict(tables(data))
    about = (
        f"Made by `python reproductions/families.py --data data --output docs/reproductions --samples "
        f"{samples}`. Topics are drawn with replacement from those of a collection, runs at random; the "
        f"collection's own mean differences are the truth. {samples} samples per table, number of runs "
        f"and of topics ({-(-samples // SHARE_OF_ALL)} with all runs of a table, "
        f"{min(v.shape[1] for v in known.values())} to {max(v.shape[1] for v in known.values())}; "
        f"{-(-samples // SHARE_OF_BEST)} for best sets), "
        f"{REPLICATES} replicates, {100 * LEVEL:g}% intervals, seed {SEED}. "
        f"{len(known)} tables: {'; '.join(known)}."
    )
    parts = [
        "# Families: coverage and error rates on real scores",
        about,
        RULE.strip(),
    ]
    for baseline, title in ((False, "All pairs"), (True, "All runs against a baseline")):
        cells = []
        for runs in RUNS[: 2 if baseline else 3]:
            size = -(-samples // SHARE_OF_ALL) if runs == RUNS[-1] else samples
            for name, values in known.items():
                for topics in SIZES:
                    one = coverage(name, values, runs, topics, size, baseline=baseline)
                    print(title, name, runs, topics, one.values, flush=True)
                    cells.append(one)
        parts += [f"## {title}", coverage_table(cells)]
    parts += ["## Where no run is better", ERRORS.strip(), _errors(known, samples)]
    parts += ["## The best set", BEST_TEXT.strip(), _best(known, samples)]
    rows = [(f"{sd:g}", f"{p:.2g}") for sd, p in added_noise()]
    parts += [
        "## A small, nearly constant difference",
        NOISE.strip(),
        _table(("noise (sd)", "p"), rows),
    ]
    return "\n\n".join(parts) + "\n"


def _errors(known: dict[str, Floats], samples: int) -> str:
    rows = []
    for make, what in ((exchangeable, "exchangeable runs"), (rescaled, "rescaled near-tied pairs")):
        for topics in SIZES:
            rates = [error_rate(values, make, topics, samples) for values in known.values()]
            rule, plain = np.array(rates).T
            rows.append(
                (what, str(topics), f"{rule.mean():.3f} ({rule.max():.2f})", f"{plain.mean():.3f}")
            )
    columns = ("runs", "topics", "error rate (highest table)", "Bonferroni's t alone")
    return _table(columns, rows)


def _best(known: dict[str, Floats], samples: int) -> str:
    rows = []
    for topics in SIZES:
        size = -(-samples // SHARE_OF_BEST)
        found = [best_sets(values, topics, size) for values in known.values()]
        mean = {key: np.mean([one[key] for one in found]) for key in found[0]}
        lowest = min(one["each"] for one in found)
        texts = [f"{mean['each']:.3f} ({lowest:.2f})", f"{mean['all']:.3f}", f"{mean['size']:.1f}"]
        rows.append((str(topics), *texts))
    return _table(("topics", "each kept (lowest table)", "all five kept", "runs in the set"), rows)


RULE = """
A variance s² counts as s² + u·M, with M the median variance of the family's m differences on n topics and
u = 1 − m^(−1/n); the critical value is the order statistic of the largest such |t|, times √(n/(n−1)), between the
t quantile of one pair and Bonferroni's; and a difference is significant, too, where 2·3.1787·m·Φ(−|T|) ≤ α, with T
the sum of the topics' differences over the root of the sum of their squares. *covered*: share of samples in
which all intervals of the family contain the true differences, the mean over tables, and in parentheses the
lowest table. *without help*: the same without u·M and without T. *width*: median width of the intervals
relative to those without help. *wrong direction*: samples with a verdict that calls a worse run better.
"""

ERRORS = """
40 runs without any true difference: the scores of each topic are shuffled among the runs; or a run plus the
differences of near-tied pairs, their gains rescaled so that the mean is 0, which keeps ties and skewness. The error
rate is the share of samples in which any of the 780 pairs differs significantly.
"""

BEST_TEXT = """
The scores of each topic are shuffled among the five best of 40 runs, so that all five are the best. *each kept*:
the share of samples in which a given one of them is in the set, which should be at least 0.95.
"""

NOISE = """
B = A + 0.02 on 53 topics, with noise of mean 0, among 40 runs: the adjusted p-value of this pair. It is continuous
as the noise vanishes: an exactly constant difference is the limit.
"""


def main() -> None:
    """Run the study, print the page, and write it where asked."""
    warnings.simplefilter("ignore", ConfirWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    options = parser.parse_args()
    text = page(options.data, options.samples)
    print(text)
    if options.output is not None:
        write_whole(options.output / "families.md", text.encode())


if __name__ == "__main__":
    main()
