"""One answer to the question of the best run: terminal, JSON, LaTeX, Python, report and leaderboards."""

import base64
import json
import re
import zlib
from html import unescape

import pytest

import confir
from samples import short_sample

MEASURE = "AP"


def of_runs(folder, qrels, *, every=1):
    """Return the scores of the runs of a collection."""
    runs = sorted(path for path in (folder / "runs").iterdir() if path.is_file())[::every]
    return confir.evaluate(folder / qrels, [str(run) for run in runs], [MEASURE])


COLLECTIONS = {
    "sample": None,
    "clef-ehealth-2015": lambda data: of_runs(data, "qrels.txt"),
    "trec-dl-2021": lambda data: of_runs(data, "qrels.nist.txt", every=4),
    "trec-covid-r5": lambda data: of_runs(data, "qrels.txt", every=8),
    "mteb-beir": lambda data: confir.read_scores(data / "ndcg_at_10.csv"),
}


@pytest.fixture(scope="module", params=COLLECTIONS)
def collection(request, tmp_path_factory):
    """The scores of a collection, and the table that they are written to."""
    read = COLLECTIONS[request.param]
    if read is None:
        sample = short_sample()
        scores = confir.evaluate(sample.qrels, sample.runs, [MEASURE])
    else:
        scores = read(request.getfixturevalue("real_data") / request.param)
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    header = ["topic", *scores.runs]
    rows = [
        [t, *map(repr, row[:, 0].tolist())]
        for t, row in zip(scores.topics, scores.values, strict=True)
    ]
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    return confir.read_scores(path), path


def board(records):
    """Return rank, run and whether it may be best, in order."""
    return [(one["rank"], one["run"], one["may_be_best"]) for one in records]


def shown(text, separator):
    """Return the same from a table for readers."""
    row = rf"^(\d+){separator}(\S.*?){separator}.*?{separator}(yes|no)(?:, borderline)?(?:{separator}| \\|$)"
    rows = re.findall(row, text, re.MULTILINE)
    return [(int(rank), run.strip(), said == "yes") for rank, run, said in rows]


def drawn(page):
    """Return the same from the leaderboard of a page without scripts."""
    row = (
        r'<td class="number rank">(\d+)</td><th scope="row" dir="auto" class="name[^"]*">([^<]*)</th>'
        r'.*?<td class="said" data-label="may be best">(yes|no)(?:, borderline)?</td>'
    )
    return [
        (int(rank), unescape(run), said == "yes")
        for rank, run, said in re.findall(row, page, re.DOTALL)
    ]


def packed(page):
    """Return the same from the data of a page, which its script shows."""
    (text,) = re.findall('id="packed-data">([^<]*)<', page)
    data = json.loads(zlib.decompress(base64.b64decode(text)))
    measure = data["measures"][0]
    in_set = measure["best"]["at"]["0.95"]["in_set"]
    return [
        (measure["means"]["rank"][run], data["runs"][run], int(in_set[run]) % 2 == 1)
        for run in measure["order"]
    ]


def said_of(leaders, members, runs):
    """Return the words of a headline that say who leads, and how many runs may be the best."""
    names = " and ".join(filter(None, (", ".join(leaders[:-1]), leaders[-1])))
    if members == 1:
        return names, f"is the best of the {runs:,} runs"
    which = "each" if members == runs else f"{members:,}"
    return names, f"{which} of the {runs:,} runs may be the best"


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_all_outputs_name_the_same_runs_in_the_same_order(collection, confir_command, tmp_path):
    scores, path = collection
    best = confir.find_best(scores, rng=2006)
    expected = board(best.to_records())
    means = [record["mean"] for record in best.to_records()]
    assert means == sorted(means, reverse=True)
    given = ("compare", "--scores", path, "--quiet")
    assert board(json.loads(confir_command(*given, "--format", "json").out)) == expected
    text = confir_command(*given, "--rows", "all").out
    assert shown(text, "  +") == expected
    assert confir_command(*given, "-o", tmp_path / "board.tex").code == 0
    latex = (
        (tmp_path / "board.tex")
        .read_text()
        .replace("\\_", "_")
        .replace("\\allowbreak{}", "")
        .replace("\\textbf{", "")
        .replace("}", "")
    )
    assert shown(latex, " & ") == expected
    members = sum(may_be_best for *_, may_be_best in expected)
    leaders = [run for rank, run, _ in expected if rank == 1]
    lead, found = said_of(leaders, members, len(expected))
    first = text.splitlines()[0]
    assert first.startswith(lead)
    assert found in first
    assert confir_command("report", *given[1:], "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert drawn(page) == packed(page) == expected
    (headline,) = re.findall('<p class="lead">([^<]*)</p>', page)
    assert unescape(headline).startswith(lead)
    assert found in headline
    # a leaderboard over datasets that count alike is the same question
    over = confir_command("leaderboard", "--means", path, "--quiet", "--format", "json")
    by_run = {record["run"]: record for record in json.loads(over.out)}
    assert board(by_run.values()) == expected
    ranked = confir_command("leaderboard", "--means", path, "--quiet", "--rows", "all").out
    assert shown(ranked, "  +") == expected
    assert found in ranked.splitlines()[0]


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_all_outputs_list_the_same_pairs_best_first(collection, confir_command):
    scores, path = collection
    scores = scores.select(run=list(scores.runs[:12]))
    records = confir.compare_runs(scores, rng=2006).to_records()
    given = ("compare", "--scores", path, "--quiet", "--show", "pairs")
    chosen = [word for run in scores.runs for word in ("--select", run)]
    printed = json.loads(confir_command(*given, *chosen, "--format", "json").out)
    for one, other in zip(printed, records, strict=True):
        assert (one["run"], one["against"], one["verdict"]) == (
            *(other["run"], other["against"], other["verdict"]),
        )
        assert one["difference"] >= 0
        assert one["verdict"] != "worse"
    order = [record["run"] for record in confir.find_best(scores, rng=1).to_records()]
    places = [(order.index(one["run"]), order.index(one["against"])) for one in printed]
    assert places == sorted(places)
    text = confir_command(*given, *chosen, "--rows", "all").out
    significant = sum(one["verdict"] == "better" for one in printed)
    assert text.startswith(
        (f"{significant:,} of {len(printed):,} pairs", "none of", "the two", "The diff")
    )
    board_text = confir_command("compare", "--scores", path, "--quiet", *chosen).out
    assert text.splitlines()[0] in board_text or len(printed) <= 12
