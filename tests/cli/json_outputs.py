"""Every kind of record that a command prints as JSON: its name in the schema, and the command."""

import json
import warnings
from pathlib import Path

import confir
from confir.cli.schema import schema_text
from confir.errors import TopicWarning
from judge_files import noisy_judge
from samples import short_sample

# {name} is a file of the sample: qrels, human and other judges' qrels, runs, score tables.
RUNS = ("{qrels}", "{bm25}", "{dense}")
PAIR = (*RUNS, "-m", "AP,P@10", "--baseline", "bm25")
FEW = ("--replicates", "99")
OF_ALL = ("--human-sample", "all")
BY_LENGTH = ("--design", "{lengths}", "--by", "length")

JSON_OUTPUTS: dict[str, list[tuple[str, ...]]] = {
    "mean": [
        ("evaluate", *RUNS, "-m", "AP", "--method", "t", "--method", "bca", *FEW),
        ("evaluate", "--scores", "{one_topic}"),
        ("evaluate", "--scores", "{equal}"),
        ("evaluate", "--scores", "{scores}", *BY_LENGTH),
        ("demo",),
    ],
    "mean-with-verdict": [("evaluate", *PAIR)],
    "target": [
        ("evaluate", *RUNS, "--at-least", "AP=0.3", "--at-least", "P@10=0.9"),
        ("evaluate", *RUNS, "--at-least", "AP=0.3", "--method", "percentile", *FEW),
    ],
    "corrected-mean": [
        *[("evaluate", *RUNS, "-m", "AP", "--human", "{people}", "--human-sample", "random-topics")]
    ],
    "mean-and-missing": [("evaluate", *RUNS, "-m", "AP", "--show", "missing")],
    "mean-and-unjudged": [
        ("evaluate", *RUNS, "-m", "AP", "--show", "unjudged"),
        ("evaluate", *RUNS, "-m", "AP", "--show", "unjudged", "--treatment", "condensed"),
        ("evaluate", *RUNS, "-m", "AP", "--show", "unjudged", "--treatment", "resample", *FEW),
    ],
    "mean-and-ties": [
        ("evaluate", *RUNS, "-m", "AP", "--show", "ties"),
        ("evaluate", *RUNS, "-m", "AP", "--show", "ties", "--treatment", "expected"),
    ],
    "score": [
        ("evaluate", *RUNS, "-m", "AP", "-q"),
        ("evaluate", "--scores", "{gaps}", "-q"),
    ],
    "rank": [
        ("compare", *RUNS, "-m", "AP", "--show", "ranks", *FEW),
        ("preferences", "{votes}", "--show", "ranks", *FEW),
        ("collection", *RUNS, "-m", "AP", "--show", "ranks", *FEW),
    ],
    "difference": [
        ("compare", *PAIR, "--margin", "0.01", "--test", "t", "--test", "sign"),
        ("compare", *RUNS, "{tfidf}", "-m", "AP", "--show", "pairs", *FEW),
        ("collection", *RUNS, "{tfidf}", "-m", "AP", "--show", "pairs", *FEW),
        ("compare", "--scores", "{equal}", "--baseline", "a"),
    ],
    "topic-difference": [("compare", *PAIR, "-q")],
    "group": [
        ("compare", *RUNS, "{tfidf}", "-m", "AP", "--show", "groups", *FEW),
        ("preferences", "{votes}", "--show", "groups", *FEW),
        ("collection", *RUNS, "{tfidf}", "-m", "AP", "--show", "groups", *FEW),
    ],
    "group-difference": [
        ("compare", "--scores", "{scores}", *BY_LENGTH, *FEW),
    ],
    "effect": [("compare", *PAIR, "--show", "effects")],
    "best": [
        ("compare", *RUNS, "{tfidf}", "-m", "AP", *FEW),
        ("compare", *RUNS, "-m", "AP", "--show", "best", *FEW),
        ("preferences", "{votes}", "--show", "best", *FEW),
        ("collection", *RUNS, "{tfidf}", "-m", "AP", "--show", "best", *FEW),
    ],
    "team": [("compare", *RUNS, "{tfidf}", "-m", "AP", "--teams", "{teams}", *FEW)],
    "unjudged-difference": [("compare", *PAIR, "--show", "unjudged")],
    "false-alarm": [("compare", *PAIR, "--show", "false-alarms", "--fail-if-worse", "AP")],
    "missing-difference": [("compare", *PAIR, "--show", "missing")],
    "look": [("history", "{history}")],
    "plan": [
        ("plan", *PAIR, "--difference", "0.05"),
        ("plan", *PAIR, "--difference", "observed", "--assurance", "0.9"),
        ("plan", *RUNS, "-m", "AP", "--half-width", "0.05"),
        ("plan", *PAIR),
        ("plan", *RUNS, "-m", "AP"),
        ("plan", "--scores", "{scores}", *BY_LENGTH),
        ("plan", "--scores", "{scores}", "--half-width", "0.1", *BY_LENGTH),
        ("plan", *PAIR, "--topics", "100", "--difference", "0.02"),
    ],
    "human-plan": [
        (
            *("plan", *RUNS, "-m", "AP", "--human", "{people}", "--human-sample", "random-topics"),
            *("--human-topics", "--half-width", "0.05"),
        )
    ],
    "document-plan": [
        (
            *("plan", *RUNS, "-m", "P@10", "--human", "{drawn}"),
            *("--human-sample", "random-documents", "--human-topics", "--half-width", "0.05"),
        )
    ],
    "topic": [("topics", *RUNS, "-m", "AP"), ("topics", *RUNS, "-m", "AP", "--run", "bm25", "-q")],
    "collection-mean": [
        ("collection", *RUNS, "-m", "AP", *FEW),
        ("collection", *RUNS, "-m", "AP", "--method", "bootstrap-with-topics", *FEW),
    ],
    "collection-topic": [("collection", *RUNS, "-m", "AP", "-q", *FEW)],
    "collection-difference": [("collection", *RUNS, "-m", "AP", "--baseline", "bm25", *FEW)],
    "collection-topic-difference": [
        ("collection", *RUNS, "-m", "AP", "--baseline", "bm25", "-q", *FEW)
    ],
    "collection-variance": [
        ("collection", *RUNS, "-m", "AP", "--show", "variance", *FEW),
        ("collection", *RUNS, "-m", "AP", "--show", "variance", "--baseline", "bm25", *FEW),
    ],
    "split-half": [("split-half", *RUNS, "-m", "AP", *FEW)],
    "coverage": [
        ("coverage", *RUNS, "-m", "AP", "--samples", "20", *FEW),
        ("coverage", *RUNS, "-m", "AP", "--samples", "20", "--per-tail", "published", *FEW),
    ],
    "type-one": [
        ("type-one", *RUNS, "-m", "AP", "--samples", "20", "--topics", "10", *FEW),
        ("type-one", *RUNS, "-m", "AP", "--samples", "20", "--topics", "10", "--per-run", *FEW),
    ],
    "bias-variance": [
        ("bias-variance", *RUNS, "-m", "AP", *FEW),
        ("bias-variance", *RUNS, "-m", "AP", "--baseline", "bm25", "--loss-depth", "5", *FEW),
        ("bias-variance", "{qrels}", "{k1}", "{k2}", "-m", "AP", "--parameter", "k=1,2", *FEW),
    ],
    "chance": [
        ("chance", *RUNS, "-m", "AP", "--documents", "60000", "--draws", "9"),
        ("chance", "{qrels}", "-m", "AP", "--documents", "60000"),
        ("chance", *RUNS, "-m", "AP", "--documents", "60000", "--draws", "9", "-q"),
        ("chance", "--documents", "1000", "--relevant", "10", "-m", "AP"),
    ],
    "judges": [("judges", "{qrels}", "{human}", "{bm25}", "{dense}", "-m", "AP", *FEW)],
    "judges-agreement": [
        ("judges", "{qrels}", "{human}", *FEW),
        ("judges", "{qrels}", "{human}", "{bm25}", "-m", "AP", "--show", "agreement", *FEW),
    ],
    "judges-labels": [("judges", "--labels", "{labels}", *FEW)],
    "judges-confusion": [("judges", "{qrels}", "{human}", "--show", "confusion", *FEW)],
    "judges-run": [
        ("judges", "{qrels}", "{human}", "{bm25}", "{dense}", "-m", "AP", "--show", "runs")
    ],
    "judges-variance": [
        *[
            (
                "judges",
                "{qrels}",
                "{human}",
                "{other}",
                "{bm25}",
                "{dense}",
                "-m",
                "AP",
                "--show",
                "variance",
            )
        ]
    ],
    "true-mean": [("simulate", "--scores", "{scores}", "-o", "{made}")],
    "pooled": [
        ("meta", *PAIR, "{tfidf}", *FEW),
        ("meta", *RUNS, "-m", "AP"),
        ("meta", "{effects}"),
    ],
    "preference": [("preferences", "{votes}", *FEW)],
    "preference-pair": [
        ("preferences", "{votes}", "--show", "pairs", *FEW),
        ("preferences", "{votes}", "--show", "pairs", "--baseline", "a", *FEW),
    ],
    "preference-effect": [
        ("preferences", "{sided}", "--show", "effects", *FEW),
        ("preferences", "{sided}", "--show", "effects", "--position", "adjust", *FEW),
    ],
    "vote-plan": [
        ("preferences", "{votes}", "--show", "plan"),
        ("preferences", "{votes}", "--show", "plan", "--half-width", "0.1"),
    ],
    "share-sequence": [("preferences", "{clicks}", "--show", "sequence")],
    "measure": [("measures",)],
    "method": [("methods",)],
    "board": [
        ("leaderboard", "{datasets}", "-m", "AP", *FEW),
        ("leaderboard", "{datasets}", "-m", "AP", "--human", "{datasets}", *OF_ALL, *FEW),
        ("leaderboard", "--means", "{means}", *FEW),
        ("leaderboard", "--means", "{gappy}", "--incomplete", "model", "--standardise", *FEW),
    ],
    "cost": [("tradeoff", *RUNS, "-m", "AP", "--cost", "{prices}", *FEW)],
    "component": [("components", *RUNS, "{tfidf}", "-m", "AP")],
    "reliability": [("components", *RUNS, "{tfidf}", "-m", "AP", "--show", "reliability")],
    "repeats": [("evaluate", "{qrels}", "{repeats}", "-m", "AP", "--repeats")],
    "power": [("measures", "--power", *RUNS, "{tfidf}", "-m", "AP", *FEW)],
    "finding": [("doctor",)],
    "reproduction": [
        ("reproduce", "{bm25}", "{dense}", "{bm25}"),
        ("reproduce", "{bm25}", "{dense}", "--qrels", "{qrels}", "-m", "AP,P@10", "--ties", "b"),
        (
            *("reproduce", "{bm25}", "{dense}", "--qrels", "{qrels}", "-m", "AP", *FEW),
            *("--margin", "0.1", "--baseline-runs", "{tfidf}", "{tfidf}"),
        ),
    ],
    "reusability": [
        ("reusability", *RUNS, "-m", "AP,Rprec", "--teams", "{teams}", "--unjudged", "bounds"),
        (
            "reusability",
            *RUNS,
            "-m",
            "AP",
            "--teams",
            "{teams}",
            "--contributors",
            "{contributors}",
        ),
    ],
}

TABLES = {
    "labels": "item,topic,human,judge,score\n"
    + "".join(f"i{n},t{n % 4},{n % 3},{n % 2 + n % 3 // 2},1\n" for n in range(24)),
    "one_topic": "run,measure,topic,score\na,AP,1,.5\nb,AP,1,.6\n",
    "equal": "run,measure,topic,score\na,AP,1,.5\nb,AP,1,.5\na,AP,2,.5\nb,AP,2,.5\n",
    "gaps": "run,measure,topic,score\na,AP,1,.5\nb,AP,1,\na,AP,2,.5\nb,AP,2,.5\n",
    "votes": "left,right,winner\n" + "a,b,a\nb,a,b\nb,c,left\nc,b,c\na,c,tie\n" * 4,
    "sided": "left,right,winner\n" + "a,b,a\nb,a,b\nb,c,left\nc,b,b\na,c,tie\nb,a,a\n" * 4,
    "clicks": "left,right,winner\n" + "a,b,a\nb,a,b\n" * 4,
    "effects": "study,effect,se\nx,0.1,0.05\ny,0.2,0.1\nz,0.05,0.1\n",
    "datasets": "dataset,run,measure,topic,score\n"
    + "".join(
        f"{d},{r},AP,{t},{(2 * t + r) % 7 / 10}\n"
        for d in "de"
        for r in (1, 2, 3)
        for t in range(6)
    ),
    "lengths": "topic,length\n"
    + "".join(f"{t},{['long', 'short'][t % 2] if t < 150 else 'other'}\n" for t in range(101, 151)),
    "prices": "run,price,seconds\nbm25,1,0.5\ndense,2,0.25\n",
    "gappy": "topic,a,b,c\nd,0.1,0.2,0.3\ne,0.2,,0.4\nf,0.3,0.2,0.5\n",
    "means": "topic,a,b,c\nd,0.1,0.2,0.3\ne,0.2,0.1,0.4\nf,0.3,0.2,0.5\n",
}


def write_files(folder: Path, sample_files: Path) -> dict[str, Path]:
    """Write the files that the commands read, and return them by name."""
    sample = short_sample()
    for name, seed in (("human", 1), ("other", 2)):
        confir.write_qrels(noisy_judge(sample.qrels, seed=seed), folder / f"{name}.txt")
    lines = (folder / "human.txt").read_text().splitlines(keepends=True)
    (folder / "people.txt").write_text("".join(line for line in lines if line < "120"))
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TopicWarning)  # of a run that lacks a topic
        scores = confir.evaluate(sample.qrels, sample.runs[:3], ["AP"])
    confir.write_scores(scores, folder / "scores.csv")
    (folder / "teams.txt").write_text("bm25 a\ndense b\ntfidf a\n")
    judged = (sample_files / "qrels.txt").read_text().splitlines()
    (folder / "contributors.txt").write_text(
        "".join(f"{line} {('1 a', '1 b', '2 a b')[n % 3]}\n" for n, line in enumerate(judged))
    )
    (folder / "drawn.txt").write_text("".join(f"{line} 0.5\n" for line in judged[::2]))
    (folder / "repeats").mkdir()
    for number in (1, 2):
        confir.write_run(sample.runs[number], folder / f"k={number}.txt")
        confir.write_run(sample.runs[2 * number - 2], folder / "repeats" / f"system@{number}.txt")
    look = dict.fromkeys(json.loads(schema_text())["$defs"]["look"]["required"], 0.5)
    look |= {"look": 1, "date": "2026-01-01", "commit": None, "measure": "AP", "against": "a"}
    look |= {"run": "b", "decision": "fails", "require": "superior", "looks": "topics"}
    look |= {"topics": 9, "arrived": {"7": 0.25}}
    (folder / "history.jsonl").write_text(json.dumps(look) + "\n")
    return {
        **{name: folder / f"{name}.csv" for name in (*TABLES, "scores", "made")},
        **{name: folder / f"{name}.txt" for name in ("human", "other", "people", "teams", "drawn")},
        "contributors": folder / "contributors.txt",
        **{name: sample_files / "runs" / f"{name}.txt" for name in ("bm25", "dense", "tfidf")},
        "k1": folder / "k=1.txt",
        "k2": folder / "k=2.txt",
        "qrels": sample_files / "qrels.txt",
        "history": folder / "history.jsonl",
        "repeats": folder / "repeats",
    }
