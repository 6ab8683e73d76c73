"""``confir plan --human-topics``: how many human judgements in addition to a model's?"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.parameters import Option, refuse_options
from confir.defaults import SEED
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.studies.planning.command import Goal

# Goals that a plan of human judgements takes, too.
_OF_HUMAN_TOPICS = ("half_width", "topics", "judgements_per_topic", "family")


@dataclass(frozen=True, slots=True)
class HumanGoal:
    """Whether human judgements are planned, with how many by the model, and what they cost."""

    human_topics: Annotated[
        bool,
        Option(
            "With --human: how many topics humans must judge for --half-width, in addition to the "
            "model's; with random-documents also how many documents per topic.",
            panel=options.HUMAN_PANEL,
        ),
    ] = False
    model_topics: Annotated[
        int | None,
        Option(
            "With --human-topics: topics that the model judges; by default those of QRELS.",
            panel=options.HUMAN_PANEL,
            least=5,
        ),
    ] = None
    human_cost: Annotated[
        float | None,
        Option(
            "With --human-topics: cost of a human judgement (of a topic, without "
            "--judgements-per-topic, unless documents were drawn); with --model-cost, the cheapest mix "
            "is planned.",
            panel=options.HUMAN_PANEL,
        ),
    ] = None
    model_cost: Annotated[
        float | None,
        Option("With --human-topics: cost of a judgement by the model.", panel=options.HUMAN_PANEL),
    ] = None


def check_human_goal(inputs: Inputs, goal: Goal, human_goal: HumanGoal) -> None:
    """Raise where options are for planning human judgements, or not for it."""
    judged = inputs.check_human()
    if not human_goal.human_topics:
        own = [one.name for one in fields(human_goal) if one.name != "human_topics"]
        refuse_options(inputs.context, own, "is for --human-topics")
        return
    if not judged:
        raise InvalidValueError(
            "--human-topics needs a pilot: --human QRELS, human judgements, and --human-sample"
        )
    if goal.half_width is None:
        raise InvalidValueError("--human-topics needs --half-width, the goal")
    others = [one.name for one in fields(goal) if one.name not in _OF_HUMAN_TOPICS]
    refuse_options(inputs.context, others, "cannot be combined with --human-topics")


def plan_judgements(
    inputs: Inputs,
    scores: Any,
    goal: Goal,
    human_goal: HumanGoal,
    baseline: str | None,
    level: float,
) -> Answer:
    """Return how many topics, or documents of each, humans must judge."""
    from confir.cli.answers import Answer, result_answer
    from confir.data.sampling_designs.sampled_document_scores import as_sampled
    from confir.report.result_table import result_table
    from confir.studies.planning.human_documents import plan_human_documents
    from confir.studies.planning.human_topics import plan_human_topics

    asked: dict[str, Any] = {
        "half_width": goal.half_width,
        "baseline": baseline,
        "family": goal.family,
        "level": level,
    }
    if not scores.human_documents:
        refuse_options(inputs.context, ["topics"], "is for --human-sample random-documents")
        each = goal.judgements_per_topic or 1
        human, model = (
            None if cost is None else cost * each
            for cost in (human_goal.human_cost, human_goal.model_cost)
        )
        topics = human_goal.model_topics
        return result_answer(
            plan_human_topics(
                scores, **asked, model_topics=topics, human_cost=human, model_cost=model
            )
        )
    refuse_options(inputs.context, ["model_topics"], "is for --human-sample random-topics")
    mix = plan_human_documents(
        scores,
        **asked,
        topics=goal.topics,
        documents=goal.judgements_per_topic,
        human_cost=human_goal.human_cost,
        model_cost=human_goal.model_cost,
    )
    note = mix.note()
    if as_sampled(scores.listed()).draw_replicates:
        note += f"; sd of the draw by replicates of it, seed {SEED}"
    return Answer(mix.to_records(), result_table(mix, note), mix)
