"""The options of a command that takes human judgements with a model's, or repeats of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.parameters import Option, PathRole


@dataclass(frozen=True, eq=False, repr=False)
class JudgedInputs(Inputs):
    """Inputs of scores by several judges, or of several runs of each system.

    Qrels may be a model's, with human judgements of some topics; runs may be repeats of systems.
    """

    human: Annotated[
        str | None,
        Option(
            "Human judgements of some topics, if QRELS are a model's: results are what human "
            "judgements would give, estimated from both. With --scores, a score table by human judgements.",
            "QRELS",
            panel=options.HUMAN_PANEL,
            path=PathRole.READ,
        ),
    ] = None
    human_sample: Annotated[
        str | None,
        Option(
            "How topics or documents were selected for human judging: a random sample of topics, or of "
            "documents with their inclusion probabilities in a fifth column, can correct the model; a "
            "choice by hand cannot. WORD: random-topics, random-documents, all, chosen.",
            "WORD",
            panel=options.HUMAN_PANEL,
        ),
    ] = None

    repeats: options.RepeatsOption = None
