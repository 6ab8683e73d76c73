"""Defaults shared by the library and the command line."""

from __future__ import annotations

from typing import Literal

# Confidence level of intervals.
LEVEL = 0.95

# Levels that readers of the report can choose from.
LEVELS = (0.9, LEVEL, 0.99)
# Replicates of the bootstrap over topics; with 9,999 the quantiles of the usual levels are replicates.
REPLICATES = 9_999
# Replicates of the bootstrap over the topics of a summary, which may be millions.
SUMMARY_REPLICATES = 999
# Replicates of the bootstrap over documents, as [Cormack2006] §6.
DOCUMENT_REPLICATES = 2_000
# Replicates of the draw of human-judged documents.
DRAW_REPLICATES = 200
# Splits of the documents in two halves.
SPLITS = 8
# Samples of topics, and replicates of each, in studies of coverage.
SAMPLES, SAMPLE_REPLICATES = 1_000, 1_000
# Judgements drawn for each unjudged document.
COMPLETIONS = 200
# Depth of the pool from which documents were judged, as in TREC's ad hoc tracks.
POOL_DEPTH = 100
# Persistence of rank-biased overlap, and depth of plain overlap.
PERSISTENCE, OVERLAP_DEPTH = 0.9, 10
# Random rankings drawn per topic.
DRAWS = 9_999
# Scores are clipped this far from 0 and 1 before the logit.
LOGIT_EPSILON = 1e-6
# Seed of commands, which print it, and of functions, which so give the same numbers; rng=None draws anew.
SEED = 2006

# Formats of printed results, and extensions of files.
OUTPUT_FORMATS = ("table", "csv", "tsv", "json", "jsonl", "md", "tex", "html")
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".md", ".tex", ".html", ".parquet")
CHART_ENDINGS = (".svg", ".pdf", ".png")

# Rows of a board or a list of pairs in the terminal; files have all of them.
ROWS = 20

# What a LaTeX table may be made to fit, and how it shows intervals.
TABLE_WIDTHS = ("column", "page")
INTERVAL_STYLES = ("brackets", "stacked", "plus-minus")

# Which comparisons hold together: of all pairs of runs, of all runs with a baseline, of each run
# with the best of the others; or none.
ALL_PAIRS, BASELINE, BEST, NO_FAMILY = "all-pairs", "baseline", "best", "none"
FAMILIES = (ALL_PAIRS, BASELINE, BEST, NO_FAMILY)

# Power of a test that a plan aims at, and the difference that the pilot shows, as a goal.
DEFAULT_POWER = 0.8
OBSERVED: Literal["observed"] = "observed"
