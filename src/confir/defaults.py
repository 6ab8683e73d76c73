"""Defaults that the library and the command line share, each stated once."""

from __future__ import annotations

# Confidence level of intervals.
LEVEL = 0.95
# Replicates of the bootstrap over topics; with 9,999 the quantiles of usual levels are replicates.
REPLICATES = 9_999
# Replicates of the bootstrap over documents, as [Cormack2006] §6.
DOCUMENT_REPLICATES = 2_000
# Samples of topics, and replicates of each, in studies of coverage.
SAMPLES, SAMPLE_REPLICATES = 1_000, 1_000
# Random rankings drawn per topic.
DRAWS = 9_999
# Scores are clipped this far from 0 and 1 before the logit.
LOGIT_EPSILON = 1e-6
# Seed of the command line and of reports, which print it; other verbs draw a new one.
SEED = 2006

# How results are printed, and the endings of the files that they are written to.
OUTPUT_FORMATS = ("table", "csv", "tsv", "json", "jsonl", "md", "tex", "html")
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".md", ".tex", ".html", ".parquet")
CHART_ENDINGS = (".svg", ".pdf", ".png")
