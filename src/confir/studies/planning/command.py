"""``confir plan``: how many topics are needed?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from confir.cli import options
from confir.cli.judged_input import JudgedInputs
from confir.cli.parameters import Option, Without, refuse_options
from confir.defaults import DEFAULT_POWER, FAMILIES, LEVEL, OBSERVED, SEED
from confir.errors import InvalidValueError

_GOAL = "Goal"

# Measures of which a sentence says what the topics at hand can detect.
_MOST_SENTENCES = 3


def plan_command(
    *,
    inputs: Annotated[JudgedInputs, Without("bounded")],
    baseline: Annotated[
        str | None,
        Option(
            metavar="RUN",
            help="Plan for differences from this run: its name or its file.",
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        Option(
            help="An interval no wider than ± this, of the mean or, with a baseline, the difference.",
            panel=_GOAL,
        ),
    ] = None,
    difference: Annotated[
        str | None,
        Option(
            metavar="NUMBER|observed",
            help="True difference to detect; observed: that of the pilot, with the range of its interval.",
            panel=_GOAL,
        ),
    ] = None,
    topics: Annotated[
        int | None,
        Option(
            help="What this many topics give: the smallest difference that they detect, the power at "
            "--difference or, without a baseline, the half width.",
            callback=options.at_least(2),
            panel=_GOAL,
        ),
    ] = None,
    judgements: Annotated[
        int | None,
        Option(
            help="As --topics, for a budget of judgements.",
            callback=options.at_least(1),
            panel=_GOAL,
        ),
    ] = None,
    judgements_per_topic: Annotated[
        int | None,
        Option(
            help="Number of judgements per topic; the plan then also counts judgements.",
            callback=options.at_least(1),
            panel=_GOAL,
        ),
    ] = None,
    power: Annotated[
        float,
        Option(help="Power of the paired t test.", panel=_GOAL),
    ] = DEFAULT_POWER,
    assurance: Annotated[
        float | None,
        Option(
            help="Probability, such as 0.8, that the goal is reached although the pilot's sd is an "
            "estimate; by default the plan takes the sd at face value, and reaches its goal in about "
            "half of all cases.",
            panel=_GOAL,
        ),
    ] = None,
    family: Annotated[
        str | None,
        options.choice(
            *FAMILIES,
            help="Family of differences for which the error rate is controlled: all pairs, those from the "
            "baseline (the default for several runs with one), or the confidence set of the best run "
            "(with --half-width: no run in it lies further below the best).",
            panel=_GOAL,
        ),
    ] = None,
    human_topics: Annotated[
        bool,
        Option(
            "--human-topics",
            help="With --human: how many topics people must judge for --half-width, in addition to the "
            "model's; with random-documents also how many documents per topic.",
            panel=options.HUMAN_PANEL,
        ),
    ] = False,
    model_topics: Annotated[
        int | None,
        Option(
            help="With --human-topics: topics that the model judges; by default those of QRELS.",
            callback=options.at_least(5),
            panel=options.HUMAN_PANEL,
        ),
    ] = None,
    human_cost: Annotated[
        float | None,
        Option(
            help="With --human-topics: cost of a judgement by people (of a topic, without "
            "--judgements-per-topic, unless documents were drawn); with --model-cost, the cheapest mix "
            "is planned.",
            panel=options.HUMAN_PANEL,
        ),
    ] = None,
    model_cost: Annotated[
        float | None,
        Option(
            help="With --human-topics: cost of a judgement by the model.",
            panel=options.HUMAN_PANEL,
        ),
    ] = None,
    by: options.ByOption = None,
    votes: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="How many more votes, from votes as of confir preferences: for --half-width, or to "
            "separate neighbours; and which pairs to ask about. See also confir preferences --show plan.",
            panel=_GOAL,
        ),
    ] = None,
    level: options.LevelOption = LEVEL,
    out: options.Output,
) -> None:
    """Estimate how many topics an experiment needs, from the scores of a pilot.

    Without a goal: topics for the usual half widths and differences, and what those of the pilot detect.

    For example:

    - `confir plan qrels.txt runs/ -m AP`
    - `confir plan qrels.txt a.run b.run --baseline a --difference 0.02 --assurance 0.8`
    - `confir plan --scores pilot.csv -m AP --half-width 0.05`
    """
    from confir.cli.terminal import Answer
    from confir.intervals.interval import check_level
    from confir.report.answer_parts import AnswerPart
    from confir.report.tables import with_design_note
    from confir.studies.planning.planning import plan_topics
    from confir.studies.planning.table import (
        document_plan_table,
        human_plan_table,
        overview_table,
        plan_table,
    )
    from confir.studies.planning.usual_goals import PlanOverview

    out.prepare()
    check_level(level)
    if votes is not None:
        _plan_votes(inputs, votes, half_width, baseline, power, level, out)
        return
    judged = inputs.check_human()
    _check_labels(inputs, half_width, human_topics=human_topics, judged=judged)
    if half_width is not None:
        reason = "is for differences to detect, not for a half width"
        refuse_options(inputs.context, ["power"], reason)
    size = _parse_difference(difference)

    def plan_of(scores: Any) -> Answer:
        plan = plan_topics(
            scores,
            baseline=inputs.find_baseline(baseline, scores.runs),
            half_width=half_width,
            difference=size,
            topics=topics,
            judgements=judgements,
            judgements_per_topic=judgements_per_topic,
            power=power,
            level=level,
            family=family,
            assurance=assurance,
        )
        if isinstance(plan, PlanOverview):
            table = with_design_note(overview_table(plan), scores.design_words)
            said = tuple(plan.sentences()[:_MOST_SENTENCES])
            return Answer(plan.to_records(), table, plan, [AnswerPart("Topics", said, table)])
        table = with_design_note(plan_table(plan), scores.design_words)
        return Answer(plan.to_records(), table, plan)

    if by is not None:
        from confir.studies.topic_groups.command import plan_by

        plan_by(inputs, by, baseline, plan_of, out)
        return
    scores = inputs.load_scores_or_summary(
        baseline=baseline,
        quiet=out.quiet,
        example="confir plan qrels.txt bm25.run dense.run --baseline bm25",
    )
    if human_topics:
        goal: dict[str, Any] = {
            "half_width": half_width or 0.0,
            "baseline": inputs.find_baseline(baseline, scores.runs),
            "family": family,
            "level": level,
        }
        if scores.human_documents:
            from confir.data.sampling.judged_scores import as_sampled
            from confir.studies.planning.human_documents import plan_human_documents

            refuse_options(inputs.context, ["model_topics"], "is for --human-sample random-topics")
            mix = plan_human_documents(
                scores,
                **goal,
                topics=topics,
                documents=judgements_per_topic,
                human_cost=human_cost,
                model_cost=model_cost,
            )
            sampled = as_sampled(scores.listed())
            seed = SEED if sampled.draw_replicates else None
            out.deliver(Answer(mix.to_records(), document_plan_table(mix, seed), mix))
            return
        from confir.studies.planning.human_topics import plan_human_topics

        refuse_options(inputs.context, ["topics"], "is for --human-sample random-documents")
        each = judgements_per_topic or 1
        people, model = (None if cost is None else cost * each for cost in (human_cost, model_cost))
        found = plan_human_topics(
            scores, **goal, model_topics=model_topics, human_cost=people, model_cost=model
        )
        out.deliver(Answer(found.to_records(), human_plan_table(found), found))
        return
    out.deliver(plan_of(scores))


def _plan_votes(
    inputs: JudgedInputs,
    votes: str,
    half_width: float | None,
    baseline: str | None,
    power: float,
    level: float,
    out: options.Output,
) -> None:
    """Write or print how many more votes are needed."""
    from confir.cli.terminal import result_answer
    from confir.studies.preferences.vote_plan import plan_votes

    kept = {"votes", "half_width", "baseline", "power", "level", "cluster"}
    printed = {"output", "kind", "width", "intervals", "decimals", "figure_width"}
    known = {*kept, *printed, "quiet", "provenance", "scheduler"}
    others = [name for name in inputs.context.params if name not in known]
    refuse_options(inputs.context, others, "cannot be combined with --votes")
    plan = plan_votes(
        votes,
        half_width=half_width,
        baseline=baseline,
        power=power,
        level=level,
        cluster=inputs.cluster,
    )
    out.deliver(result_answer(plan))


def _check_labels(
    inputs: JudgedInputs, half_width: float | None, *, human_topics: bool, judged: bool
) -> None:
    """Raise where options are for planning people's judgements, or not for it."""
    if not human_topics:
        own = ("model_topics", "human_cost", "model_cost")
        refuse_options(inputs.context, own, "is for --human-topics")
        return
    if not judged:
        raise InvalidValueError(
            "--human-topics needs a pilot: --human QRELS, judged by people, and --human-sample"
        )
    if half_width is None:
        raise InvalidValueError("--human-topics needs --half-width, the goal")
    names = ("difference", "judgements", "power", "assurance")
    refuse_options(inputs.context, names, "cannot be combined with --human-topics")


def _parse_difference(text: str | None) -> float | Literal["observed"] | None:
    """Return the difference that an option names: a number, or the observed one."""
    if text is None or text == OBSERVED:
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidValueError(
            f"--difference is {text!r}; expected a number above 0, or {OBSERVED}"
        ) from None
