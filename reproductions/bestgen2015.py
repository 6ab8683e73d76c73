"""Reproduction of [Bestgen2015], "Exact Expected Average Precision of the Random Baseline".

Tables 1 and 2, the R function's example, the running times and Figure 1. The paper's double sum is
kept here as the check of the closed form. Needs no data.

    python reproductions/bestgen2015.py --data data --output docs/reproductions
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln

from confir.measures.random_rankings import expected_random_ap
from confir.report.chart_files import save_chart
from confir.report.charts import COLOURS, inline_records, styled, tooltips
from confir.report.tables import Cell, Table, to_markdown, to_text

TABLE_1 = (1.00, 0.83, 0.75, 0.70, 0.58, 0.50, 0.45, 0.42, 0.37, 0.33)
# i, n, dhyper, i/n, final probability, contribution
TABLE_2 = (
    (1, 1, 0.4, 1.00, 0.4, 0.400),
    (1, 2, 0.6, 0.50, 0.3, 0.150),
    (1, 3, 0.6, 0.33, 0.2, 0.067),
    (1, 4, 0.4, 0.25, 0.1, 0.025),
    (2, 2, 0.1, 1.00, 0.1, 0.100),
    (2, 3, 0.3, 0.67, 0.2, 0.134),
    (2, 4, 0.6, 0.50, 0.3, 0.150),
    (2, 5, 1.0, 0.40, 0.4, 0.160),
)
SHARES = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
SIZES = range(100, 1001, 100)


def double_sum(documents: int, relevant: int) -> float:
    """Return the expected AP as the paper computes it: R(N-R+1) hypergeometric probabilities."""
    factorials = gammaln(np.arange(documents + 1) + 1.0)

    def log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
        return factorials[n] - factorials[k] - factorials[n - k]

    total = 0.0
    for i in range(1, relevant + 1):
        n = np.arange(i, documents - relevant + i + 1)
        logs = log_choose(relevant, i) + log_choose(documents - relevant, n - i)
        logs -= log_choose(documents, n)
        total += float((np.exp(logs) * (i / n) ** 2).sum())
    return total / relevant


def verdict(ours: float, printed: float, decimals: int) -> str:
    """Return whether a number is the printed one to its decimals."""
    agrees = abs(ours - printed) <= 0.5 * 10.0**-decimals + 1e-9
    return "agrees" if agrees else f"rounded before use: {ours:.4f}"


def table_1() -> Table:
    """Return every ranking of 5 documents, 2 of them relevant, with its AP."""
    rows = []
    for ranks, printed in zip(combinations(range(1, 6), 2), TABLE_1, strict=True):
        ranking = " ".join("1" if rank in ranks else "0" for rank in range(1, 6))
        ours = float(sum(Fraction(i, rank) for i, rank in enumerate(ranks, 1)) / 2)
        rows.append((ranking, f"{ours:.4f}", f"{printed:.2f}", verdict(ours, printed, 2)))
    mean = expected_random_ap(5, 2)
    rows.append(("expected AP", f"{mean:.4f}", "0.593", verdict(mean, 0.593, 3)))
    return table(("ranking", "confir", "paper", "verdict"), rows)


def table_2() -> Table:
    """Return the terms of the double sum for 5 documents, 2 of them relevant."""
    rows = []
    for i, n, density, share, final, contribution in TABLE_2:
        exact = Fraction(comb(2, i) * comb(3, n - i), comb(5, n))
        ours = [exact, Fraction(i, n), exact * Fraction(i, n), exact * Fraction(i, n) ** 2]
        printed = [(density, 1), (share, 2), (final, 1), (contribution, 3)]
        verdicts = [verdict(float(a), b, d) for a, (b, d) in zip(ours, printed, strict=True)]
        differing = [text for text in verdicts if text != "agrees"]
        rows.append(
            (
                f"i = {i}, n = {n}",
                " ".join(f"{float(value):.4f}" for value in ours),
                " ".join(f"{value:.{d}f}" for value, d in printed),
                differing[0] if differing else "agrees",
            )
        )
    return table(("term", "confir: dhyper, i/n, final, contribution", "paper", "verdict"), rows)


def seconds(function: Callable[[], float], repeats: int) -> float:
    """Return the shortest time that a call takes."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def speed_table() -> Table:
    """Return the paper's times, those of its double sum here, and those of the closed form."""
    rows = []
    for documents, relevant, printed in (
        (10, 4, "–"),
        (100, 10, "0.011 s"),
        (10_000, 4_000, "131 s"),
    ):
        closed = expected_random_ap(documents, relevant)
        summed = double_sum(documents, relevant)
        slow = seconds(partial(double_sum, documents, relevant), 1)
        fast = seconds(partial(expected_random_ap, documents, relevant), 200)
        rows.append(
            (
                f"N = {documents}, R = {relevant}",
                f"{closed:.10f}",
                f"{summed:.10f}",
                printed,
                f"{slow:.3g} s",
                f"{1e6 * fast:.0f} µs",
            )
        )
    columns = (
        "collection",
        "closed form",
        "double sum",
        "paper's time",
        "double sum's",
        "confir's",
    )
    return table(columns, rows)


def excess_over_prevalence(documents: int, relevant: int) -> float:
    """Return the expected AP of a random ranking minus the usual approximation R/N."""
    return expected_random_ap(documents, relevant) - relevant / documents


def claims() -> Table:
    """Return what the paper says in words, and what is true."""
    first = next(n for n in range(2, 1000) if excess_over_prevalence(n, 1) < 0.01)
    example = expected_random_ap(10, 4)
    terms = sum(len(range(i, 100 - 10 + i + 1)) for i in range(1, 10 + 1))
    rows = [
        ("RandomAPExact(10, 4)", f"{example:.7f}", "0.5285979", verdict(example, 0.5285979, 7)),
        (
            "difference under 0.01 from N =",
            str(first),
            "600 (tested values)",
            "agrees" if first <= 600 else "differs",
        ),
        ("terms for N = 100, R = 10", str(terms), "910", "agrees" if terms == 910 else "differs"),
        ("terms in general", "R(N-R+1)", "R(R+N-1)", "erratum"),
        ("binomial coefficient", "R!/(i!(R-i)!)", "i!/(R!(R-i)!)", "erratum"),
        ("Table 2's heading", "dhyper(i, R, N-R, n)", "dhyper(i, N, N-R, n)", "erratum"),
        ("Eq. 1 sums i to", "R", "N", "erratum"),
    ]
    return table(("statement", "confir", "paper", "verdict"), rows)


def figure_records() -> list[dict[str, object]]:
    """Return the points of Figure 1: expected AP less R/N."""
    return [
        {
            "documents": documents,
            "prevalence": f"{share:g}",
            "difference": excess_over_prevalence(documents, round(share * documents)),
        }
        for share in SHARES
        for documents in SIZES
    ]


def gap_chart(records: Sequence[dict[str, object]]) -> Any:
    """Return Figure 1: how far R/N lies below the expected AP.

    Parameters
    ----------
    records
        With the fields documents, prevalence (as text) and difference.
    """
    import altair as alt

    shares = list(dict.fromkeys(str(record["prevalence"]) for record in records))
    lines = (
        alt.Chart(inline_records(records))
        .mark_line()
        .encode(
            x=alt.X("documents:Q", title="documents N"),
            y=alt.Y("difference:Q", title="expected AP − R/N"),
            color=alt.Color(
                "prevalence:N",
                sort=shares,
                title="p = R/N",
                scale=alt.Scale(range=[*COLOURS[:6], COLOURS[7]]),
            ),
            strokeDash=alt.StrokeDash("prevalence:N", sort=shares, legend=None),
            tooltip=tooltips("documents:Q", "prevalence:N", "difference:Q"),
        )
    )
    bound = (
        alt.Chart(inline_records([{"difference": 0.01}]))
        .mark_rule(color="#888", strokeDash=[2, 2])
        .encode(y=alt.Y("difference:Q"))
    )
    return styled(
        alt.layer(lines, bound).properties(width=480, height=300).to_dict(),
        "Expected AP of a random ranking minus R/N",
    )


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a table of plain cells."""
    return Table(columns, tuple(tuple(Cell(text) for text in row) for row in rows))


def main() -> None:
    """Print the tables, and write them with the figure where a folder is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=None, help="not needed by this paper")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    parts = {
        "Table 1: all rankings for N = 5, R = 2": table_1(),
        "Table 2: the double sum for N = 5, R = 2": table_2(),
        "Statements": claims(),
        "Times": speed_table(),
    }
    for title, part in parts.items():
        print(f"{title}\n\n{to_text(part)}")
    if options.output is None:
        return
    options.output.mkdir(parents=True, exist_ok=True)
    save_chart(gap_chart(figure_records()), options.output / "bestgen2015-figure1.svg")
    sections = [f"## {title}\n\n{to_markdown(part)}" for title, part in parts.items()]
    (options.output / "bestgen2015.md").write_text(
        "# Bestgen 2015: the random baseline\n\n"
        "Yves Bestgen, *Exact Expected Average Precision of the Random Baseline for System "
        "Evaluation*, The Prague Bulletin of Mathematical Linguistics 103, 2015.\n\n"
        "Made by `python reproductions/bestgen2015.py --output docs/reproductions`; the times are "
        "those of the machine that ran it. Every number of the paper is reproduced. Its tables "
        "add rounded numbers: 5.93 and 1.186 are exactly 5.925 and 1.185, and the expected AP of "
        "0.593 is exactly 0.5925.\n\n" + "\n".join(sections) + "\n## Figure 1\n\n"
        "![Expected AP of a random ranking less R/N, against N](bestgen2015-figure1.svg)\n\n"
        "The difference decreases with N and with p, and is below 0.01 (dotted) for every p from "
        "N = 597 on. The paper does not list its values of p; these are ours.\n"
    )


if __name__ == "__main__":
    main()
