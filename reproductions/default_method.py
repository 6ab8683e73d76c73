"""Which interval should be the default? The error of every method, on all available collections.

Populations are runs' scores on the topics of real collections, and topics simulated after them.
Samples of n topics are drawn with replacement; a method is judged by the distance of its error,
averaged over the runs of a table, from the nominal error. The choice is made on six of
the collections and confirmed on six others, on new collections and by simulation.

    python reproductions/default_method.py --data data --output docs/reproductions

It takes about half an hour of processor time; with `--quick`, for a first look, half a minute.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.files import write_whole
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.intervals.beta_intervals import beta_logit_interval, equal_scores_limits
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.intervals.method_list import (
    DEFAULT_BOUNDED_METHOD,
    DEFAULT_METHOD,
    METHODS,
    methods_over,
)
from confir.intervals.pivot import PRIOR_TOPICS
from confir.measures.evaluation import evaluate
from confir.report.chart_files import save_chart
from confir.report.charts import COLOURS, INK, styled
from confir.report.tables import Cell, Table, to_markdown
from confir.resampling.distribution import SamplingDistribution
from confir.studies.coverage.miss_counts import MissCounts, count_misses
from confir.studies.simulation.score_simulation import fit_population

SEED = 2011
LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
SHOWN = 0.95
PERCENT = f"{100 * SHOWN:g}%"
SIZES = (3, 5, 10, 25, 50, 100, 250)
QUICK_SIZES, QUICK_SAMPLES, QUICK_REPLICATES = (5, 25), 6, 49
FEW_TABLES = 5
LOST = 5.0  # thousandths by which another method must be nearer to count
LEAST_COVERAGE = 0.90  # of 95% intervals: below, they mislead
REPLICATES = 999
WIDTH_SAMPLES = 30
RUNS_PER_TABLE, PAIRS_PER_TABLE = 10, 10
SIMULATED_PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of all runs of a table, from the worst to the best
POPULATION = 10_000  # topics of a population: real ones are repeated
CONSTANT = 0.01
RESAMPLED_COLLECTIONS = 10_000

# collection → score files. Tables that hold the same runs and topics again are left out.
SCORE_FILES = {
    "TREC-8": ["soboroff2014/scores/trec8.adhoc.csv.gz"],
    "Robust 2004": [
        "soboroff2014/scores/trec13.robust.csv.gz",
        "robust2004_ap.csv",
        "urbano2018/robust2004_p10.csv",
    ],
    "Robust 2005": ["soboroff2014/scores/trec14.robust.csv.gz"],
    "Terabyte 2006": ["soboroff2014/scores/trec15.terabyte-adhoc.csv.gz"],
    "Blog 2008": ["soboroff2014/scores/trec17.blog-topicrel.csv.gz"],
    "Web 2010": [
        f"urbano2018/web2010_{name}.csv" for name in ("ap", "err20", "ndcg20", "p20", "rr")
    ],
    "Web 2012": ["soboroff2014/scores/trec21.web.csv.gz"],
    "NTCIR-7 IR4QA": [
        f"soboroff2014/scores/ntcir7ir4qa.{name}@1000.csv.gz"
        for name in ("AP", "MSnDCG", "nERR", "Q")
    ],
    # datasets take the place of topics
    "MTEB": ["mteb-beir/ndcg_at_10.csv"],
    "NTCIR-10 INTENT": [
        f"soboroff2014/scores/ntcir10intentDRC.{name}.csv.gz"
        for name in ("alpha-nDCG", "D-nDCG@10", "D#-nDCG@10", "nERR-IA")
    ],
}
# collection → folder with qrels and runs, measures
ADHOC = ("AP", "nDCG@10", "P@10", "RR", "R@100", "Success@5", "RBP(p=0.8,rel=1)")
DIVERSITY = ("alpha_nDCG@20", "ERR_IA@20", "StRecall@20")
RUN_FILES = {
    "Robust 2003": ("trec-robust-2003/qrels.txt", ADHOC),
    "TREC-COVID": ("trec-covid-r5/qrels.txt", ADHOC),
    "CLEF eHealth 2015": ("clef-ehealth-2015/qrels.txt", ADHOC),
    "Web 2012": ("trec-web-2012-diversity/qrels.txt.gz", DIVERSITY),
    "DL 2021": ("trec-dl-2021/qrels.nist.txt", ADHOC),
}

# Those that share topics and documents are on the same side.
CHOOSING = ("TREC-8", "Robust 2003", "Robust 2004", "Terabyte 2006", "Web 2010", "NTCIR-7 IR4QA")
# Those that came after beta-logit.
NEW = ("DL 2021", "MTEB")

# Betting and gaffke are not candidates: they trade width for safety.
SCORE_METHODS = tuple(name for name in methods_over("topics") if name not in ("betting", "gaffke"))
DIFFERENCE_METHODS = tuple(
    name for name, method in methods_over("topics").items() if not method.bounded
)
PUBLISHED = ("t", "percentile", "bca", "bootstrap-t", "studentised-logit")
AIM_SIZES, AIM_SAMPLES = (5, 10, 25, 50), 1_000
DRAWN = (
    "calibrated-beta",
    "beta-logit",
    "t",
    "logit-t",
    "symmetric-t-logit",
    "studentised-logit",
    "bca",
)


def _answering(name: str) -> Method:
    """Return a method with the limits for equal scores that `beta-logit` has."""
    method = METHODS[name]

    def compute(distribution: SamplingDistribution, level: float) -> Limits:
        equal = equal_scores_limits(distribution, level)
        pairs = zip(equal, method.compute(distribution, level), strict=True)
        return Limits(*(np.where(distribution.degenerate, one, other) for one, other in pairs))

    return replace(
        method,
        name=f"{name}, limits for equal scores",
        compute=compute,
        any_sample=True,
    )


def _with_prior(topics: float) -> Callable[[SamplingDistribution, float], Limits]:
    return lambda distribution, level: beta_logit_interval(distribution, level, topics)


BETA = METHODS["beta-logit"]
VARIANTS: tuple[Method, ...] = (
    METHODS["logit-t"],
    _answering("logit-t"),
    _answering("symmetric-t-logit"),
    _answering("hall-logit"),
    replace(BETA, name="beta-logit, skewness of the sample alone", compute=_with_prior(0.0)),
    replace(BETA, name=f"beta-logit (beta as {PRIOR_TOPICS:g} topics)"),
    replace(BETA, name="beta-logit, skewness of the beta alone", compute=_with_prior(math.inf)),
    METHODS["calibrated-beta"],
)


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Scores of some topics, of which samples are drawn: topics × columns."""

    collections: tuple[str, ...]  # of each table
    measures: tuple[str, ...]  # of each table
    tables: Integers  # of each column
    values: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """How often each method misses, in samples of one size.

    Attributes
    ----------
    methods
        Names.
    below, above
        Share of the samples whose interval the truth lies below or above: methods × levels × C.
    undefined
        Share of the samples without an interval: methods × C.
    width
        Mean width at the level shown over that of `t`: methods × C; None where not asked for.
    collections, measures
        Of each table (T).
    tables
        The place of each column's table (C).
    samples
        Number of samples of each population.
    """

    methods: tuple[str, ...]
    below: Floats
    above: Floats
    undefined: Floats
    width: Floats | None
    collections: tuple[str, ...]
    measures: tuple[str, ...]
    tables: Integers
    samples: int

    @property
    def two_sided(self) -> Floats:
        """Distance of a table's error from what is claimed, mean over the levels: methods × T."""
        distance: Floats = np.abs(self.deviations("two_sided")[0]).mean(axis=1)
        return distance

    @property
    def tails(self) -> Floats:
        """The same for each tail, mean over the two tails."""
        distance: Floats = np.abs(self.deviations("tails")[0]).mean(axis=1)
        return distance

    def deviations(self, kind: str) -> tuple[Floats, Floats]:
        """Return a table's error less what is claimed, and what is claimed.

        The first is methods × levels × T, the second a column of levels; of tails, those below come
        before those above.
        """
        claimed = 1.0 - np.array(LEVELS)[:, None]
        if kind == "two_sided":
            return self._by_table(self.below + self.above) - claimed, claimed
        claimed = np.concatenate([claimed, claimed]) / 2.0
        return self._by_table(np.concatenate([self.below, self.above], axis=1)) - claimed, claimed

    @property
    def signed(self) -> Floats:
        """Error less what is claimed, mean over the levels: methods × T."""
        claimed = 1.0 - np.array(LEVELS)[:, None]
        error: Floats = (self._by_table(self.below + self.above) - claimed).mean(axis=1)
        return error

    def _by_table(self, shares: Floats) -> Floats:
        """Return the means over the columns of each table."""
        of_table = np.arange(len(self.collections))[:, None] == self.tables
        means: Floats = shares @ (of_table / of_table.sum(axis=1, keepdims=True)).T
        return means

    def at_shown(self) -> tuple[Floats, Floats]:
        """Return the shares below and above at the level shown: methods × C each."""
        place = LEVELS.index(SHOWN)
        return self.below[:, place], self.above[:, place]

    def of_collections(self, kept: Booleans) -> Errors:
        """Return the errors of some tables."""
        return self.select(kept[self.tables])

    def select(self, columns: Booleans) -> Errors:
        """Return the errors of some columns."""
        tables, places = np.unique(self.tables[columns], return_inverse=True)
        return replace(
            self,
            below=self.below[..., columns],
            above=self.above[..., columns],
            undefined=self.undefined[:, columns],
            width=None if self.width is None else self.width[:, columns],
            collections=tuple(self.collections[table] for table in tables),
            measures=tuple(self.measures[table] for table in tables),
            tables=places,
        )


Study = dict[int, Errors]  # size of a sample → errors
Part = tuple[tuple[str, str], Floats]  # collection and measure of a table, topics × columns


def main() -> None:
    """Run the study; print the page and write it with its figure."""
    warnings.simplefilter("ignore", ConfirWarning)
    options = _parse()
    started = time.monotonic()
    tables = list(_tables(options.data))
    scores, gaps = _real_populations(tables)
    simulated_scores, simulated_gaps = _simulated_populations(tables)
    samples = QUICK_SAMPLES if options.quick else options.samples
    study = partial(
        _study,
        samples=samples,
        sizes=QUICK_SIZES if options.quick else SIZES,
        replicates=QUICK_REPLICATES if options.quick else REPLICATES,
    )
    studies = {
        "real": study(scores, SCORE_METHODS),
        "simulated": study(simulated_scores, SCORE_METHODS),
    }
    differences = {
        "real": study(gaps, DIFFERENCE_METHODS),
        "simulated": study(simulated_gaps, DIFFERENCE_METHODS),
    }
    variants = study(scores, VARIANTS, widths=False)
    if not options.quick:
        study = partial(study, sizes=AIM_SIZES, samples=AIM_SAMPLES)
    closely = partial(study, methods=(*PUBLISHED, DEFAULT_BOUNDED_METHOD), widths=False)
    aims = {"real": closely(scores), "simulated": closely(simulated_scores)}
    page = _page(
        tables, _parts(studies), _parts(differences), _halves(variants), _parts(aims), samples
    )
    options.output.mkdir(parents=True, exist_ok=True)
    save_chart(_chart(_parts(studies)), options.output / "default-method.svg")
    write_whole(options.output / "default-method.md", page.encode())
    print(page)
    print(f"{time.monotonic() - started:.0f} seconds")
    best = [_best(_halves(study["real"])["choosing"]) for study in (studies, differences)]
    if not options.quick and best != [DEFAULT_BOUNDED_METHOD, DEFAULT_METHOD]:
        raise SystemExit(f"the best methods are {best}, which the defaults are not")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the real data")
    parser.add_argument("--output", type=Path, default=Path("docs/reproductions"))
    parser.add_argument("--samples", type=int, default=100, help="samples of each population")
    parser.add_argument("--quick", action="store_true", help="few samples of two sizes")
    return parser.parse_args()


def _tables(data: Path) -> Iterator[tuple[str, Scores]]:
    """Yield the scores of each collection and measure."""
    for collection, paths in SCORE_FILES.items():
        for path in paths:
            yield from _by_measure(collection, read_scores(data / path))
    for collection, (path, measures) in RUN_FILES.items():
        folder = (data / path).parent / "runs"
        runs = [read_run(run) for run in sorted(folder.iterdir())]
        scores = evaluate(read_qrels(data / path), runs, list(measures))
        yield from _by_measure(collection, scores)


def _by_measure(collection: str, scores: Scores) -> Iterator[tuple[str, Scores]]:
    """Yield the table of each measure, runs from the worst to the best; constant ones left out."""
    for m, measure in enumerate(scores.measures):
        varied = scores.values[:, :, m].std(axis=0) > 0
        order = np.argsort(scores.mean()[:, m], kind="stable")
        runs = [scores.runs[r] for r in order if varied[r]]
        yield collection, scores.select(run=runs, measure=[measure])


def _real_populations(tables: Sequence[tuple[str, Scores]]) -> tuple[Population, Population]:
    """Return some runs' scores, evenly spread from worst to best; and differences of random runs."""
    rng = np.random.default_rng(SEED)
    scores, gaps = [], []
    for collection, table in tables:
        values = table.values[:, :, 0]
        places = np.linspace(0, values.shape[1] - 1, RUNS_PER_TABLE).round().astype(int)
        name = (collection, table.measures[0])
        scores.append((name, values[:, np.unique(places)]))
        gaps.append((name, _random_differences(values, rng)))
    return _repeated(scores, rng), _repeated(gaps, rng)


def _random_differences(values: Floats, rng: np.random.Generator) -> Floats:
    """Return the differences of random pairs of runs that differ: topics × pairs."""
    pairs = rng.permuted(np.tile(np.arange(values.shape[1]), (50, 1)), axis=1)[:, :2]
    gaps = values[:, pairs[:, 0]] - values[:, pairs[:, 1]]
    return gaps[:, gaps.std(axis=0) > 0][:, :PAIRS_PER_TABLE]


def _repeated(parts: Sequence[Part], rng: np.random.Generator) -> Population:
    """Return columns that repeat their scores until all have the same number.

    Each comes in an order of its own, so that columns that share samples do not err together.
    """
    repeated = []
    for name, part in parts:
        columns = [np.resize(rng.permutation(column), POPULATION) for column in part.T]
        repeated.append((name, rng.permuted(np.column_stack(columns), axis=0)))
    return _population(repeated)


def _population(parts: Sequence[Part]) -> Population:
    """Return the population of tables whose columns have the same number of topics."""
    return Population(
        collections=tuple(collection for (collection, _), _ in parts),
        measures=tuple(measure for (_, measure), _ in parts),
        tables=np.repeat(np.arange(len(parts)), [part.shape[1] for _, part in parts]),
        values=np.hstack([part for _, part in parts]),
    )


def _simulated_populations(tables: Sequence[tuple[str, Scores]]) -> tuple[Population, Population]:
    """Return topics drawn from populations fitted to runs of each table; and differences of runs."""
    scores, gaps = [], []
    for number, (collection, table) in enumerate(tables):
        places = {round(place * (len(table.runs) - 1)) for place in SIMULATED_PLACES}
        runs = [table.runs[place] for place in sorted(places)]
        fitted = fit_population(table.select(run=runs))
        drawn = fitted.draw(POPULATION, np.random.default_rng([SEED, number])).values[:, :, 0]
        name = (collection, table.measures[0])
        scores.append((name, drawn))
        gaps.append((name, np.diff(drawn, axis=1)))
    return _population(scores), _population(gaps)


def _study(
    population: Population,
    methods: Sequence[str | Method],
    *,
    samples: int,
    sizes: Sequence[int],
    replicates: int,
    widths: bool = True,
) -> Study:
    """Return the errors of the methods for each size of sample."""
    study = {}
    for size in sizes:
        count = partial(
            count_misses,
            population.values,
            methods=methods,
            topics=size,
            replicates=replicates,
            rng=SEED + size,
        )
        errors = _errors(count(levels=LEVELS, samples=samples), population)
        if widths:
            found = count(levels=SHOWN, samples=min(samples, WIDTH_SAMPLES), widths=True)
            width = np.asarray(found.width)[:, 0]
            errors = replace(errors, width=width / width[found.methods.index("t")])
        study[size] = errors
    return study


def _errors(misses: MissCounts, population: Population) -> Errors:
    return Errors(
        methods=misses.methods,
        below=misses.below / misses.samples,
        above=misses.above / misses.samples,
        undefined=misses.undefined[:, LEVELS.index(SHOWN)] / misses.samples,
        width=None,
        collections=population.collections,
        measures=population.measures,
        tables=population.tables,
        samples=misses.samples,
    )


def _halves(study: Study) -> dict[str, Study]:
    """Return the study of the collections on which the choice is made, and those of the others."""
    return {
        part: {
            size: errors.of_collections(_part_of(errors) == part) for size, errors in study.items()
        }
        for part in ("choosing", "confirming", "new")
    }


def _part_of(errors: Errors) -> Any:
    """Return the part that each table belongs to."""
    names = errors.collections
    return np.where(
        np.isin(names, CHOOSING), "choosing", np.where(np.isin(names, NEW), "new", "confirming")
    )


def _parts(studies: dict[str, Study]) -> dict[str, Study]:
    return _halves(studies["real"]) | {"simulated": studies["simulated"]}


def _best(study: Study) -> str:
    """Return the method with the least mean distance over all sizes, two-sided and in the tails."""
    total = sum((errors.two_sided + errors.tails).mean(axis=1) for errors in study.values())
    return _methods(study)[int(np.argmin(total))]


def _methods(study: Study) -> tuple[str, ...]:
    return next(iter(study.values())).methods


def _page(
    tables: Sequence[tuple[str, Scores]],
    scores: dict[str, Study],
    differences: dict[str, Study],
    variants: dict[str, Study],
    aims: dict[str, Study],
    samples: int,
) -> str:
    parts = [
        "# Which interval should be the default?",
        "Written by `reproductions/default_method.py`.",
        _verdict(
            "means of scores in [0, 1]", scores, ("beta-logit", "t", "studentised-logit", "bca")
        ),
        _verdict("differences", differences, ("symmetric-t", "bca")),
        "![Distance of the error from the nominal error, by topics and method](default-method.svg)",
        "## The rule",
        RULE,
        _why_one_rule(scores),
        "## How it was measured",
        _how(tables, scores, differences, samples),
        "## Scores in [0, 1]",
        _distances(scores),
        "### Compared with the best published method",
        _aim(aims),
        "### Table by table",
        TABLE_BY_TABLE,
        _table_by_table(aims),
        _without_equal_scores(scores),
        _details(scores),
        "### How certain is the choice?",
        SURENESS,
        _sureness(scores, DEFAULT_BOUNDED_METHOD),
        "### Where another method is better",
        LOSSES,
        _losses(aims),
        "### Contribution of each part",
        VARIANTS_TEXT,
        _distances(variants),
        "## Differences of two runs",
        _distances(differences),
        _details(differences),
        "### How certain is the choice?",
        _sureness(differences, DEFAULT_METHOD),
        DIFFERENCE_WORDS,
        "## What this does not show",
        _limitations(),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


RULE = f"""
- Means of scores in [0, 1]: `calibrated-beta`, for any number of topics and any measure. It draws no
  replicates and needs no seed.
- Everything else (differences, counts, geometric means, several measures of which one may leave
  [0, 1]): `t`.

`calibrated-beta` is `logit-t` with three additions; `beta-logit` has the first two.

1. *A correction of skewness.* The studentised mean of skewed scores is skewed itself; Hall (1992)
   corrects that with the skewness γ of the scores. A few topics say little about γ, but scores in
   [0, 1] have about the skewness of the beta distribution with their mean and variance:
   γ = 2/(1+φ) · (1-2m)s/(m(1-m)) with φ = s²/(m(1-m)). The mean of the sample's γ and the beta
   distribution's, which counts as {PRIOR_TOPICS:g} topics, is taken.
2. *Limits if all scores are equal.* n topics that all score c do not show that others would: up
   to a share 1 - (α/2)^(1/n) of topics with another score may have been missed. For zeros and ones
   these are the limits of Clopper and Pearson (1934); each errs with probability at most α/2.
3. *Quantiles of the corrected mean itself.* `beta-logit` uses those of t, which are too wide for few topics
   with bounded scores. A mean μ is rejected here if the corrected mean lies beyond its own quantiles
   over samples of n from the beta distribution with mean μ and dispersion φ, which are tabulated
   (`make tables`). The limits are the first means that are rejected on either side of the sample's
   mean, and no farther out than those of `gaffke`.

For differences `t` agrees with the t test: the interval excludes 0 exactly when p is below 1 - level.
"""

LOSSES = f"""
Tables for which the distance of another method is smaller by more than {LOST:g} thousandths, two-sided
and tails averaged:
"""

TABLE_BY_TABLE = f"""
Means over tables depend on the choice of tables: runs that score 1 on nearly all topics (RR and
Success@5 of TREC-COVID and DL 2021) cause a large part of the published methods' distances. Two-sided /
mean of the tails, of `t`; of `{DEFAULT_BOUNDED_METHOD}`; the last rows are the median and the mean of
these tables, and the mean without the {FEW_TABLES} on which `t` errs most, two-sided.
"""

MANY_TOPICS = 25

SURENESS = f"""
Collections differ, and results on these need not hold on others. The *other method* is the best
of the rest on the choosing half. The *gap* is its mean distance less that of the default, in
thousandths: positive if the default is better calibrated. The standard error is over
{RESAMPLED_COLLECTIONS:,} resamples of the collections; *sure* is the share of them in which the gap
is positive, *won* the number of collections in which it is.
"""

VARIANTS_TEXT = """
The limits for equal scores would improve other methods, too. The skewness of the sample alone is too
noisy for few topics; that of the beta distribution alone leaves uneven tails for any number of
topics. The tabulated quantiles give the rest of the improvement.
"""

DIFFERENCE_WORDS = """
In words: with 5 topics the choice of `t` is certain; with 10 it is likely two-sided and inconclusive in the tails; from
25 on it is a tie with `symmetric-t`. With 100 or more topics `bootstrap-t` has more even tails, but
errs more often two-sided.
"""


def _verdict(what: str, studies: dict[str, Study], others: Sequence[str]) -> str:
    best = _best(studies["choosing"])
    also = {part: _best(studies[part]) for part in ("confirming", "new", "simulated")}
    agree = " and ".join(part for part, name in also.items() if name == best) or "no other"
    numbers = "; ".join(
        f"n = {size}: "
        + ", ".join(
            f"{name} {1e3 * float(errors.two_sided[errors.methods.index(name)].mean()):.1f}"
            for name in (best, *others)
        )
        for size, errors in studies["confirming"].items()
        if size in (10, 25, 50)
    )
    return (
        f"**For {what}: `{best}`.** Over all n, the mean distance of its error from the nominal "
        f"error is smallest on the choosing collections, and on the {agree} ones. "
        "On the confirming collections, which had no part in the choice, two-sided, in thousandths: "
        f"{numbers}."
    )


def _why_one_rule(studies: dict[str, Study]) -> str:
    """Return what a rule that changes with the number of topics would gain."""
    gains = []
    for part, study in studies.items():
        both = {
            size: 1e3 * (errors.two_sided + errors.tails).mean(axis=1) / 2.0
            for size, errors in study.items()
            if size >= MANY_TOPICS
        }
        own = _methods(study).index(DEFAULT_BOUNDED_METHOD)
        gain = {size: found[own] - found.min() for size, found in both.items()}
        gains.append(f"{max(gain.values()):.1f} ({part})")
    return (
        f"From {MANY_TOPICS} topics on, methods that resample on the logit scale are as good or "
        "better: at the n that suits them best they gain, in thousandths, two-sided and tails "
        f"averaged, {', '.join(gains)}. A rule that switched to them there would gain no more than "
        "that, at the cost of replicates, a seed, and a jump between one number of topics and the "
        "next; so there is one method for all n."
    )


def _how(
    tables: Sequence[tuple[str, Scores]],
    scores: dict[str, Study],
    differences: dict[str, Study],
    samples: int,
) -> str:
    names = list(dict.fromkeys(collection for collection, _ in tables))
    others = ", ".join(name for name in names if name not in (*CHOOSING, *NEW))
    measures = sorted({table.measures[0] for _, table in tables}, key=str.lower)
    columns, pairs = (
        ", ".join(
            f"{part} {len(next(iter(study.values())).tables)}" for part, study in studies.items()
        )
        for studies in (scores, differences)
    )
    return (
        f"{len(names)} collections; {len(tables)} tables, each of a collection and a measure: "
        f"{', '.join(measures)}. From each table {RUNS_PER_TABLE} runs, evenly spread from the "
        f"worst to the best, and {PAIRS_PER_TABLE} random pairs of runs. A run's scores are a "
        f"population: {samples:,} samples of n topics are drawn from it with replacement. Each "
        "gives an interval by each method at the levels "
        f"{', '.join(f'{level:g}' for level in LEVELS)}, with B = {REPLICATES} replicates if it "
        "resamples; the intervals that miss the population's mean are counted, on each side. A "
        "sample without an interval is a miss.\n\n"
        f"The choice, constants of `beta-logit` included, was made on {', '.join(CHOOSING)} "
        f"(*choosing*) before {others} (*confirming*) were examined; {' and '.join(NEW)} (*new*; "
        "in MTEB, datasets take the place of topics) came after `beta-logit`. `calibrated-beta` "
        "has no tuned "
        "constant; but the decision for limits for zeros and ones that are close to those with "
        "mid-p, not to the exact ones, was made after the errors on all collections, including "
        "the confirming and new ones, were known: for Success@5 none of them is held out. The "
        "*simulated* populations are "
        f"{POPULATION:,} topics drawn from distributions fitted to {len(SIMULATED_PLACES)} runs of each "
        "table (`confir.studies.simulation.score_simulation`), whose mean is the truth. "
        f"Populations: {columns} for scores; {pairs} for differences.\n\n"
        "*Distance* is |error - nominal error| in thousandths, with the error first averaged over "
        "the runs of a table, then the mean over levels and tables: two-sided / mean of the two "
        "tails. The row *(exact)* is what an exact method would have, by chance. The smallest sum "
        "of both is bold."
    )


def _distances(studies: dict[str, Study]) -> str:
    return "\n\n".join(
        f"Distance, {part}:\n\n{_distance_table(study)}" for part, study in studies.items()
    )


def _aim(studies: dict[str, Study]) -> str:
    """Return the default's distance as a share of the best published method's, seen three ways."""
    texts = {
        _mean_distance: f"Distance of `{DEFAULT_BOUNDED_METHOD}` as a share of that of the best "
        "published method (in brackets), including Monte Carlo error:",
        _root_mean_square: "The same without Monte Carlo error: the share of root mean square "
        "distances, from whose squares the variance of a share of this many samples is subtracted "
        "(0 if nothing is left):",
        _centred_distance: "The most that calibration alone could gain: if, at each n, level and "
        f"side, the tables' median error were subtracted from the errors of `{DEFAULT_BOUNDED_METHOD}`, "
        "which requires knowledge of the collections, these shares would remain (including Monte "
        "Carlo error). Tables err in different directions, and no method that is calibrated once for "
        "all of them can do much better:",
    }
    samples = next(iter(studies["confirming"].values())).samples
    shares = "\n\n".join(
        f"{text}\n\n{_aim_table(studies, distance)}" for distance, text in texts.items()
    )
    return f"{samples:,} samples of each population.\n\n{_distances(studies)}\n\n{shares}"


def _aim_table(studies: dict[str, Study], distance: Callable[[Errors, str], Floats]) -> str:
    rows = []
    for part in ("confirming", "new", "simulated"):
        for kind in ("two_sided", "tails"):
            cells = []
            for errors in studies[part].values():
                means = dict(zip(errors.methods, distance(errors, kind), strict=True))
                best = min(PUBLISHED, key=lambda name: means[name])
                own = means[DEFAULT_BOUNDED_METHOD]
                share = f"{own / means[best]:.2f}" if means[best] > 0 else "-"
                cells.append(Cell(f"{share} ({best})"))
            rows.append((Cell(f"{part}, {kind.replace('_', '-')}"), *cells))
    return _table(rows, studies["confirming"], "populations, distance")


def _mean_distance(errors: Errors, kind: str) -> Floats:
    """Return the mean distance of each method; chance is included."""
    mean: Floats = getattr(errors, kind).mean(axis=1)
    return mean


def _root_mean_square(errors: Errors, kind: str) -> Floats:
    """Return the root mean square distance of each method, with the variance of chance taken off."""
    deviations, claimed = errors.deviations(kind)
    chance = claimed * (1.0 - claimed) / (errors.samples * np.bincount(errors.tables))
    square = (np.square(deviations) - chance).mean(axis=(1, 2))
    root: Floats = np.sqrt(np.maximum(square, 0.0))
    return root


def _centred_distance(errors: Errors, kind: str) -> Floats:
    """Return the mean distances, of the default what is left without the tables' median error."""
    means = _mean_distance(errors, kind)
    place = errors.methods.index(DEFAULT_BOUNDED_METHOD)
    own = errors.deviations(kind)[0][place]
    means[place] = np.abs(own - np.median(own, axis=1, keepdims=True)).mean()
    return means


def _table_by_table(studies: dict[str, Study]) -> str:
    """Return the distances of `t` and the default on each table that had no part in the choice."""
    parts = [studies[part] for part in ("confirming", "new")]
    found = {
        size: np.hstack([_distances_of_two(part[size]) for part in parts]) for size in parts[0]
    }
    names = [
        f"{collection} {measure}"
        for errors in (part[next(iter(found))] for part in parts)
        for collection, measure in zip(errors.collections, errors.measures, strict=True)
    ]
    summaries: dict[str, Callable[[Floats], Floats]] = {
        "median": lambda values: np.median(values, axis=1),
        "mean": lambda values: values.mean(axis=1),
        f"mean without {FEW_TABLES}": lambda values: values[
            :, values[0].argsort()[:-FEW_TABLES]
        ].mean(axis=1),
    }
    text = "{:.1f} / {:.1f}; {:.1f} / {:.1f}".format
    rows = [
        (Cell(name), *(Cell(text(*values[:, place])) for values in found.values()))
        for place, name in enumerate(names)
    ]
    rows += [
        (Cell(name), *(Cell(text(*summary(values))) for values in found.values()))
        for name, summary in summaries.items()
    ]
    return _table(rows, parts[0], "table")


def _distances_of_two(errors: Errors) -> Floats:
    """Return the distances of `t` and of the default, two-sided and tails: 4 × T, thousandths."""
    places = (errors.methods.index(name) for name in ("t", DEFAULT_BOUNDED_METHOD))
    kinds = (errors.two_sided, errors.tails)
    return 1e3 * np.stack([kind[place] for place in places for kind in kinds])


def _losses(studies: dict[str, Study]) -> str:
    """Return the tables of which another method has a smaller distance, by enough to matter."""
    lines = []
    for size in (size for size in (10, 25, 50) if size in studies["confirming"]):
        for part in ("confirming", "new"):
            errors = studies[part][size]
            both = 1e3 * (errors.two_sided + errors.tails) / 2.0
            own, best = both[errors.methods.index(DEFAULT_BOUNDED_METHOD)], both.argmin(axis=0)
            lost = np.flatnonzero(own - both.min(axis=0) > LOST)
            found = ", ".join(
                f"{errors.collections[t]} {errors.measures[t]} ({errors.methods[best[t]]}: "
                f"{both[best[t], t]:.1f} instead of {own[t]:.1f})"
                for t in lost
            )
            lines.append(
                f"- n = {size}, {part}: {len(lost)} of {len(own)} tables{': ' + found if found else ''}."
            )
    return "\n".join(lines)


def _without_equal_scores(studies: dict[str, Study]) -> str:
    """Return the distances where the limits for equal scores have no part in them."""
    study = {
        size: errors.select(errors.undefined[errors.methods.index("t")] < CONSTANT)
        for size, errors in studies["confirming"].items()
    }
    counts = ", ".join(str(len(errors.tables)) for errors in study.values())
    return (
        f"Distance, confirming, populations in which fewer than {100 * CONSTANT:g}% of the samples "
        "are of equal scores "
        f"({counts} populations):\n\n{_distance_table(study)}"
    )


def _distance_table(study: Study) -> str:
    both = {
        size: 1e3 * np.stack([errors.two_sided.mean(axis=1), errors.tails.mean(axis=1)])
        for size, errors in study.items()
    }
    rows = [
        (
            Cell(method),
            *(
                Cell("{:.1f} / {:.1f}".format(*found[:, m]), m == found.sum(axis=0).argmin())
                for found in both.values()
            ),
        )
        for m, method in enumerate(_methods(study))
    ]
    floors = ("{:.1f} / {:.1f}".format(*_exact(errors)) for errors in study.values())
    rows.append((Cell("(exact)"), *map(Cell, floors)))
    return _table(rows, study)


def _exact(errors: Errors) -> tuple[float, float]:
    """Return the distances that a method without fault would show, in thousandths.

    The share of samples that miss varies around the probability that they do, the less so the more
    columns a table has; normal deviations have a mean size of √(2/π) standard deviations.
    """
    drawn = errors.samples * np.bincount(errors.tables)
    claimed = 1.0 - np.array(LEVELS)[:, None]
    two_sided, tails = (
        1e3 * math.sqrt(2.0 / math.pi) * np.sqrt(p * (1.0 - p) / drawn).mean()
        for p in (claimed, claimed / 2.0)
    )
    return float(two_sided), float(tails)


def _details(studies: dict[str, Study]) -> str:
    """Return what becomes of 95% intervals out of sample: sides, worst cases, widths."""

    def sides(errors: Errors, m: int) -> str:
        return " / ".join(f"{1e3 * side[m].mean():.0f}" for side in errors.at_shown())

    def worst(errors: Errors, m: int) -> str:
        error = np.sum(errors.at_shown(), axis=0)[m]
        few = 100 * (error > 1.0 - LEAST_COVERAGE).mean()
        return f"{1e3 * np.quantile(error, 0.95):.0f} / {1e3 * error.max():.0f}; {few:.1f}"

    def signed(errors: Errors, m: int) -> str:
        return f"{1e3 * errors.signed[m].mean():+.1f}"

    def width(errors: Errors, m: int) -> str:
        ratio = np.nan if errors.width is None else np.nanmedian(errors.width[m])
        return f"{ratio:.2f}; {1e2 * errors.undefined[m].mean():.1f}"

    titles = {
        signed: "Signed error, thousandths: error less nominal error, mean over levels and tables "
        "(negative: the intervals are too wide)",
        sides: f"Truth below / above the {PERCENT} interval, thousandths (nominal: 25 / 25)",
        worst: f"Error of the {PERCENT} interval in the worst populations, thousandths: 95th "
        f"percentile / largest (nominal: 50); runs with a coverage below {LEAST_COVERAGE:.2f}, %",
        width: f"Width of the {PERCENT} interval relative to `t`, median; samples without an "
        "interval, %",
    }
    return "\n\n".join(
        f"{title}, {part}:\n\n{_method_table(studies[part], text)}"
        for text, title in titles.items()
        for part in ("confirming", "new", "simulated")
    )


def _method_table(study: Study, text: Callable[[Errors, int], str]) -> str:
    rows = [
        (Cell(method), *(Cell(text(errors, m)) for errors in study.values()))
        for m, method in enumerate(_methods(study))
    ]
    return _table(rows, study)


def _table(rows: Sequence[tuple[Cell, ...]], study: Study, first: str = "method") -> str:
    columns = (first, *(f"n = {size}" for size in study))
    return to_markdown(Table(columns, tuple(rows))).strip()


def _sureness(studies: dict[str, Study], default: str) -> str:
    rng = np.random.default_rng(SEED)
    rows = []
    for kind in ("two_sided", "tails"):
        for size, errors in studies["choosing"].items():
            other = _runner_up(errors, kind, default)
            gaps = [_gap(study[size], kind, default, other, rng) for study in studies.values()]
            names = (kind.replace("_", "-"), str(size), other)
            rows.append(tuple(Cell(text) for text in (*names, *gaps)))
    columns = ("distance", "n", "other method", *(f"{part}: gap; sure; won" for part in studies))
    return to_markdown(Table(columns, tuple(rows), names=3))


def _runner_up(errors: Errors, kind: str, default: str) -> str:
    means = getattr(errors, kind).mean(axis=1)
    means[errors.methods.index(default)] = np.inf
    return errors.methods[int(np.argmin(means))]


def _gap(errors: Errors, kind: str, default: str, other: str, rng: np.random.Generator) -> str:
    """Return the gap with its standard error over collections, how sure it is, collections won."""
    distance = getattr(errors, kind)
    gaps = 1e3 * (distance[errors.methods.index(other)] - distance[errors.methods.index(default)])
    names, group = np.unique(errors.collections, return_inverse=True)
    totals, counts = np.bincount(group, weights=gaps), np.bincount(group)
    drawn = rng.integers(0, len(names), (RESAMPLED_COLLECTIONS, len(names)))
    means = totals[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    won = int((totals > 0).sum())
    sure = float((means > 0).mean())
    return f"{gaps.mean():+.1f} ± {means.std():.1f}; {sure:.2f}; {won} of {len(names)}"


def _limitations() -> str:
    tail = (1.0 - SHOWN) / 2.0
    inside = 2e3 * ((tail * (REPLICATES - 1) + 1.0) / (REPLICATES + 1) - tail)
    facts = (
        (
            "A real population has the collection's topics and no others: samples of 250 repeat "
            "them. The simulated ones do not have this limitation."
        ),
        (
            "Robust 2005 has topics of Robust 2004, with other documents and runs. The other "
            "confirming collections share nothing with the choosing ones."
        ),
        (
            f"With B = {REPLICATES} a {PERCENT} interval between two quantiles of replicates errs "
            f"{inside:.1f} thousandths too often, with 9,999 a tenth of that: smaller gaps between "
            "a method that resamples and one that does not are meaningless."
        ),
        (
            "Runs that score 0 on nearly all topics weigh heavily in means and worst cases. No "
            "candidate is adequate for a run whose mean depends on one topic in fifty, which a "
            "sample may lack; [betting and gaffke](bounded-methods.md) are safe there, but wide."
        ),
    )
    return "\n".join(f"- {fact}" for fact in facts)


def _chart(studies: dict[str, Study]) -> Any:
    """Return distances by size of sample, two-sided and in the tails, one line per method."""
    import altair as alt

    rows = [
        alt.hconcat(
            *(
                _lines(
                    alt,
                    studies[part],
                    kind,
                    f"{words}, {part} populations",
                    _exact(next(iter(studies[part].values())))[place],
                )
                for part in ("confirming", "simulated")
            )
        )
        for place, (kind, words) in enumerate(
            (("two_sided", "Two-sided"), ("tails", "Mean of the tails"))
        )
    ]
    title = "How far is a method's error from what it claims? (dashed: an exact method, by chance)"
    return styled(alt.vconcat(*rows).to_dict(), title)


def _lines(alt: Any, study: Study, kind: str, title: str, exact: float) -> Any:
    records = [
        {"method": method, "n": size, "distance": 1e3 * float(value)}
        for size, errors in study.items()
        for method, value in zip(errors.methods, getattr(errors, kind).mean(axis=1), strict=True)
        if method in DRAWN
    ]
    order = list(DRAWN)
    lines = (
        alt.Chart(alt.InlineData(values=records))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "n:Q",
                title="topics in a sample",
                scale=alt.Scale(type="log", domain=[min(study), max(study)]),
                axis=alt.Axis(values=list(study), grid=False),
            ),
            y=alt.Y(
                "distance:Q",
                title="distance × 1000",
                scale=alt.Scale(type="log", domain=[2, 200], nice=False),
                axis=alt.Axis(values=[2, 5, 10, 20, 50, 100, 200]),
            ),
            color=alt.Color(
                "method:N", sort=order, scale=alt.Scale(domain=order, range=_colours()), title=None
            ),
            strokeWidth=alt.condition(
                f"datum.method === '{DRAWN[0]}'", alt.value(3.5), alt.value(1.5)
            ),
        )
    )
    floor = alt.Chart().mark_rule(color=INK, strokeDash=[4, 3]).encode(y=alt.datum(exact))
    return alt.layer(lines, floor).properties(width=330, height=230, title=title)


def _colours() -> list[str]:
    readable = [
        colour for colour in COLOURS if colour != "#F0E442"
    ]  # yellow is too light for lines
    return [readable[1], readable[-1], readable[0], *readable[2:-1]]


if __name__ == "__main__":
    main()
