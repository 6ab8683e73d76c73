"""``confir plan``: how many topics are needed?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without, refuse_options
from confir.defaults import DEFAULT_POWER, FAMILIES, LEVEL, OBSERVED
from confir.errors import InvalidValueError
from confir.studies.planning.human_command import HumanGoal, check_human_goal, plan_judgements

if TYPE_CHECKING:
    from confir.cli.answers import Answer

_GOAL = "Goal"

# For so many measures, a sentence says what the pilot's topics can detect.
_MOST_SENTENCES = 3


def _parse_difference(text: str) -> float | str:
    """Return the difference that an option names: a number, or the observed one."""
    if text == OBSERVED:
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidValueError(
            f"--difference is {text!r}; expected a number above 0, or {OBSERVED}"
        ) from None


@dataclass(frozen=True, slots=True)
class Goal:
    """What topics are planned for, or the budget: arguments of `plan_topics`."""

    half_width: Annotated[
        float | None,
        Option(
            "An interval no wider than ± this, of the mean or, with a baseline, the difference.",
            panel=_GOAL,
        ),
    ] = None
    difference: Annotated[
        str | None,
        Option(
            "True difference to detect; observed: that of the pilot, with the range of its interval.",
            "NUMBER|observed",
            panel=_GOAL,
            convert=_parse_difference,
        ),
    ] = None
    topics: Annotated[
        int | None,
        Option(
            "What this many topics give: the smallest difference that they detect, the power at "
            "--difference or, without a baseline, the half width.",
            panel=_GOAL,
            least=2,
        ),
    ] = None
    judgements: Annotated[
        int | None, Option("As --topics, for a budget of judgements.", panel=_GOAL, least=1)
    ] = None
    judgements_per_topic: Annotated[
        int | None,
        Option(
            "Number of judgements per topic; the plan then also counts judgements.",
            panel=_GOAL,
            least=1,
        ),
    ] = None
    power: Annotated[float, Option("Power of the paired t test.", panel=_GOAL)] = DEFAULT_POWER
    assurance: Annotated[
        float | None,
        Option(
            "Probability, such as 0.8, that the goal is reached although the pilot's sd is an "
            "estimate; by default the plan takes the sd at face value, and reaches its goal in about "
            "half of all cases.",
            panel=_GOAL,
        ),
    ] = None
    family: Annotated[
        str | None,
        Option(
            "Family of differences for which the error rate is controlled: all pairs, those from the "
            "baseline (the default for several runs with one), or the confidence set of the best run "
            "(with --half-width: no run in it lies further below the best).",
            panel=_GOAL,
            choices=FAMILIES,
        ),
    ] = None


def plan_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    baseline: Annotated[
        str | None,
        Option(
            "Plan for differences from this run: its name or its file.", "RUN", path=PathRole.RUN
        ),
    ] = None,
    goal: Goal,
    human_goal: HumanGoal,
    by: options.ByOption = None,
    votes: Annotated[
        str | None,
        Option(
            "How many more votes, from votes as of confir preferences: for --half-width, or to "
            "separate neighbours; and which pairs to ask about. See also confir preferences --show plan.",
            "FILE",
            panel=_GOAL,
            path=PathRole.READ,
        ),
    ] = None,
    level: options.LevelOption = LEVEL,
    out: Output,
) -> None:
    """Estimate how many topics an experiment needs, from the scores of a pilot.

    Without a goal: topics for the usual half widths and differences, and what those of the pilot detect.

    For example:

    - `confir plan qrels.txt runs/ -m AP`
    - `confir plan qrels.txt a.run b.run --baseline a --difference 0.02 --assurance 0.8`
    - `confir plan --scores pilot.csv -m AP --half-width 0.05`
    """
    from confir.cli.answers import Answer
    from confir.report.result_table import result_table
    from confir.report.tables import AnswerPart, with_design_note
    from confir.studies.planning.planning import plan_topics
    from confir.studies.planning.usual_goals import PlanOverview

    if votes is not None:
        _plan_votes(inputs, votes, goal, baseline, level, out)
        return
    check_human_goal(inputs, goal, human_goal)
    if goal.half_width is not None:
        reason = "is for differences to detect, not for a half width"
        refuse_options(inputs.context, ["power"], reason)

    def plan_of(scores: Any) -> Answer:
        run = inputs.find_baseline(baseline, scores.runs)
        plan = plan_topics(scores, baseline=run, level=level, **asdict(goal))
        table = with_design_note(result_table(plan), scores.design_words)
        parts = []
        if isinstance(plan, PlanOverview):
            parts = [AnswerPart("Topics", tuple(plan.sentences()[:_MOST_SENTENCES]), table)]
        return Answer(plan.to_records(), table, plan, parts)

    if by is not None:
        from confir.studies.topic_groups.command import plan_by

        plan_by(inputs, by, baseline, plan_of, out)
        return
    scores = inputs.load_scores_or_summary(
        baseline=baseline,
        quiet=out.quiet,
        example="confir plan qrels.txt bm25.run dense.run --baseline bm25",
    )
    if human_goal.human_topics:
        run = inputs.find_baseline(baseline, scores.runs)
        out.deliver(plan_judgements(inputs, scores, goal, human_goal, run, level))
    else:
        out.deliver(plan_of(scores))


def _plan_votes(
    inputs: Inputs,
    votes: str,
    goal: Goal,
    baseline: str | None,
    level: float,
    out: Output,
) -> None:
    """Write or print how many more votes are needed."""
    from confir.cli.answers import result_answer
    from confir.studies.preferences.vote_plan import plan_votes

    asked: dict[str, Any] = {
        "votes": votes,
        "half_width": goal.half_width,
        "baseline": baseline,
        "power": goal.power,
        "level": level,
        "cluster": inputs.cluster,
    }
    # the scheduler is used for every command
    used = {*asked, *(one.name for one in fields(out)), "scheduler"}
    others = [name for name in inputs.context.params if name not in used]
    refuse_options(inputs.context, others, "cannot be combined with --votes")
    out.deliver(result_answer(plan_votes(**asked)))
