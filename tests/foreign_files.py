"""Files of other tools, one of each shape.

Files of tools that are not installed here are written from their definitions: MTEB
(``AbsTask._save_task_predictions``, ``TaskResult.to_disk``), BEIR (``GenericDataLoader``),
sentence-transformers (``InformationRetrievalEvaluator``, ``write_predictions``), OpenSearch
(search-relevance: ``EvaluationResult.toXContent``, ``Judgment.toXContent``), Elasticsearch (``toXContent``
of ``RankEvalResponse``, ``EvalQueryQuality`` and ``RatedSearchHit``; reference of ``_search``), Quepid
(``api/v1/export/books``), ir_metadata (Breuer et al. 2022; general information, schema 0.1), inspect
(``SampleSummary`` and ``SampleDefault`` of ``samples_df``), lm-eval (``evaluate`` with ``log_samples``),
nuggetizer (``AssignedScoredNugget``, ``core/metrics.py``). Those of tools that evaluate language models are in
``tests/intake``.
"""

import json
from pathlib import Path

_INTAKE = Path(__file__).parent / "intake" / "files"

RUN = {"q 1": {"a": 3.5, "b": 2.0}, "q2": {"c": 1.0}}
GAINS = {"q 1": {"a": 2, "b": 0}, "q2": {"c": 1}}


def hits(listed):
    return [{"_index": "i", "_id": d, "_score": s} for d, s in listed.items()]


def responses(run):
    return {
        topic: {
            "took": 3,
            "timed_out": False,
            "_shards": {"total": 1},
            "hits": {"hits": hits(held)},
        }
        for topic, held in run.items()
    }


def rank_eval(run=RUN, gains=GAINS):
    details = {
        topic: {
            "metric_score": 0.25,
            "unrated_docs": [],
            "hits": [{"hit": h, "rating": gains[topic].get(h["_id"])} for h in hits(held)],
            "metric_details": {"precision": {"relevant_docs_retrieved": 1, "docs_retrieved": 4}},
        }
        for topic, held in run.items()
    }
    return {"metric_score": 0.25, "details": details, "failures": {}}


def predictions(run):
    return "".join(
        json.dumps(
            {
                "query_id": topic,
                "query": "text",
                "results": [{"corpus_id": d, "score": s} for d, s in held.items()],
            }
        )
        + "\n"
        for topic, held in run.items()
    )


def evaluation_results(runs):
    return [
        {
            "id": "1",
            "searchConfigurationId": name,
            "searchText": topic,
            "judgmentIds": ["j"],
            "documentIds": list(held),
            "metrics": [{"metric": "NDCG@5", "value": 0.5}, {"metric": "MAP@5", "value": 0.25}],
        }
        for name, run in runs.items()
        for topic, held in run.items()
    ]


def judgment(gains):
    rated = [
        {"query": topic, "ratings": [{"docId": d, "rating": f"{g}.000"} for d, g in held.items()]}
        for topic, held in gains.items()
    ]
    return {"id": "j", "type": "IMPORT_JUDGMENT", "judgmentRatings": rated}


def book(*judges):
    pairs = [
        {
            "query_text": topic,
            "doc_id": document,
            "judgements": [{"rating": float(gain), "user_email": judge} for judge in judges],
        }
        for topic, held in GAINS.items()
        for document, gain in held.items()
    ]
    return {"name": "a book", "query_doc_pairs": pairs}


def beir(gains, separator="\t", header=("query-id", "corpus-id", "score")):
    rows = [header, *((t, d, str(g)) for t, held in gains.items() for d, g in held.items())]
    return "\n".join(map(separator.join, rows)) + "\n"


def meta(**held):
    return {"mteb_model_meta": {"model_name": "m", "revision": "r"}, **held}


RUNS = {
    "MTEB predictions": ("T_predictions.json", json.dumps(meta(default={"test": RUN}))),
    "sentence-transformers predictions": ("p.jsonl", predictions(RUN)),
    "Elasticsearch _rank_eval": ("e.json", json.dumps(rank_eval())),
    "Elasticsearch search responses": ("s.json", json.dumps(responses(RUN))),
    "table": ("t.tsv", beir(RUN, header=("qid", "docno", "score"))),
}
QRELS = {
    "table": ("test.tsv", beir(GAINS)),
    "OpenSearch judgment": ("j.json", json.dumps(judgment(GAINS))),
    "Quepid book": ("b.json", json.dumps(book("x@y"))),
    "Elasticsearch _rank_eval": ("e.json", json.dumps(rank_eval())),
}


def mteb_results(task, score, **entry):
    held = {"hf_subset": "default", "main_score": score, "ndcg_at_10": score, **entry}
    return {
        "dataset_revision": "r",
        "task_name": task,
        "mteb_version": "2",
        "scores": {"test": [held]},
    }


def sample(topic, *, metrics=("acc",), **held):
    return {
        "doc_id": topic,
        "doc": {"q": "?"},
        "filtered_resps": ["x"],
        "metrics": list(metrics),
        **held,
    }


def old_mteb_results(task, **splits):
    """Results of a task as MTEB wrote them before 1.11."""
    return {
        "dataset_revision": None,
        "mteb_dataset_name": task,
        "mteb_version": "1.1.1",
        **{split: {"evaluation_time": 12.5, **held} for split, held in splits.items()},
    }


def lm_eval_results(model, groups=None, **tasks):
    """Results of lm-eval: of each task, metrics with means."""
    return {
        "results": {
            task: {
                "alias": f" - {task}",
                **{f"{name},none": mean for name, mean in held.items()},
                **{f"{name}_stderr,none": 0.01 for name in held},
            }
            for task, held in tasks.items()
        },
        "group_subtasks": {**{task: [] for task in tasks}, **(groups or {})},
        "configs": {},
        "versions": {},
        "model_name": model,
    }


def euroeval_line(model, dataset, *, task="x", few_shot=True, val=False, **means):
    """A line of EuroEval, whose ``_se`` are half widths of intervals."""
    total = {}
    for name, mean in means.items():
        total |= {f"test_{name}": mean, f"test_{name}_se": 1.96}
    results = {"raw": [{name: mean / 100 for name, mean in means.items()}], "total": total}
    record = {"dataset": dataset, "task": task, "model": model, "results": results}
    return json.dumps({**record, "few_shot": few_shot, "validation_split": val}) + "\n"


def assigned(run, topic, *nuggets):
    """A line of nuggetizer's assignments; nuggets are text, importance and assignment."""
    keys = ("text", "importance", "assignment")
    record = {"query": "why?", "qid": topic, "answer_text": "so", "response_length": 1}
    held = [dict(zip(keys, nugget, strict=True)) for nugget in nuggets]
    return json.dumps({**record, "run_id": run, "nuggets": held}) + "\n"


def nugget_metrics(topic, strict_vital, strict_all, vital, every):
    """A line of nuggetizer's metrics."""
    names = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")
    values = (strict_vital, strict_all, vital, every)
    return json.dumps({"qid": topic, **dict(zip(names, values, strict=True))}) + "\n"


def intake(name, most=2):
    """Name and text of a file in tests/intake, with the first records of each list."""

    def cut(held):
        if isinstance(held, dict):
            return {key: cut(value) for key, value in held.items()}
        return [cut(value) for value in held[:most]] if isinstance(held, list) else held

    text = (_INTAKE / name).read_text(encoding="utf-8")
    held = (
        [json.loads(line) for line in text.splitlines()] if name[-1] == "l" else [json.loads(text)]
    )
    return name, "".join(json.dumps(cut(one)) + "\n" for one in held[: 2 * most])


# Tables of text: the files in tests/intake are all that tests read of them.
TABLES = {
    "table of columns and data",
    "promptfoo table",
    "LangSmith table",
    "Phoenix table",
    "TruLens records",
}

SCORES = {
    "Inspect log": intake("inspect-log.json"),
    "promptfoo evaluation": intake("promptfoo-v3.json"),
    "DeepEval test run": intake("deepeval-run.json"),
    "LangSmith runs": intake("langsmith-runs.json"),
    "LangSmith experiment": intake("langsmith-upload.json"),
    "Phoenix experiment": intake("phoenix-experiment.json"),
    "Langfuse scores": intake("langfuse-scores.json"),
    "MT-Bench judgments": intake("mt-bench.jsonl"),
    "MT-Bench grades": intake("mt-bench-grades.jsonl"),
    "AlpacaEval annotations": intake("alpaca-eval.json"),
    "FastEval task": intake("fasteval-task.json"),
    "FastEval code": intake("fasteval-code.json", 6),
    "SWE-bench report": intake("swe-bench-report.json", 5),
    "OpenAI evals log": intake("openai-evals.jsonl", 3),
    "MTEB results": ("A.json", json.dumps(mteb_results("A", 0.5))),
    "OpenSearch evaluation results": ("o.json", json.dumps(evaluation_results({"x": RUN}))),
    "Elasticsearch _rank_eval": ("e.json", json.dumps(rank_eval())),
    "lm-eval samples": ("l.jsonl", json.dumps(sample(0, acc=1.0, filter="none"))),
    "nuggetizer assignments": (
        "n.jsonl",
        assigned("x", "q1", ("a", "vital", "support"), ("b", "okay", "partial_support")),
    ),
    "nuggetizer metrics": (
        "m.jsonl",
        nugget_metrics("q1", 1.0, 0.5, 1.0, 0.75) + nugget_metrics("all", 1.0, 0.5, 1.0, 0.75),
    ),
}

MEANS = {
    "lm-eval results": ("r.json", json.dumps(lm_eval_results("org/m", t1={"acc": 0.5}))),
    "EuroEval results": ("e.jsonl", euroeval_line("org/m", "d1", mcc=50.0)),
}

VOTES = {
    "MT-Bench pairwise judgments": intake("mt-bench-pairs.jsonl"),
    "AlpacaEval annotations": intake("alpaca-eval.json"),
    "PandaLM test set": intake("panda-lm.json"),
}

METADATA = """\
ir_metadata.start
# actor: nobody
tag: a.b
platform:
  software: {name: not shown}
research goal:
  description: |
    method: not shown
    name: not shown
actor:
  # the team
  team: 'Team: <b>'
  "name": Ada Lovelace  # first author
  fields: [a, b]
method:
  automatic: true
  indexing:
    name: not shown
  retrieval:
  - name: BM25
    b: 0.4
  -  # second stage
    name: "monoT5"
    reranks: BM25
ir_metadata.end
"""

# Values where the other tools have text or a number.
WRONG_VALUES = (
    None,
    [],
    ["d"],
    {},
    {"a": [1]},
    True,
    0.5,
    "",
    "\ud800",
    "1_0",
    "\u0661",
    "x",
    1e400,
)


def places(held, path=()):
    """Yield the places of all values in JSON, the innermost ones included."""
    pairs = held.items() if isinstance(held, dict) else enumerate(held)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def with_value(held, path, value):
    """JSON with another value in one place."""
    if not path:
        return value
    copy = dict(held) if isinstance(held, dict) else list(held)
    copy[path[0]] = with_value(held[path[0]], path[1:], value)
    return copy
