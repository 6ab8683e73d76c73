"""Reproduction of the coverage that Soboroff (2014) published, on the same scores.

Ian Soboroff, "Computing Confidence Intervals for Common IR Measures", EVIA 2014; his scores,
intervals and code: https://github.com/isoboroff/confint

    python reproductions/soboroff2014.py --data data --output docs/reproductions

The paper draws new samples for every run, measure and method. Here the runs of a block share them,
shuffled against each other; batches give the precision of the means.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import math
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.data.files import write_whole
from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Limits
from confir.intervals.method_list import METHODS
from confir.report.chart_files import save_chart
from confir.report.charts import COLOURS, styled
from confir.report.tables import Cell, Table, to_markdown
from confir.resampling.distribution import SamplingDistribution, quantile_of_sorted
from confir.studies.coverage.coverage import Coverage, estimate_coverage

SEED = 2014
LEVEL = 0.95
PAPER_SAMPLES, PAPER_REPLICATES = 1_000, 5_000
REPLICATES = 2_000  # the paper's for BCa; 5,000 are tried on one collection
BATCHES = 10
RUNS_PER_BLOCK = 16
AGREES = 3.0  # standard errors
OUTLIERS_SHOWN = 12
LEAST_DRAWN = 0.8

# collection → (title, score files); the names are those of the published table
COLLECTIONS = {
    "trec8.adhoc": ("TREC 8 adhoc", ["trec8.adhoc"]),
    "trec13.robust": ("TREC 2004 robust", ["trec13.robust"]),
    "trec14.robust": ("TREC 2005 robust", ["trec14.robust"]),
    "trec15.terabyte-adhoc": ("TREC 2006 terabyte", ["trec15.terabyte-adhoc"]),
    "trec17.blog-topicrel": ("TREC 2008 blog", ["trec17.blog-topicrel"]),
    "trec21.web": ("TREC 2012 web", ["trec21.web"]),
    "ntcir7.ir4qa": (
        "NTCIR-7 IR4QA",
        [f"ntcir7ir4qa.{name}@1000" for name in ("MSnDCG", "nERR", "Q")],
    ),
    "ntcir10.intent": (
        "NTCIR-10 INTENT",
        [
            f"ntcir10intentDRC.{name}"
            for name in ("alpha-nDCG", "D-nDCG@10", "D#-nDCG@10", "nERR-IA")
        ],
    ),
}
TRIED_WITH_MORE = "trec21.web"
EXAMPLE = ("trec8.adhoc", "weaver1", "AP")


def t_of_the_paper(distribution: SamplingDistribution, level: float) -> Limits:
    """Return t intervals with the standard deviation divided by n instead of n - 1."""
    narrower = np.sqrt((distribution.count - 1.0) / distribution.count)
    divided = replace(distribution, se=distribution.require("se") * narrower)
    return METHODS["t"].compute(divided, level)


def bootstrap_t_of_the_paper(distribution: SamplingDistribution, level: float) -> Limits:
    """Return bootstrap-t intervals with the whole error in each tail, as the published code does.

    A replicate without variance is infinite there; confir drops it.
    """
    t = distribution.ascending(infinite_without_variance)
    drawn = np.full(t.shape[1], len(t))
    low, high = (quantile_of_sorted(t, chance, drawn) for chance in (1.0 - level, level))
    estimate, se = distribution.estimate, distribution.require("se")
    return Limits(estimate - high * se, estimate - low * se)


def infinite_without_variance(distribution: SamplingDistribution) -> Floats:
    """Return T of each replicate, ±∞ by the sign of its deviation where it has no variance."""
    t, deviation = distribution.t, distribution.require("replicates") - distribution.estimate
    return np.where(np.isnan(t), np.copysign(np.inf, deviation), t)


T_OF_THE_PAPER = replace(METHODS["t"], name="t (paper)", compute=t_of_the_paper)
BOOTSTRAP_T_OF_THE_PAPER = replace(
    METHODS["bootstrap-t"],
    name="bootstrap-t (paper)",
    compute=bootstrap_t_of_the_paper,
    count_side=None,
)
STUDIED = (
    T_OF_THE_PAPER,
    "percentile",
    "bca",
    BOOTSTRAP_T_OF_THE_PAPER,
    "bootstrap-t",
    "t",
)
# ours → the published table's
COMPARED = {
    T_OF_THE_PAPER.name: "t",
    "percentile": "percentile",
    "bca": "bca",
    BOOTSTRAP_T_OF_THE_PAPER.name: "bootstrap_t",
}


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Coverage on one collection.

    Attributes
    ----------
    title
        Name of the collection.
    topics, runs
        How many there are.
    labels
        (run, measure) of each column.
    methods
        Names.
    coverage
        Methods × columns.
    batches
        Mean coverage of each batch and block: batches × blocks × methods.
    weights
        Share of the columns in each block.
    reasons
        What is unusual about each column's scores.
    samples
        Samples of each column.
    """

    title: str
    topics: int
    runs: int
    labels: list[tuple[str, str]]
    methods: tuple[str, ...]
    coverage: Floats
    batches: Floats
    weights: Floats
    reasons: list[str]
    samples: int

    def of(self, method: str) -> Floats:
        """Return a method's coverage of every column."""
        coverage: Floats = self.coverage[self.methods.index(method)]
        return coverage

    def error_of_mean(self, method: str) -> float:
        """Return the Monte Carlo standard error of the mean coverage, from the batches."""
        means = self.batches[:, :, self.methods.index(method)]
        variance = means.var(axis=0, ddof=1) / len(means)
        return math.sqrt(float((np.square(self.weights) * variance).sum()))


Published = dict[tuple[str, str, str, str], dict[str, float]]


def main() -> None:
    """Run the study; print the page and write it with its figures."""
    warnings.simplefilter("ignore", ConfirWarning)
    options = _parse()
    started = time.monotonic()
    folder = options.data / "soboroff2014"
    published = _read_published(folder / "published_intervals.csv.gz")
    tables = {
        name: [read_scores(folder / "scores" / f"{file}.csv.gz") for file in files]
        for name, (_, files) in COLLECTIONS.items()
    }
    studies = {name: _study(name, tables, options.samples, REPLICATES) for name in COLLECTIONS}
    more = _study(TRIED_WITH_MORE, tables, options.samples, PAPER_REPLICATES)
    rng = np.random.default_rng(SEED)
    example = estimate_coverage(
        _example_scores(tables),
        methods=STUDIED,
        level=LEVEL,
        samples=5 * options.samples,
        replicates=PAPER_REPLICATES,
        rng=rng,
    )
    comparisons = [
        _compare(name, study, method, published)
        for name, study in studies.items()
        for method in COMPARED
    ]
    page = _page(tables, studies, more, example, comparisons, published, rng)
    options.output.mkdir(parents=True, exist_ok=True)
    save_chart(_example_chart(tables, example, rng), options.output / "soboroff2014-figure1.svg")
    save_chart(_box_chart(studies), options.output / "soboroff2014-figures2-3.svg")
    write_whole(options.output / "soboroff2014.md", page.encode())
    print(page)
    print(f"{time.monotonic() - started:.0f} seconds")
    if not all(comparison.agrees for comparison in comparisons):
        raise SystemExit("a mean coverage is not what the paper has")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the real data")
    parser.add_argument("--output", type=Path, default=Path("docs/reproductions"))
    parser.add_argument(
        "--samples",
        type=int,
        default=400,
        help=f"samples of every run and measure, in {BATCHES} batches",
    )
    return parser.parse_args()


def _read_published(path: Path) -> Published:
    """Return (collection, run, measure, method) → what was published."""
    text = gzip.decompress(path.read_bytes()).decode()
    return {
        (row["collection"], row["run"], row["measure"], row["method"]): {
            key: float(row[key]) for key in ("mean", "low", "high", "shape", "coverage")
        }
        for row in csv.DictReader(io.StringIO(text))
    }


def _study(name: str, tables: dict[str, list[Scores]], samples: int, replicates: int) -> Study:
    """Return coverage on the score tables of a collection, block by block.

    The samples depend on the collection alone, not on the number of replicates.
    """
    rng = np.random.default_rng([SEED, list(COLLECTIONS).index(name)])
    parts = tables[name]
    blocks = [
        part.select(run=part.runs[start : start + RUNS_PER_BLOCK])
        for part in parts
        for start in range(0, len(part.runs), RUNS_PER_BLOCK)
    ]
    size = max(2, samples // BATCHES)
    means = np.empty((BATCHES, len(blocks), len(STUDIED)))
    columns: list[Floats] = []
    reasons: list[str] = []
    names: tuple[str, ...] = ()
    for b, block in enumerate(blocks):
        batches = []
        for i in range(BATCHES):
            shuffled = replace(block, values=rng.permuted(block.values, axis=0))
            study = estimate_coverage(
                shuffled,
                methods=STUDIED,
                level=LEVEL,
                samples=size,
                replicates=replicates,
                rng=rng,
            )
            batches.append(study.coverage.reshape(len(STUDIED), -1))
            means[i, b] = batches[-1].mean(axis=1)
        columns.append(np.mean(batches, axis=0))
        reasons += [reason for by_run in study.reasons for reason in by_run]
        names = study.methods
    labels = [
        (run, measure) for block in blocks for run in block.runs for measure in block.measures
    ]
    sizes = np.array([column.shape[1] for column in columns])
    return Study(
        title=COLLECTIONS[name][0],
        topics=max(len(part.topics) for part in parts),
        runs=len(parts[0].runs),
        labels=labels,
        methods=names,
        coverage=np.concatenate(columns, axis=1),
        batches=means,
        weights=sizes / sizes.sum(),
        reasons=reasons,
        samples=size * BATCHES,
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean coverage on a collection, and the published one."""

    title: str
    method: str
    published: float
    ours: float
    error: float

    @property
    def scaled(self) -> float:
        """The difference in standard errors."""
        return (self.ours - self.published) / self.error

    @property
    def agrees(self) -> bool:
        """Whether the difference is within Monte Carlo error."""
        return abs(self.scaled) <= AGREES


def _compare(name: str, study: Study, method: str, published: Published) -> Comparison:
    """Compare the means over the runs and measures that were published."""
    theirs = COMPARED[method]
    shares = np.array(
        [
            entry["coverage"]
            for (collection, _, _, by), entry in published.items()
            if (collection, by) == (name, theirs)
        ]
    )
    ours = study.of(method)
    if name.startswith("trec"):
        ours = ours[[(name, *label, theirs) in published for label in study.labels]]
    own_error = math.sqrt(float((ours * (1.0 - ours)).sum()) / PAPER_SAMPLES) / len(ours)
    error = math.hypot(own_error, study.error_of_mean(method))
    return Comparison(study.title, method, float(shares.mean()), float(ours.mean()), error)


def _page(
    tables: dict[str, list[Scores]],
    studies: dict[str, Study],
    more: Study,
    example: Coverage,
    comparisons: list[Comparison],
    published: Published,
    rng: np.random.Generator,
) -> str:
    agreeing = sum(comparison.agrees for comparison in comparisons)
    scaled = np.array([comparison.scaled for comparison in comparisons])
    means = {name: _overall(studies, name) for name in ("t", "percentile", "bca", "bootstrap-t")}
    nearest = min(means, key=lambda name: abs(means[name] - LEVEL))
    samples = next(iter(studies.values())).samples
    parts = [
        "# Soboroff 2014: coverage of intervals for common IR measures",
        (
            "Ian Soboroff, *Computing Confidence Intervals for Common IR Measures*, EVIA 2014. "
            "Written by `reproductions/soboroff2014.py`."
        ),
        (
            f"**Verdict: {agreeing} of {len(comparisons)} mean coverages (8 collections × 4 methods) "
            f"agree with the published ones within {AGREES:g} standard errors**; in standard errors "
            f"the differences have mean {scaled.mean():+.2f} and standard deviation "
            f"{scaled.std(ddof=1):.2f}."
        ),
        (
            "**The advice against bootstrap-t is an artefact.** The paper put α instead of α/2 into "
            "each tail, so that its 95% intervals were 90% intervals: its mean coverage is "
            f"{_published_mean(published, 'bootstrap_t'):.3f}. With α/2 in each tail bootstrap-t "
            f"covers {means['bootstrap-t']:.4f} on average, where t covers {means['t']:.4f}, "
            f"percentile {means['percentile']:.4f} and BCa {means['bca']:.4f}: {nearest} comes "
            f"nearest to {LEVEL}."
        ),
        "## How",
        (
            f"From the n scores of a run {samples} samples of n topics are drawn with replacement; "
            f"an interval is computed from each, with B = {REPLICATES:,} replicates if it "
            "resamples; those that contain the mean of the n scores are counted. The paper has "
            f"{PAPER_SAMPLES:,} samples, with {PAPER_REPLICATES:,} replicates for percentile and "
            f"bootstrap-t and {REPLICATES:,} for BCa. A standard error is that of the difference of "
            "two means: the paper's, binomial, because it drew new samples for every run, measure "
            f"and method; and ours, from {BATCHES} batches."
        ),
        "## Mean coverage by collection and method",
        _comparison_table(comparisons),
        "## What the paper would have found",
        (
            "Mean coverage of 95% intervals over all runs and measures, including those that the "
            "published table lacks. `t` divides by n - 1."
        ),
        _corrected_table(studies),
        "![Coverage by collection, measure and method](soboroff2014-figures2-3.svg)",
        "## Run by run",
        (
            "The published coverage of each run and measure of the TREC collections compared with "
            "ours, as a difference in standard errors, which has mean 0 and standard deviation 1 "
            "if the two differ only by chance."
        ),
        _run_table(studies, published),
        "## Do the replicates matter?",
        _replicates_text(studies[TRIED_WITH_MORE], more),
        "## Intervals",
        _interval_text(tables, published, rng),
        f"## Figure 1: {EXAMPLE[1]}, {EXAMPLE[2]}",
        _example_text(tables, example, published),
        "![Intervals and coverage of weaver1](soboroff2014-figure1.svg)",
        "## Outliers",
        (
            "The lowest coverage of t, and why: most topics have the same score, or a few score "
            "far above the rest. A sample without these few topics has too low a mean and too "
            "narrow an interval."
        ),
        _outlier_table(studies),
        "## Errata and notes",
        _errata(tables, published),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _overall(studies: dict[str, Study], method: str) -> float:
    """Return the mean coverage over all runs and measures of all collections."""
    return float(np.concatenate([study.of(method) for study in studies.values()]).mean())


def _published_mean(published: Published, method: str) -> float:
    shares = [
        entry["coverage"]
        for (collection, _, _, by), entry in published.items()
        if by == method and collection in COLLECTIONS
    ]
    return float(np.mean(shares))


def _comparison_table(comparisons: list[Comparison]) -> str:
    rows = tuple(
        (
            Cell(comparison.title),
            Cell(comparison.method),
            Cell(f"{comparison.published:.4f}"),
            Cell(f"{comparison.ours:.4f}"),
            Cell(f"{comparison.ours - comparison.published:+.4f}"),
            Cell(f"{comparison.error:.4f}"),
            Cell(f"{comparison.scaled:+.1f}"),
            Cell("agrees" if comparison.agrees else "differs"),
        )
        for comparison in comparisons
    )
    columns = (
        "collection",
        "method",
        "published",
        "confir",
        "difference",
        "its standard error",
        "in standard errors",
        "verdict",
    )
    return to_markdown(Table(columns, rows, names=2))


def _corrected_table(studies: dict[str, Study]) -> str:
    methods = ("t", "percentile", "bca", BOOTSTRAP_T_OF_THE_PAPER.name, "bootstrap-t")
    rows = [
        (
            Cell(study.title),
            Cell(str(study.topics)),
            Cell(str(study.runs)),
            *(
                Cell(f"{study.of(method).mean():.4f} ± {study.error_of_mean(method):.4f}")
                for method in methods
            ),
        )
        for study in studies.values()
    ]
    whole = [Cell("all"), Cell(""), Cell("")]
    whole += [Cell(f"{_overall(studies, method):.4f}", strong=True) for method in methods]
    columns = ("collection", "topics", "runs", *methods)
    return to_markdown(Table(columns, (*rows, tuple(whole))))


def _run_table(studies: dict[str, Study], published: Published) -> str:
    rows = []
    for method, theirs in COMPARED.items():
        pairs = np.array(
            [
                (share, published[name, *label, theirs]["coverage"], study.samples)
                for name, study in studies.items()
                if name.startswith("trec")
                for label, share in zip(study.labels, study.of(method), strict=True)
                if (name, *label, theirs) in published
            ]
        )
        ours, other, samples = pairs.T
        pooled = (ours * samples + other * PAPER_SAMPLES) / (samples + PAPER_SAMPLES)
        error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / samples + 1.0 / PAPER_SAMPLES))
        scaled = np.divide(ours - other, error, out=np.zeros_like(error), where=error > 0)
        rows.append(
            (
                Cell(method),
                Cell(str(len(pairs))),
                Cell(f"{scaled.mean():+.3f}"),
                Cell(f"{scaled.std():.3f}"),
                Cell(f"{(np.abs(scaled) > 2).mean():.3f}"),
                Cell(f"{np.abs(scaled).max():.1f}"),
            )
        )
    columns = ("method", "runs × measures", "mean", "standard deviation", "beyond 2", "greatest")
    return to_markdown(Table(columns, tuple(rows)))


def _replicates_text(few: Study, many: Study) -> str:
    lines = []
    for method in ("percentile", "bca", BOOTSTRAP_T_OF_THE_PAPER.name, "bootstrap-t"):
        difference = many.of(method).mean() - few.of(method).mean()
        paired = replace(few, batches=many.batches - few.batches)
        lines.append(f"{method} {difference:+.4f} ± {paired.error_of_mean(method):.4f}")
    shift = 2.0 * (_tail(REPLICATES) - _tail(PAPER_REPLICATES))
    return (
        f"With B = {PAPER_REPLICATES:,} instead of {REPLICATES:,}, mean coverage on {few.title} "
        f"changes on the same samples by: {', '.join(lines)}. A quantile of B replicates lies "
        "slightly inside the one it estimates, at (p(B-1)+1)/(B+1) on average; for a 95% "
        f"interval that is a difference in coverage of {shift:.4f} between the two B. The numbers above "
        "are not corrected for it."
    )


def _tail(replicates: int) -> float:
    chance = (1.0 - LEVEL) / 2.0
    return (chance * (replicates - 1) + 1.0) / (replicates + 1)


def _interval_text(
    tables: dict[str, list[Scores]], published: Published, rng: np.random.Generator
) -> str:
    """Compare our limits with the published ones, on the TREC collections."""
    exact = checked = 0
    deviations: dict[str, list[float]] = {"percentile": [], "bca": [], "bootstrap_t": []}
    for name in (name for name in COLLECTIONS if name.startswith("trec")):
        (scores,) = tables[name]
        values = scores.values.reshape(len(scores.topics), -1)
        labels = [(run, measure) for run in scores.runs for measure in scores.measures]
        reach = _t_quantile(len(values)) * values.std(axis=0) / math.sqrt(len(values))
        mean = values.mean(axis=0)
        settings: dict[str, Any] = {"replicates": PAPER_REPLICATES, "rng": rng}
        percentile, bca = confidence_interval(
            scores, level=LEVEL, method=["percentile", "bca"], **settings
        )
        bootstrap_t = confidence_interval(
            scores, level=2.0 * LEVEL - 1.0, method="bootstrap-t", **settings
        )
        limits = {"percentile": percentile, "bca": bca, "bootstrap_t": bootstrap_t}
        for place, label in enumerate(labels):
            entry = published.get((name, *label, "t"))
            if entry is not None:
                checked += 1
                ours = (mean[place] - reach[place], mean[place] + reach[place])
                exact += all(
                    abs(value - entry[key]) < 0.5e-4 + 1e-9
                    for value, key in zip(ours, ("low", "high"), strict=True)
                )
            for method, interval in limits.items():
                entry = published.get((name, *label, method))
                if entry is not None and 0.0 < entry["high"] - entry["low"] < math.inf:
                    low, high = interval.low.ravel()[place], interval.high.ravel()[place]
                    width = entry["high"] - entry["low"]
                    off = max(abs(low - entry["low"]), abs(high - entry["high"]))
                    deviations[method].append(off / width)
    medians = ", ".join(
        f"{method} {100 * np.nanmedian(values):.1f}%" for method, values in deviations.items()
    )
    return (
        f"Of the {checked:,} published t intervals of the TREC collections {exact:,} are what the "
        "scores give with the standard deviation divided by n, to all four decimals. The limits "
        "of the other intervals differ from ours by chance; the median of the larger of the two "
        f"differences, as a share of the interval's width, is: {medians}."
    )


def _t_quantile(topics: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(topics - 1, (1.0 + LEVEL) / 2.0))


def _example_scores(tables: dict[str, list[Scores]]) -> Scores:
    collection, run, measure = EXAMPLE
    return tables[collection][0].select(run=[run], measure=[measure])


def _example_text(tables: dict[str, list[Scores]], example: Coverage, published: Published) -> str:
    values = _example_scores(tables).values.ravel()
    error = values.std(ddof=1) / math.sqrt(len(values))
    reach = _t_quantile(len(values))
    interval = published[*EXAMPLE, "t"]
    beside = ", ".join(
        f"{method} {example.coverage[example.methods.index(method), 0, 0]:.3f} "
        f"({published[*EXAMPLE, theirs]['coverage']:.3f})"
        for method, theirs in COMPARED.items()
    )
    corrected = example.coverage[example.methods.index("bootstrap-t"), 0, 0]
    return (
        f"Mean {values.mean():.4f}, standard error {error:.5f} (the paper truncates it to 0.0343). "
        f"The paper's t interval, [{interval['low']:.4f}, {interval['high']:.4f}], divides by n; "
        f"with n - 1 it is [{values.mean() - reach * error:.4f}, "
        f"{values.mean() + reach * error:.4f}]. Coverage from {example.samples:,} samples with B = "
        f"{example.replicates:,}, in brackets the published one: {beside}; corrected bootstrap-t "
        f"{corrected:.3f}. Its standard error is {math.sqrt(0.05 * 0.95 / example.samples):.3f}, "
        f"that of the published ones {math.sqrt(0.05 * 0.95 / PAPER_SAMPLES):.3f}."
    )


def _outlier_table(studies: dict[str, Study]) -> str:
    methods = ("t", "percentile", "bca", BOOTSTRAP_T_OF_THE_PAPER.name, "bootstrap-t")
    found = [
        (study.of("t")[place], study, place)
        for study in studies.values()
        for place in range(len(study.labels))
    ]
    found.sort(key=lambda entry: entry[0])
    rows = tuple(
        (
            Cell(study.title),
            Cell(" ".join(study.labels[place])),
            Cell(study.reasons[place]),
            *(Cell(f"{study.of(method)[place]:.3f}") for method in methods),
        )
        for _, study, place in found[:OUTLIERS_SHOWN]
    )
    return to_markdown(Table(("collection", "run, measure", "why", *methods), rows, names=3))


def _errata(tables: dict[str, list[Scores]], published: Published) -> str:
    (terabyte,) = tables["trec15.terabyte-adhoc"]
    strange = [
        entry["coverage"]
        for (collection, _, _, method), entry in published.items()
        if (collection, method) == ("trec22.microblog", "t")
    ]
    present = {key[:3] for key in published}
    without_bca = sum(
        (*key, "t") in published and (*key, "bca") not in published
        for key in present
        if key[0] in COLLECTIONS
    )
    lacking = sorted(
        f"{run} {measure} ({COLLECTIONS[name][0]})"
        for name in COLLECTIONS
        if name.startswith("trec")
        for run in tables[name][0].runs
        for measure in tables[name][0].measures
        if (name, run, measure) not in present
    )
    facts = [
        "The published t intervals divide the standard deviation by n; above, `t (paper)` does so.",
        (
            "bootstrap-t took α, not α/2, in each tail. Its text speaks of t tables for the quantiles; "
            "its code takes them from the replicates, as here."
        ),
        (
            "In the published code a replicate without variance is infinite; confir drops it. It makes "
            "a difference only for runs that score 0 on nearly all topics."
        ),
        '"The 5,750th value" of 5,000 replicates is the 4,750th.',
        f"The terabyte collection has {len(terabyte.topics)} topics, not 150.",
        (
            f"The rows of trec22.microblog (mean coverage of t: {np.mean(strange):.2f}) are of no "
            "collection of the paper; they are left out."
        ),
        (
            f"The published table has no intervals for {', '.join(lacking)}, and no BCa for "
            f"{without_bca} more rows of these runs, which found hardly anything. Means that are "
            "compared with published ones are over the published rows."
        ),
        (
            "The NTCIR runs are numbered in another order in the published table than in the score "
            "files, and three rows of alpha-nDCG and nERR-IA there lack values, so that these two "
            "measures have 97 topics here; means by collection do not depend on the order."
        ),
    ]
    return "\n".join(f"- {fact}" for fact in facts)


def _example_chart(
    tables: dict[str, list[Scores]], example: Coverage, rng: np.random.Generator
) -> Any:
    """Return the paper's Figure 1: each method's interval for one run, its coverage above."""
    import altair as alt

    scores = _example_scores(tables)
    methods = ["t", "percentile", "bca", "bootstrap-t"]
    wide = confidence_interval(scores, level=LEVEL, method=methods, rng=rng)
    narrow = confidence_interval(scores, level=2 * LEVEL - 1, method="bootstrap-t", rng=rng)
    intervals = dict(zip(methods, wide, strict=True))
    intervals[BOOTSTRAP_T_OF_THE_PAPER.name] = narrow
    records = [
        {
            "method": method,
            "low": float(interval.low.ravel()[0]),
            "high": float(interval.high.ravel()[0]),
            "mean": float(interval.estimate.ravel()[0]),
            "coverage": f"{example.coverage[example.methods.index(method), 0, 0]:.3f}",
        }
        for method, interval in intervals.items()
    ]
    base = alt.Chart(alt.InlineData(values=records)).encode(
        x=alt.X("method:N", sort=list(intervals), title=None, axis=alt.Axis(labelAngle=0))
    )
    boxes = base.mark_bar(size=34, color=COLOURS[5]).encode(
        y=alt.Y("low:Q", title="mean AP", scale=alt.Scale(zero=False)), y2="high:Q"
    )
    means = base.mark_tick(size=34, thickness=2, color="black").encode(y="mean:Q")
    labels = base.mark_text(dy=-8, fontWeight="bold").encode(y="high:Q", text="coverage:N")
    drawing = alt.layer(boxes, means, labels).properties(width=520, height=260)
    return styled(
        drawing.to_dict(), f"{EXAMPLE[1]}, {EXAMPLE[2]}: intervals, and their coverage above"
    )


def _box_chart(studies: dict[str, Study]) -> Any:
    """Return the paper's Figures 2 and 3: coverage over runs, by collection, measure and method."""
    import altair as alt

    methods = ["t", "percentile", "bca", BOOTSTRAP_T_OF_THE_PAPER.name, "bootstrap-t"]
    panels = []
    for study in studies.values():
        records = [
            {"measure": measure, "method": method, "coverage": share}
            for method in methods
            for (_, measure), share in zip(study.labels, study.of(method).tolist(), strict=True)
        ]
        measures = list(dict.fromkeys(measure for _, measure in study.labels))
        boxes = (
            alt.Chart(alt.InlineData(values=records))
            .mark_boxplot(size=9, outliers={"size": 5}, median={"color": "white"})
            .encode(
                x=alt.X("measure:N", sort=measures, title=None, axis=alt.Axis(labelAngle=0)),
                xOffset=alt.XOffset("method:N", sort=methods),
                y=alt.Y(
                    "coverage:Q",
                    title="coverage",
                    scale=alt.Scale(domain=[LEAST_DRAWN, 1.0], clamp=True),
                ),
                color=alt.Color(
                    "method:N", sort=methods, scale=alt.Scale(range=list(COLOURS)), title=None
                ),
            )
        )
        claimed = alt.Chart().mark_rule(color="black", strokeDash=[4, 3]).encode(y=alt.datum(LEVEL))
        panels.append(
            alt.layer(boxes, claimed).properties(width=430, height=180, title=study.title)
        )
    drawing = alt.concat(*panels, columns=2)
    title = f"Coverage of 95% intervals over the runs (drawn at {LEAST_DRAWN} where below)"
    return styled(drawing.to_dict(), title)


if __name__ == "__main__":
    main()
