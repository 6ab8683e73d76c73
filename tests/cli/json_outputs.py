"""Every kind of record that a command prints as JSON: its name in the schema, and the command."""

# {name} stands for a file of the sample: qrels, people's and other judges' qrels, runs, score tables.
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
    "mean-by-people": [
        *[("evaluate", *RUNS, "-m", "AP", "--human", "{people}", "--human-sample", "random-topics")]
    ],
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
