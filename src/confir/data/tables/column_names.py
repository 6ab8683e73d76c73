"""Names that columns of scores have in the files of many tools: the one list, by what a column holds.

Names are compared without case, blanks and signs: ``question_id``, ``Question ID`` and ``questionId`` are
one. A column that bears a name also has to look like it: ids are text or whole numbers, scores numbers.
`docs/files.md` prints the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# The ids of topics, the preferred name first; then the text of a topic, which is its id where there is no other.
TOPIC_NAMES = ("topic", "topic_id", "query_id", "qid", "q_id", "query")
_TOPIC_IDS = (
    *TOPIC_NAMES[:-1],
    *("question_id", "item_id", "sample_id", "example_id", "instance_id", "prompt_id", "task_id"),
    *("test_case_id", "test_id", "case_id", "problem_id", "scenario_id", "conversation_id"),
    *("item", "sample", "example", "test_case", "case", "problem", "scenario"),
    *("id", "idx", "uid", "uuid", "guid"),
)
_TOPIC_TEXTS = (
    *("query", "question", "prompt", "user_input", "user_query", "user_prompt", "input"),
    *("query_text", "question_text", "prompt_text", "input_text", "instruction"),
)

# What a column may be called, the preferred name first. Those of the first line of each are never runs.
ROLE_NAMES: Mapping[str, tuple[str, ...]] = {
    "topic": (*_TOPIC_IDS, *_TOPIC_TEXTS),
    "run": (
        *("run", "run_id", "runid", "system", "tag"),
        *("model", "model_id", "model_name", "system_id", "system_name", "run_name"),
        *(
            "target_model",
            "target_model_id",
            "model_display",
            "model_display_name",
            "llm",
            "llm_name",
        ),
        *("generator", "generator_model", "answer_model", "producer", "provider", "engine"),
        *("variant", "arm", "pipeline", "retriever", "method", "approach", "strategy", "agent"),
        *("assistant", "candidate", "submission", "configuration", "config", "setting"),
        *("experiment", "experiment_name", "condition", "system_condition"),
        *("app_version", "app_name", "app_id", "app", "name"),
    ),
    "measure": (
        *("measure", "metric"),
        *("metric_name", "measure_name", "scorer", "scorer_name", "evaluator", "evaluator_name"),
        *("criterion", "criteria", "dimension", "aspect"),
    ),
    "judge": (
        *("judge", "judge_id", "judge_model", "judge_name", "annotator", "annotator_id", "rater"),
        *(
            "rater_id",
            "grader",
            "grader_model",
            "assessor",
            "reviewer",
            "evaluator_model",
            "eval_model",
        ),
    ),
    "repeat": (
        *("repeat", "epoch", "seed", "trial", "run_number", "run_index", "attempt", "replicate"),
        *("repetition", "iteration", "rep", "sample_index", "trial_id", "repeat_id"),
    ),
    "score": ("score", "value"),
    # what one system wrote or was given: such rows are of one system
    "response": (
        *(
            "answer",
            "response",
            "output",
            "actual_output",
            "prediction",
            "completion",
            "generation",
        ),
        *("generated_answer", "model_answer", "model_output", "model_response", "raw_response"),
        *("retrieved_contexts", "contexts", "context", "retrieval_context", "predicted_answer"),
    ),
    "document": ("docid", "docno", "doc_id", "document"),
    "grouping": ("dataset", "cluster", "weight"),
}

# Names that earlier readers knew: a score table is recognised by them, and they are never runs.
CORE_NAMES: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "run_id", "runid", "system", "tag", "name"),
    "measure": ("measure", "metric"),
    "topic": TOPIC_NAMES,
    "score": ("score", "value"),
}

# what R, pandas and Arrow call a column of row names
ROW_NAMES = re.compile(r"|__index_level_\d+__|index|unnamed: \d+(\.\d+)?")

# Numbers that are no scores: places, sizes, times, costs and settings.
_NO_SCORE = re.compile(
    r"(global_)?steps?|n|k|size|count|support|index|position|turns?|round|fold|year|version|usd|params"
    r"|(n|num|number_of|no_of|count_of)_.+|(.+_)?(rank|count|length|len|size|bytes|chars|characters)"
    r"|(.+_)?(tokens?|parameters|latency|duration|elapsed|runtime|t_?stamp|timestamp|date|usd|cost|costs|price)"
    r"|(.+_)?(latency|duration|elapsed|runtime|cost|price)_(ms|s|sec|secs|seconds|usd|eur|dollars)"
    r"|(.+_)?(time|ms|secs|seconds)(_(ms|s|sec|secs|seconds))?|ts|(created|updated|started|ended)(_at)?"
    r"|temperature|top_?[pk]|batch_size|learning_rate|lr"
)

# Numbers that are no scores of one run: those that summarise several scores,
_SUMMARY = re.compile(
    r"(.+_)?(stderr|std_?err|standard_error|stdev|std|stddev|variance|ci_low|ci_high|ci_lower|ci_upper)"
    r"|sem?|sd|ci|mean|average|avg|median|min|max|elo|.*elo_rating.*|(.+_)?win_?rate|.+__(min|max)"
    # or that compare two runs, are one judge's, or describe an item
    r"|diff|delta|difference|improvement|p_?value|(annotator|judge|rater|grader|assessor)_?\d+"
    r"|label|target|gold|gold_label|probability|logit|(dim|emb|embedding|feature|feat|component)_?\d+"
)


def plain_name(name: str) -> str:
    """Return the name of a column as the list has it: without case, blanks and signs."""
    return re.sub(r"[\W_]+", "", name.casefold()) or name


_PLACES = {
    role: {plain_name(name): place for place, name in enumerate(names)}
    for role, names in ROLE_NAMES.items()
}


_TEXTS = {plain_name(name) for name in _TOPIC_TEXTS}


def preference(role: str, name: str) -> int | None:
    """Return how far down its list a name stands; None where the role has no such name."""
    return _PLACES[role].get(plain_name(name))


def is_topic_text(name: str) -> bool:
    """Whether the column holds the text of topics, which is their id where there is no other."""
    return plain_name(name) in _TEXTS


def is_never_numbered(name: str) -> bool:
    """Whether a column of that name holds topics as text alone: numbers there are something else."""
    return is_topic_text(name) and plain_name(name) not in ("query", "question", "prompt")


def is_core(role: str, name: str) -> bool:
    """Whether a name is one by which tables of scores are recognised."""
    return name.strip().casefold() in CORE_NAMES[role]


def is_row_name(name: str) -> bool:
    """Whether a column of that name only names the rows."""
    return ROW_NAMES.fullmatch(name.strip().casefold()) is not None


def _words(name: str) -> str:
    """Return a name in lower case, its words joined by underscores; a double underscore stays."""
    return (
        re.sub(r"[^\w]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()))
        .strip("_")
        .casefold()
    )


def is_no_score(name: str) -> bool:
    """Whether numbers under a name are places, sizes, times, costs or settings."""
    return _NO_SCORE.fullmatch(_words(name)) is not None


def is_no_run(name: str) -> bool:
    """Whether numbers under a name are not those of one run, such as a standard error or a difference."""
    return _SUMMARY.fullmatch(_words(name)) is not None


def is_reserved(name: str) -> bool:
    """Whether a column of that name is never a run."""
    known = any(preference(role, name) is not None for role in ROLE_NAMES)
    return known or is_row_name(name) or is_no_score(name) or is_no_run(name)
