"""Plans for the human judgement of documents: topics, and documents of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arguments import as_choice, as_integer
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import constant, over, result
from confir.data.sampling_designs.sampled_document_scores import SampledScores, as_sampled
from confir.data.score_objects import ScoresSource
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, NO_FAMILY
from confir.errors import InvalidValueError, counted
from confir.measures.score_sources import as_scores
from confir.pairs.power import fewest_topics
from confir.resampling.kinds import as_sample
from confir.studies.planning.human_plans import JudgementPlan, PlannedFamily, check_costs
from confir.studies.planning.pilot import partners
from confir.studies.planning.sentences import human_goal

# Plans draw no fewer documents of a topic than this part of the pilot's, which says little of fewer.
_LEAST_PART = 0.5

# Numbers of documents that are tried: all up to this, beyond it in steps of a hundredth.
_EVERY = 100


@result
class DocumentPlan(JudgementPlan):
    """Topics, and documents of each, to be judged by humans for a half width: runs × measures.

    Attributes
    ----------
    runs, measures, baseline, family, half_width, cost, cost_alone
        As in `JudgementPlan`.
    topics, documents
        Topics, and documents of each that humans judge; NaN where even all are too few.
    topics_alone
        Topics that are needed if humans judge all documents.
    between, within
        Standard deviation in the pilot: between topics, and of the draw within a topic.
    model_documents
        Documents of a topic that the model judges, on average.
    level, pilot, pilot_documents
        Confidence level; topics of the pilot, and documents of each that humans judged.
    """

    topics: Floats = over("run", "measure")
    documents: Floats = over("run", "measure")
    topics_alone: Floats = over("run", "measure")
    between: Floats = over("run", "measure")
    within: Floats = over("run", "measure")
    model_documents: float = constant()
    level: float = constant()
    pilot: int = constant()
    pilot_documents: float = constant()

    counts = ("topics", "documents", "topics_alone")
    record_columns = (
        *("measure", "run", "baseline", "family", "half_width", "topics", "documents"),
        *("topics_alone", "cost", "cost_alone", "between", "within", "model_documents"),
        *("level", "pilot", "pilot_documents"),
    )

    def table_columns(self) -> TableColumns:
        """Return how the columns read; costs are there where they are known."""
        return {
            **dict.fromkeys(("measure", "run"), TableColumn(Role.NAME)),
            "topics": TableColumn(Role.COUNT),
            "documents": TableColumn(Role.COUNT, "documents per topic"),
            "topics_alone": TableColumn(Role.COUNT, "topics, all documents"),
            **self.cost_columns(),
            "between": TableColumn(Role.SCORE, "sd between topics"),
            "within": TableColumn(Role.SCORE, "sd of the draw"),
        }

    def note(self) -> str:
        """Return what is planned for, and what the columns are."""
        note = (
            f"topics, and documents of each, to be judged by humans for {human_goal(self)}, from a pilot "
            f"of {counted(self.pilot, 'topic')} with {self.pilot_documents:.1f} of "
            f"{self.model_documents:.1f} documents each, drawn at random; topics, all documents: what is "
            "needed if humans judge all"
        )
        if np.isfinite(self.cost).any():
            note += "; cost without: of those, without a model"
        if np.isnan(self.documents).any():
            note += "; –: even all documents are too few, it takes more topics"
        return note


def plan_human_documents(
    scores: ScoresSource,
    *,
    half_width: float,
    baseline: str | None = None,
    family: str | None = None,
    topics: int | None = None,
    documents: int | None = None,
    human_cost: float | None = None,
    model_cost: float | None = None,
    level: float = LEVEL,
) -> DocumentPlan:
    """Return how many topics, and documents of each, humans must judge to reach a half width.

    Humans need not judge all documents of a topic that a model judged: a random draw corrects its
    score. Few documents of many topics, or many of few, may cost the same; the plan says which is
    better.

    ``Var = (B + W_m)/T``: B between topics, W_m of the draw of m documents within one. Documents are
    drawn as in the pilot, all probabilities changed by one factor, to 1 at most.

    Parameters
    ----------
    scores
        The pilot: what `evaluate` returns with ``human_sample="random-documents"``.
    half_width, baseline, family, level
        As in `plan_topics`.
    topics
        Number of topics: documents of each are planned. By default topics are.
    documents
        Documents of a topic that humans judge; by default as many as in the pilot.
    human_cost, model_cost
        Cost of a human judgement, and of the model's, which judges all: the cheapest mix is returned.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> judged = sample.qrels.to_dict().items()
    >>> drawn = {t: {d: (g, 0.5) for d, g in list(found.items())[::2]} for t, found in judged}
    >>> sampled = {"human": drawn, "human_sample": "random-documents"}
    >>> scores = confir.evaluate(sample.qrels, sample.runs[:1], "P@10", **sampled)
    >>> confir.plan_human_documents(scores, half_width=0.05).topics_alone
    array([[168.]])
    """
    sampled = as_sampled(as_scores(scores, human=True))
    if np.isnan(sampled.values).any() or len(sampled.topics) < 2:
        raise InvalidValueError(
            "a pilot needs 2 topics or more, with a score of each run; expected missing topics to "
            "score 0 (--missing zero)"
        )
    planned = PlannedFamily.of(sampled, baseline, family, half_width, level)
    costs = check_costs(human_cost, model_cost)
    if sum(one is not None for one in (topics, documents, costs)) > 1:
        raise InvalidValueError(
            "each of topics, documents and costs determines the others; expected only one of them"
        )
    by_partner = baseline is None and planned.name != NO_FAMILY
    pilot = _Draws.of(sampled, baseline, by_partner=by_partner)
    needed, drawn = _choose(pilot, planned, topics, documents, costs)
    alone = _topics(pilot.between, planned)
    human, model = costs or (np.nan, np.nan)
    every = float(pilot.documents[-1])
    arrays = {
        "topics": needed,
        "documents": drawn,
        "topics_alone": alone,
        "cost": needed * (human * drawn + model * every),
        "cost_alone": alone * human * every,
        "between": np.sqrt(pilot.between),
        "within": np.sqrt(pilot.within[1]),
    }
    return DocumentPlan(
        runs=tuple(run for run in sampled.runs if run != baseline),
        measures=sampled.measures,
        baseline=baseline,
        family=planned.name,
        half_width=float(half_width),
        **{name: values.reshape(-1, len(sampled.measures)) for name, values in arrays.items()},
        model_documents=every,
        level=float(level),
        pilot=len(sampled.topics),
        pilot_documents=float(pilot.documents[1]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """Variances of each column of a pilot.

    Attributes
    ----------
    between
        Between topics: that of the scores less that of the draw, 0 at least.
    rates, documents
        Factors of the probabilities, and documents of a topic that they draw, both ascending.
    within
        Of the draw within a topic: rates × columns.
    """

    between: Floats
    rates: Floats
    documents: Floats
    within: Floats

    @staticmethod
    def of(scores: SampledScores, baseline: str | None, *, by_partner: bool) -> _Draws:
        own = np.arange(len(scores.runs))
        values, covariance = scores.values, scores.draw_covariance
        measures = np.arange(len(scores.measures))
        within = covariance[:, own, own]
        if baseline is not None or by_partner:
            if baseline is None:
                partner = partners(as_sample(scores)) // len(measures)
            else:
                place = scores.runs.index(as_choice("baseline", baseline, scores.runs, "run"))
                own = own[own != place]
                partner = np.full((len(own), len(measures)), place)
            values = values[:, own] - values[:, partner, measures]
            shared = covariance[:, own[:, None], partner, measures]
            within = within[:, own] + within[:, partner, measures] - 2.0 * shared
        within = np.maximum(within.reshape(len(within), -1), 0.0)
        spread = np.square(values.std(axis=0, ddof=1)).reshape(-1)
        between = np.maximum(spread - within[1], 0.0)
        every = scores.model_documents / len(values)
        documents = np.append(np.minimum(scores.draw_documents[:-1], every), every)
        return _Draws(between, scores.draw_rates, documents, within)

    def within_at(self, documents: Floats) -> Floats:
        """Return the variance of the draw of some documents of a topic: documents × columns.

        Of each document it is linear in 1/rate, until that draws it always: so are sums, between
        the rates that are known.
        """
        first = documents * (self.rates[1] / self.documents[1])  # none is drawn always below rate 1
        inner = np.interp(documents, self.documents, self.rates)
        inverse = 1.0 / np.where(documents < self.documents[1], first, inner)
        known = 1.0 / self.rates[::-1]
        found = np.stack([np.interp(inverse, known, one[::-1]) for one in self.within.T], axis=1)
        slope = (self.within[0] - self.within[1]) / (1.0 / self.rates[0] - 1.0)
        thinner = self.within[1] + (inverse[:, None] - 1.0) * slope
        return np.where(inverse[:, None] > 1.0, thinner, found)

    def candidates(self) -> Floats:
        """Return numbers of documents of a topic, from a part of the pilot's to all."""
        least, most = max(_LEAST_PART * self.documents[1], 1.0), self.documents[-1]
        few = np.arange(np.ceil(least), min(most, _EVERY) + 1.0)
        beyond = np.geomspace(max(least, _EVERY), max(most, _EVERY), 200)
        numbers = np.unique(np.append(few, np.rint(beyond)))
        return np.append(numbers[numbers < most], np.ceil(most))


def _choose(
    pilot: _Draws,
    family: PlannedFamily,
    topics: int | None,
    documents: int | None,
    costs: tuple[float, float] | None,
) -> tuple[Floats, Floats]:
    """Return the topics, and the documents of each, that reach the goal, by what is given."""
    if topics is not None:
        return _fewest_documents(pilot, as_integer("topics", topics, lowest=2), family)
    if costs is not None:
        return _cheapest(pilot, family, costs)
    most = int(np.ceil(pilot.documents[-1]))
    given = pilot.documents[1] if documents is None else as_integer("documents", documents)
    if given > most:
        raise InvalidValueError(f"documents is {given}; the model judged {most} of a topic")
    needed = _topics(pilot.between + pilot.within_at(np.array([given]))[0], family)
    return needed, np.full(len(needed), np.ceil(given))


def _topics(variance: Floats, family: PlannedFamily) -> Floats:
    """Return how many topics a half width needs, given variances of a topic's score."""
    sd, shape = np.sqrt(variance), variance.shape

    def reaches(topics: Integers) -> Booleans:
        reached: Booleans = family.half_width(sd, topics.reshape(shape)) <= family.goal
        return reached.reshape(-1)

    return fewest_topics(reaches, sd.size).reshape(shape)


def _fewest_documents(pilot: _Draws, topics: int, family: PlannedFamily) -> tuple[Floats, Floats]:
    """Return the topics, and the fewest documents of each that reach the goal."""
    numbers = pilot.candidates()
    sd = np.sqrt(pilot.between + pilot.within_at(numbers))
    reached = family.half_width(sd, np.array(topics)) <= family.goal
    fewest = np.where(reached.any(axis=0), numbers[reached.argmax(axis=0)], np.nan)
    return np.where(np.isnan(fewest), np.nan, float(topics)), fewest


def _cheapest(
    pilot: _Draws, family: PlannedFamily, costs: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the topics, and the documents of each, that reach the goal at the lowest cost."""
    numbers = pilot.candidates()
    needed = _topics(pilot.between + pilot.within_at(numbers), family)
    each = costs[0] * numbers + costs[1] * pilot.documents[-1]
    best = np.argmin(np.nan_to_num(needed * each[:, None], nan=np.inf), axis=0)
    return needed[best, np.arange(len(best))], numbers[best]
