"""The input of a command that takes human judgements with a model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.parameters import Option, PathRole, refuse_options
from confir.cli.repeat_option import RepeatsOption, pattern_of
from confir.defaults import SEED
from confir.errors import InvalidValueError, enumerate_names

if TYPE_CHECKING:
    from confir.data.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class JudgedInputs(Inputs):
    """Inputs of scores by several judges, or of several runs of each system.

    Qrels may be a model's, with human judgements of some topics; runs may be repeats of systems.
    """

    human: Annotated[
        str | None,
        Option(
            metavar="QRELS",
            help="Human judgements of some topics, if QRELS are a model's: results are what human "
            "judgements would give, estimated from both. With --scores, a score table by human judgements.",
            panel=options.HUMAN_PANEL,
            path=PathRole.READ,
        ),
    ] = None
    human_sample: Annotated[
        str | None,
        Option(
            metavar="WORD",
            help="How topics or documents were selected for human judging: a random sample of topics, or of "
            "documents with their inclusion probabilities in a fifth column, can correct the model; a "
            "choice by hand cannot. WORD: random-topics, random-documents, all, chosen.",
            panel=options.HUMAN_PANEL,
        ),
    ] = None

    repeats: RepeatsOption = None

    def check_human(self) -> bool:
        """Return whether human judgements are given; raise where it is not said how."""
        if self.human is None and self.human_sample is None:
            return False
        from confir.data.sampling.judged_scores import HUMAN_SAMPLES, RANDOM_DOCUMENTS, check_sample

        if self.human is None:
            raise InvalidValueError(
                "--human-sample is for human judgements: expected --human QRELS"
            )
        if self.human_sample is None:
            raise InvalidValueError(
                "--human needs --human-sample: how the human-judged topics were sampled; expected "
                f"{enumerate_names(HUMAN_SAMPLES)}"
            )
        if check_sample(self.human_sample) == RANDOM_DOCUMENTS:
            reason = f"cannot be combined with --human-sample {RANDOM_DOCUMENTS}"
            refuse_options(self.context, ["scores"], reason)
        return True

    def files(self) -> list[str]:
        """Return what is read, as it was named."""
        return [*super().files(), *([] if self.human is None else [self.human])]

    @property
    def _holds_every_score(self) -> bool:
        return self.human is not None or self.repeats is not None

    def group_repeats(self, scores: Scores) -> Scores:
        """Return the scores of systems where runs are their repeats, else the scores."""
        if self.repeats is None:
            return scores
        systems: Scores = scores.with_repeats(pattern_of(self.repeats))
        return systems

    def load_scores(
        self,
        measures: Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        quiet: bool,
        example: str,
    ) -> Scores:
        """Return the scores to work with; of tables, those by human judgements with the model's."""
        run = baseline if self.repeats is None else None  # it names a system
        scores = super().load_scores(measures, baseline=run, quiet=quiet, example=example)
        if not self.scores or not self.check_human():
            return self.group_repeats(scores)
        from confir.data.tables.score_files import read_scores

        human = read_scores(str(self.human), columns=self.columns)
        return self.group_repeats(scores.with_human(human, str(self.human_sample)))

    def _given(
        self, measures: Sequence[str] | None, baseline: str | None, example: str, instead: str
    ) -> dict[str, Any]:
        given = super()._given(measures, baseline, example, instead)
        self.check_human()
        judged = {"human": self.human, "human_sample": self.human_sample}
        return {**given, **judged, "rng": self.context.params.get("seed", SEED)}
