"""BibTeX entries of the works that methods, studies and reports cite: those of `references.bib`."""

from __future__ import annotations

from pathlib import Path

_ENTRIES = Path(__file__).with_name("references.bib").read_text("utf-8").strip().split("\n\n")

# By key: names and year.
REFERENCES = {entry.partition("{")[2].partition(",")[0]: entry for entry in _ENTRIES}
