"""Reproduction of the tables and figures of Park (2011) from the same scores.

Laurence A. F. Park, "Bootstrap confidence intervals for Mean Average Precision", ASEARC 2011.

    python reproductions/park2011.py --data data --output docs/reproductions

The paper's experiment is repeated several times, each time with 1,000 samples for every run. The
samples of one run are independent of those of another, as in the paper, which makes the mean
over 110 runs precise.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from confir.arrays import TIE, Floats
from confir.data.files import write_whole
from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.intervals.interval import Limits
from confir.intervals.method_list import METHODS
from confir.intervals.percentile import corrected_probabilities, defined_replicates
from confir.report.chart_files import save_chart
from confir.report.charts import COLOURS, styled
from confir.report.tables import Cell, Table, to_markdown
from confir.resampling.distribution import SamplingDistribution, quantile_of_sorted
from confir.studies.coverage.miss_counter import Sampling
from confir.studies.coverage.type_one_error import (
    PARK_LEVELS,
    PARK_TOPICS,
    TypeOneError,
    estimate_type_one_error,
)

SEED = 2011
PAPER_SAMPLES, REPLICATES = 1_000, 1_000
BATCHES = 8
TOLERANCE = 0.005

# Tables 1-3: Type I error for n = 5, 10, 20, one row per nominal error.
TITLES = {
    "percentile": "Table 1: percentile bootstrap",
    "bca": "Table 2: accelerated bootstrap",
    "studentised-logit": "Table 3: studentised logit bootstrap",
}
PUBLISHED = {
    "percentile": """
        0.1814 0.1075 0.0701
        0.2279 0.1576 0.1191
        0.2816 0.2045 0.1672
        0.3295 0.2514 0.2151
        0.3658 0.2981 0.2628
        0.4015 0.3435 0.3098
        0.4380 0.3901 0.3587
        0.4789 0.4357 0.4054
        0.5166 0.4811 0.4552
        0.5573 0.5269 0.5035""",
    "bca": """
        0.1704 0.0932 0.0592
        0.2186 0.1442 0.1067
        0.2613 0.1927 0.1552
        0.3085 0.2392 0.2030
        0.3515 0.2848 0.2500
        0.3903 0.3310 0.2995
        0.4278 0.3777 0.3477
        0.4664 0.4242 0.3958
        0.5050 0.4702 0.4445
        0.5450 0.5172 0.4937""",
    "studentised-logit": """
        0.0546 0.0541 0.0466
        0.1097 0.1075 0.0934
        0.1646 0.1592 0.1420
        0.2190 0.2101 0.1910
        0.2724 0.2606 0.2406
        0.3244 0.3103 0.2915
        0.3742 0.3601 0.3424
        0.4232 0.4089 0.3924
        0.4730 0.4580 0.4431
        0.5235 0.5074 0.4937""",
}
COMPARED = (
    "t",
    "percentile",
    "bca",
    "bootstrap-t",
    "studentised-logit",
    "logit-t",
    "bootstrap-t-logit",
    "symmetric-t-logit",
    "hall-logit",
)


def bca_without_ties(distribution: SamplingDistribution, level: float) -> Limits:
    """Return BCa intervals whose bias counts no ties.

    Its bias is the share of replicates strictly below the mean, as R's ``boot.ci`` has it; confir
    counts half of those equal to it.
    """
    replicates = distribution.require("replicates")
    share = (replicates < distribution.estimate - TIE).mean(axis=0)
    ordered, count = distribution.sorted_replicates, defined_replicates(distribution)
    limits = [
        np.where(np.isnan(chance), np.nan, quantile_of_sorted(ordered, chance, count))
        for chance in corrected_probabilities(share, distribution.require("acceleration"), level)
    ]
    return Limits(*limits)


BCA_OF_THE_PAPER = replace(
    METHODS["bca"], name="bca (no ties)", compute=bca_without_ties, count_side=None
)
TABLE_METHODS = ("percentile", BCA_OF_THE_PAPER, "studentised-logit", "bca")


@dataclass(frozen=True, slots=True)
class Cells:
    """A table of the paper and ours: arrays are levels × sample sizes."""

    method: str
    published: Floats
    ours: Floats
    error: Floats

    @property
    def difference(self) -> Floats:
        """Ours less the paper's."""
        return self.ours - self.published


def main() -> None:
    """Run the experiment; print the page and write it with its figures."""
    options = _parse()
    started = time.monotonic()
    scores = read_scores(options.data / "robust2004_ap.csv")
    rng = np.random.default_rng(SEED)
    size = max(2, options.samples // BATCHES)
    batches = [_experiment(scores, TABLE_METHODS, "without", size, rng) for _ in range(BATCHES)]
    independent = [_experiment(scores, TABLE_METHODS, "with", size, rng) for _ in range(2)]
    samplings: tuple[Sampling, ...] = ("without", "with")
    others = {
        sampling: _experiment(scores, COMPARED, sampling, max(2, size // 2), rng)
        for sampling in samplings
    }
    cells = [_cells(method, batches) for method in PUBLISHED]
    page = _page(cells, batches, independent, others)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, drawing in _figures(scores, batches[0], cells, others).items():
        save_chart(drawing, options.output / f"park2011-{name}.svg")
    write_whole(options.output / "park2011.md", page.encode())
    print(page)
    print(f"{time.monotonic() - started:.0f} seconds")
    if any((np.abs(part.difference) > TOLERANCE).any() for part in cells):
        raise SystemExit("a cell is not what the paper has")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the real data")
    parser.add_argument("--output", type=Path, default=Path("docs/reproductions"))
    parser.add_argument(
        "--samples",
        type=int,
        default=BATCHES * PAPER_SAMPLES,
        help=f"samples of each size, in {BATCHES} batches",
    )
    return parser.parse_args()


def _experiment(
    scores: Scores,
    methods: Any,
    sampling: Sampling,
    samples: int,
    rng: np.random.Generator,
) -> TypeOneError:
    """Return the errors of one repetition, every run with samples of its own.

    The study draws the same topics for all runs. With the scores of each run in another order,
    the same places hold other topics, and runs are independent.
    """
    shuffled = replace(scores, values=rng.permuted(scores.values, axis=0))
    return estimate_type_one_error(
        shuffled,
        methods=methods,
        sampling=sampling,
        samples=samples,
        replicates=REPLICATES,
        rng=rng,
    )


def _mean_error(parts: list[TypeOneError], method: str) -> Floats:
    """Return the error averaged over runs and repetitions: levels × sample sizes."""
    mean: Floats = np.mean([_by_run(part, method).mean(axis=2) for part in parts], axis=0)
    return mean


def _by_run(part: TypeOneError, method: str) -> Floats:
    """Return a method's errors: levels × sample sizes × runs."""
    error: Floats = part.error[part.methods.index(method)].transpose(1, 0, 2)
    return error


def _published(method: str) -> Floats:
    return np.array(PUBLISHED[method].split(), np.float64).reshape(len(PARK_LEVELS), -1)


def _cells(method: str, batches: list[TypeOneError]) -> Cells:
    name = BCA_OF_THE_PAPER.name if method == "bca" else method
    samples = sum(part.samples for part in batches)
    once = _binomial_error(batches, name)
    error = once * math.sqrt(1.0 / PAPER_SAMPLES + 1.0 / samples)
    return Cells(method, _published(method), _mean_error(batches, name), error)


def _binomial_error(batches: list[TypeOneError], name: str) -> Floats:
    """Return the standard error of a mean over independent runs, for one sample of each."""
    share = np.mean([_by_run(part, name) for part in batches], axis=0)
    error: Floats = np.sqrt((share * (1.0 - share)).sum(axis=2)) / share.shape[2]
    return error


def _measured_error_ratio(batches: list[TypeOneError]) -> float:
    """Return the spread of the batches over the binomial standard error, over all cells."""
    ratios = []
    for method in ("percentile", BCA_OF_THE_PAPER.name, "studentised-logit"):
        means = np.array([_by_run(part, method).mean(axis=2) for part in batches])
        expected = _binomial_error(batches, method) / math.sqrt(batches[0].samples)
        ratios.append((means.std(axis=0, ddof=1) / expected) ** 2)
    return math.sqrt(float(np.mean(ratios)))


def _page(
    cells: list[Cells],
    batches: list[TypeOneError],
    independent: list[TypeOneError],
    others: dict[Sampling, TypeOneError],
) -> str:
    differences = np.concatenate([part.difference.ravel() for part in cells])
    scaled = np.concatenate([(part.difference / part.error).ravel() for part in cells])
    agreeing = int((np.abs(differences) <= TOLERANCE).sum())
    samples = sum(part.samples for part in batches)
    half_ties = _mean_error(batches, "bca") - _published("bca")
    parts = [
        "# Park 2011: Type I error of bootstrap intervals for mean AP",
        (
            "Laurence A. F. Park, *Bootstrap confidence intervals for Mean Average Precision*, ASEARC "
            "2011. Written by `reproductions/park2011.py`."
        ),
        (
            f"**Verdict: {agreeing} of {len(differences)} cells of Tables 1-3 agree with the paper "
            f"within {TOLERANCE}.** The largest difference is {np.abs(differences).max():.4f}, the "
            f"mean absolute one {np.abs(differences).mean():.4f}; in standard errors the differences "
            f"have mean {scaled.mean():.2f} and standard deviation {scaled.std():.2f}."
        ),
        "## How",
        (
            f"The population is AP on 249 topics for each of 110 runs (TREC 2004 Robust). Samples of "
            f"5, 10 and 20 topics are drawn from it without replacement, {samples:,} for each run "
            f"and size (the paper: {PAPER_SAMPLES:,}), with B = {REPLICATES:,} replicates of each. "
            "The samples of a run are independent of those of the others. So a cell's Monte Carlo "
            "standard error is the binomial one of 110 runs; the spread of the cells over "
            f"{len(batches)} batches is {_measured_error_ratio(batches):.2f} times that. "
            "Differences below are ours less the paper's, and in brackets in standard errors of a "
            "difference, the paper's own error included."
        ),
        _ties_note(half_ties),
        *(_table_section(part) for part in cells),
        "## Distribution of the differences",
        _distribution_table(cells),
        (
            "Within one column of a table the cells come from the same samples, so their errors "
            "are correlated: the evidence is that of 9 columns rather than 90 cells."
        ),
        "![Differences in standard errors](park2011-differences.svg)",
        "## Independent draws",
        (
            "The paper draws without replacement from 249 topics. That flatters every method, the "
            "more the larger the sample: for n = 20 the standard deviation of the mean shrinks by "
            f"a factor of √(1-20/249) = {math.sqrt(1 - 20 / 249):.3f}, which the interval ignores. "
            "With replacement, errors are larger, as with new topics in practice:"
        ),
        _independent_table(batches, independent),
        "## Other methods",
        (
            "Mean |error - α| over the ten levels, and the error at α = 0.05. The standard error of "
            f"an error is at most {_worst_error(others):.4f} here."
        ),
        _other_table(others),
        "![Actual against nominal error](park2011-methods.svg)",
        "## Figures 1 to 3",
        _figure_text(batches[0]),
        "![Bias of the sample mean, n = 5](park2011-figure1.svg)",
        "![Skewness of the runs' AP](park2011-figure2.svg)",
        "![AP of the runs with least, median and greatest skewness](park2011-figure3.svg)",
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _ties_note(half_ties: Floats) -> str:
    largest = np.abs(half_ties).max(axis=0)
    return (
        "One detail of the paper's BCa matters: replicates equal to the sample's mean. "
        "Of 5 topics, at least 5!/5⁵ = 3.8% of the replicates draw each topic once. Table 2 "
        "results if they do not count as below the mean, as in R's `boot.ci`. confir's `bca` "
        "counts half of them, which is symmetric in both tails; its largest differences from "
        f"Table 2 are {largest[0]:.4f} (n = 5), {largest[1]:.4f} (n = 10) and "
        f"{largest[2]:.4f} (n = 20). The table below follows the paper. The remaining difference "
        "at α = 0.05 in Table 2, about +0.002 for every n, fits `boot.ci` too: its quantiles "
        "are at (B+1)p among "
        "the ordered replicates, farther out than linear ones at (B-1)p+1, which accounts for "
        f"{_quantile_shift(0.05):.4f}."
    )


def _quantile_shift(error: float) -> float:
    """Return by how much linear quantiles of B replicates raise a two-sided error."""
    tail = error / 2.0
    return 2.0 * ((tail * (REPLICATES - 1) + 1.0) / (REPLICATES + 1) - tail)


def _table_section(part: Cells) -> str:
    sizes = [
        heading for n in PARK_TOPICS for heading in (f"n = {n}: paper", "confir", "difference")
    ]
    rows = []
    for v, level in enumerate(PARK_LEVELS):
        row = [Cell(f"{1.0 - level:.2f}")]
        for k in range(len(PARK_TOPICS)):
            row += [
                Cell(f"{part.published[v, k]:.4f}"),
                Cell(f"{part.ours[v, k]:.4f}"),
                Cell(f"{part.difference[v, k]:+.4f} ({_scaled(part)[v, k]:+.1f})"),
            ]
        agree = np.abs(part.difference[v]) <= TOLERANCE
        row.append(Cell(_verdict(agree)))
        rows.append(tuple(row))
    table = Table(("α", *sizes, "verdict"), tuple(rows))
    return f"## {TITLES[part.method]}\n\n{to_markdown(table)}"


def _scaled(part: Cells) -> Floats:
    return part.difference / part.error


def _verdict(agree: Any) -> str:
    if agree.all():
        return "agrees"
    sizes = [str(n) for n, fine in zip(PARK_TOPICS, agree, strict=True) if not fine]
    return f"n = {', '.join(sizes)} differs"


def _distribution_table(cells: list[Cells]) -> str:
    rows = []
    for part in cells:
        for k, n in enumerate(PARK_TOPICS):
            difference, scaled = part.difference[:, k], _scaled(part)[:, k]
            rows.append(
                (
                    Cell(part.method),
                    Cell(f"n = {n}"),
                    Cell(f"{difference.min():+.4f}"),
                    Cell(f"{np.median(difference):+.4f}"),
                    Cell(f"{difference.max():+.4f}"),
                    Cell(f"{scaled.mean():+.2f}"),
                    Cell(f"{np.abs(scaled).max():.2f}"),
                )
            )
    columns = ("method", "size", "least", "median", "greatest", "mean in se", "greatest in se")
    return to_markdown(Table(columns, tuple(rows), names=2))


def _independent_table(batches: list[TypeOneError], independent: list[TypeOneError]) -> str:
    rows = []
    for method in PUBLISHED:
        name = BCA_OF_THE_PAPER.name if method == "bca" else method
        without, with_ = _mean_error(batches, name), _mean_error(independent, name)
        for v in (0, 1, 3, 9):
            row = [Cell(method), Cell(f"{1.0 - PARK_LEVELS[v]:.2f}")]
            for k in range(len(PARK_TOPICS)):
                row += [Cell(f"{without[v, k]:.4f}"), Cell(f"{with_[v, k]:.4f}")]
            rows.append(tuple(row))
    sizes = [heading for n in PARK_TOPICS for heading in (f"n = {n}: without", "with replacement")]
    return to_markdown(Table(("method", "α", *sizes), tuple(rows), names=2))


def _other_table(others: dict[Sampling, TypeOneError]) -> str:
    claimed = 1.0 - np.array(PARK_LEVELS)[:, None]
    rows = []
    for method in COMPARED:
        for sampling, part in others.items():
            error = _by_run(part, method).mean(axis=2)
            off = np.abs(error - claimed).mean(axis=0)
            rows.append(
                (
                    Cell(method),
                    Cell(sampling),
                    *(Cell(f"{value:.4f}") for value in off),
                    *(Cell(f"{value:.4f}") for value in error[0]),
                )
            )
    sizes = [f"n = {n}: mean off" for n in PARK_TOPICS] + [f"n = {n}: at 0.05" for n in PARK_TOPICS]
    return to_markdown(Table(("method", "replacement", *sizes), tuple(rows), names=2))


def _worst_error(others: dict[Sampling, TypeOneError]) -> float:
    part = next(iter(others.values()))
    return 0.5 / math.sqrt(part.samples * len(part.columns))


def _figure_text(part: TypeOneError) -> str:
    bias, skewness = part.bias[0], part.skewness
    return (
        f"Bias of the mean of 5 topics, from {part.samples:,} samples of each run: between "
        f"{bias.min():+.4f} and {bias.max():+.4f}, all of it Monte Carlo error, since the mean is "
        f"unbiased. Skewness of the runs' AP: from {skewness.min():.2f} to {skewness.max():.2f}, "
        f"median {np.median(skewness):.2f}: all runs are positively skewed, as the paper says."
    )


def _figures(
    scores: Scores,
    part: TypeOneError,
    cells: list[Cells],
    others: dict[Sampling, TypeOneError],
) -> dict[str, Any]:
    order = np.argsort(part.skewness)
    places = {"least": order[0], "median": order[len(order) // 2], "greatest": order[-1]}
    distributions = {
        f"{name} skewness, {part.skewness[place]:.2f}": scores.values[:, place, 0]
        for name, place in places.items()
    }
    scaled = np.concatenate([_scaled(table).ravel() for table in cells])
    return {
        "figure1": styled(
            _histogram({"": part.bias[0]}, 0.002, "bias of the mean of 5 topics", "runs").to_dict(),
            "Figure 1: bias of the sample mean",
        ),
        "figure2": styled(
            _histogram({"": part.skewness}, 0.25, "skewness of AP", "runs").to_dict(),
            "Figure 2: skewness of the runs' AP",
        ),
        "figure3": styled(
            _histogram(distributions, 0.1, "AP", "topics").to_dict(),
            "Figure 3: AP of the runs with least, median and greatest skewness",
        ),
        "differences": styled(
            _histogram(
                {"": scaled}, 0.5, "difference from the paper in standard errors", "cells"
            ).to_dict(),
            "Ours less the paper's, 90 cells",
        ),
        "methods": styled(
            _method_chart(others["with"]).to_dict(), "Error made less error claimed, i.i.d."
        ),
    }


def _histogram(values: dict[str, Floats], width: float, title: str, counted: str) -> Any:
    """Return a histogram of each group of values, side by side."""
    import altair as alt

    records = []
    for group, numbers in values.items():
        place, count = np.unique(np.floor(numbers / width), return_counts=True)
        records += [
            {"group": group, "from": k * width, "to": (k + 1.0) * width, "count": c}
            for k, c in zip(place.tolist(), count.tolist(), strict=True)
        ]
    bars = (
        alt.Chart(alt.InlineData(values=records))
        .mark_bar(color=COLOURS[0], stroke="white", strokeWidth=1, orient="vertical")
        .encode(
            x=alt.X("from:Q", title=title, scale=alt.Scale(zero=False)),
            x2="to:Q",
            y=alt.Y("count:Q", title=counted),
            y2=alt.datum(0),
        )
        .properties(width=240 if len(values) > 1 else 420, height=200)
    )
    if len(values) == 1:
        return bars
    return bars.facet(facet=alt.Facet("group:N", title=None, sort=list(values)), columns=3)


def _method_chart(part: TypeOneError) -> Any:
    """Return error made less error claimed, against the error claimed, a panel a sample size."""
    import altair as alt

    records = [
        {
            "method": record["method"],
            "topics": f"n = {record['topics']}",
            "claimed": round(1.0 - record["level"], 2),
            "excess": record["error"] - (1.0 - record["level"]),
        }
        for record in part.to_records()
    ]
    lines = (
        alt.Chart(alt.InlineData(values=records))
        .mark_line(point={"size": 18})
        .encode(
            x=alt.X("claimed:Q", title="error claimed"),
            y=alt.Y("excess:Q", title="error made less error claimed"),
            color=alt.Color(
                "method:N",
                sort=list(COMPARED),
                scale=alt.Scale(range=[*COLOURS[:6], "#999999", *COLOURS[6:]]),
                title=None,
            ),
        )
        .properties(width=220, height=240)
    )
    sizes = [f"n = {n}" for n in PARK_TOPICS]
    return lines.facet(facet=alt.Facet("topics:N", title=None, sort=sizes), columns=3)


if __name__ == "__main__":
    main()
