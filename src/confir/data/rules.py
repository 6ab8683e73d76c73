"""How are qrels and runs read, and their topics scored? The rules of one experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from confir.data.files import PathLike
from confir.data.qrels import Intents
from confir.data.rankings import TiePrecision
from confir.data.trec_files import NameBy

Missing = Literal["zero", "drop", "error"]


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """Rules for reading qrels and runs, with the meaning that they have in `evaluate`.

    Attributes
    ----------
    rel, depth
        Lowest gain that counts as relevant, and the length at which lists are cut.
    missing
        What a topic that a run lacks scores.
    name_by, tie_precision, intents
        How runs are named, how retrieval scores are compared, and intent probabilities.
    """

    rel: int = 1
    depth: int | None = None
    missing: Missing = "zero"
    name_by: NameBy = "file"
    tie_precision: TiePrecision = "double"
    intents: PathLike | Intents | None = None
