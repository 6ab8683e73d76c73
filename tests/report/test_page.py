"""The page as a file: self-contained, small, without foreign code, and complete about what is missing."""

import base64
import hashlib
import json
import re
import warnings
import zlib
from dataclasses import replace
from email.message import Message
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import confir
from confir import errors, parallel
from confir.cli.start import warnings_at_the_end
from confir.data import experiment as experiment_module
from confir.data.experiment import Experiment
from confir.data.ranked_lists import held_lists
from confir.data.ranked_lists.stored_lists import StoredLists
from confir.data.scores import Scores
from confir.data.simulation import write_collection
from confir.errors import (
    ConfirWarning,
    InvalidValueError,
    MissingTopicWarning,
    UnreadableError,
    UnsupportedMethodError,
)
from confir.number_text import p_text, signed
from confir.report import report_page as page_module
from confir.report.contents import Settings
from confir.report.gathering import gather_contents, number_of_steps
from confir.report.messages import by_importance
from confir.report.page_data import level_key, page_data, shown, single_panel
from confir.report.report_page import (
    Origin,
    default_title,
    find_documentation,
    render_page,
    unbroken,
    write_report,
)
from confir.report.script_bundle import ScriptBundle
from confir.studies.coverage import section as coverage_section
from confir.studies.leaderboard.board_sources import board_scores
from confir.studies.means.board import first_board
from samples import short_sample

FAST = Settings(replicates=499)
NASTY = "</script><script>alert('a&b')</script>"


def table(runs=3, topics=12, measures=("AP",), scale=1.0, names=None):
    values = scale * np.random.default_rng(6).random((topics, runs, len(measures)))
    return Scores(
        tuple(f"t{t}" for t in range(topics)),
        names or tuple(f"run{r}" for r in range(runs)),
        measures,
        values,
    )


def rendered(scores, settings=FAST, **options):
    return render(gather_contents(scores, settings=settings), **options)


def render(contents, **options):
    with ScriptBundle() as bundle:
        return render_page(contents, bundle, **options)


def packed(page, name):
    """The data of the page under a name: JSON, deflated."""
    (text,) = re.findall(rf'id="packed-{name}">([^<]*)<', page)
    return zlib.decompress(base64.b64decode(text)).decode()


class Elements(HTMLParser):
    """Collects start tags, the texts of scripts, and the text of the rest."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.text, self._within = [], [], [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, _):
        self._within = None

    def handle_data(self, data):
        if self._within == "script":
            self.scripts[-1] += data
        elif self._within != "style":
            self.text.append(data)


@pytest.fixture(scope="module")
def nasty_page():
    scores = table(names=(NASTY, "a&b", "plain"))
    warned = [ConfirWarning(f"warned of {NASTY}")]
    contents = gather_contents(scores, warned=warned, settings=FAST)
    return render(contents, title=NASTY, origin=Origin((NASTY,), f"confir report {NASTY}"))


def test_scripts_run_only_by_their_hashes(nasty_page):
    elements = Elements(nasty_page)
    (policy,) = [
        attrs["content"]
        for tag, attrs in elements.tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    allowed = re.search(r"script-src ([^;]*);", policy)[1].split()
    run = [packed(nasty_page, "bundle"), elements.scripts[-1]]
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in run]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]
    kinds = [attrs.get("type") for tag, attrs in elements.tags if tag == "script"]
    assert kinds == ["text/plain"] * 4 + [None]


def test_nothing_is_loaded(nasty_page):
    for _, attrs in Elements(nasty_page).tags:
        assert not {"src", "srcset", "data", "poster", "background"} & set(attrs)
        assert attrs.get("href", "#").startswith(("#", "docs/"))  # into the docs, where these are
    style = re.search(r"<style>(.*?)</style>", nasty_page, re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_names_are_text_and_never_markup(nasty_page):
    elements = Elements(nasty_page)
    assert len(elements.scripts) == 5
    assert "alert(" not in "".join(elements.scripts)
    text = "".join(elements.text)
    for said in (f"confir report {NASTY}", f"warned of {NASTY}"):
        assert said in text
    data = json.loads(packed(nasty_page, "data"))
    assert data["runs"] == [NASTY, "a&b", "plain"]


@pytest.mark.slow
def test_the_page_of_129_runs_9_measures_and_50_topics_is_smaller_than_3_mb():
    measures = ("AP", "nDCG", "RR", "P@5", "P@10", "P@20", "P@100", "R@100", "R@1000")
    page = rendered(table(129, 50, measures), Settings(replicates=99))
    assert len(page.encode()) < 3_000_000
    data = json.loads(packed(page, "data"))
    assert len(data["measures"]) == 9
    assert len(data["measures"][0]["comparison"]["first"]) == 40 * 39 // 2


@pytest.fixture(scope="module")
def several():
    return gather_contents(table(4, 15, ("AP", "RR")), settings=FAST)


def test_the_data_of_the_page_are_those_of_the_results(several):
    data = page_data(several)
    for part, entry in zip(several.measures, data["measures"], strict=True):
        assert entry["name"] == part.measure
        assert entry["order"] == np.argsort(-part.scores.mean()[:, 0]).tolist()
        means, best, pairs = entry["means"], entry["best"], entry["comparison"]
        assert means["mean"] == shown(part.scores.mean())
        assert means["rank"] == part["ranks"][0.95].rank[:, 0].tolist()
        scores = np.array(entry["topic_difficulty"]["scores"])
        assert scores == pytest.approx(part.scores.values[:, :, 0].T)
        assert list(means["at"]) == list(best["at"]) == ["0.9", "0.95", "0.99"]
        for level in several.settings.levels:
            at, interval = means["at"][level_key(level)], part["means"][level]
            assert at["low"] == shown(interval.low)
            assert at["high"] == shown(interval.high)
            at, found = best["at"][level_key(level)], part["best"].at[level]
            assert at["low"] == shown(found.lower)
            assert at["high"] == shown(found.upper)
            assert [digit in "13" for digit in at["in_set"]] == found.in_set[:, 0].tolist()
            at, comparison = pairs["at"][level_key(level)], part["comparison"][level]
            assert at["low"] == [signed(value) for value in comparison.limits.low[:, 0].tolist()]
            words = [pairs["verdicts"][number] for number in at["verdict"]]
            assert words == comparison.verdict[0, :, 0].tolist()
        differences = comparison.difference[:, 0].tolist()
        assert pairs["difference"] == [signed(value) for value in differences]
        assert pairs["wins"] == comparison.wins[:, 0].tolist()


def test_the_texts_of_the_page_are_those_of_its_numbers(several):
    for part, entry in zip(several.measures, page_data(several)["measures"], strict=True):
        means, pairs = entry["means"], entry["comparison"]
        assert means["mean_text"] == [f"{mean:.3f}" for mean in part.scores.mean()[:, 0]]
        for level, at in means["at"].items():
            records = part["means"][float(level)].to_records()
            assert at["limits"] == [f"[{r['low']:.3f}, {r['high']:.3f}]" for r in records]
        comparison = part["comparison"][0.95]
        assert pairs["p_text"] == [p_text(p) for p in comparison.p_adjusted[0, :, 0].tolist()]


def test_numbers_have_the_digits_that_are_shown():
    assert shown(np.array([0.123456, 12.3456, np.nan])) == [0.1235, 12.3, None]


def test_another_level_is_there_to_choose_and_chosen():
    page = rendered(table(), Settings(0.8, replicates=499))
    assert '<option value="0.8" selected>80%</option>' in page
    assert page.count("selected>") == 1
    assert set(json.loads(packed(page, "data"))["measures"][0]["means"]["at"]) == {
        "0.8",
        "0.9",
        "0.95",
        "0.99",
    }


def left_out(page):
    """The parts that are left out, or empty: the section's id and the reason."""
    found = dict(re.findall(r'<li id="([^"]+)"><strong>[^<]*</strong>:? ([^<]*)</li>', page))
    answer, *parts = re.split(r'<details class="part" id="', page)
    for part in (f'answer"{answer}', *parts):
        reasons = re.findall(r'class="left-out"[^>]*>Left out: ([^<]*)</p>', part)
        if reasons:
            found[part.partition('"')[0]] = reasons[0]
    return found


def test_scores_alone_leave_out_what_needs_documents():
    assert left_out(rendered(table())) == {
        "collection": "this part needs qrels and runs, not scores alone.",
        "chance": "the random baseline needs qrels, for the number of relevant documents.",
        "quality": "this part needs qrels and runs, not scores alone.",
    }


def test_one_run_leaves_out_pairs():
    found = left_out(rendered(table(runs=1)))
    assert found["pairs"] == "there is one run; a pair needs two."
    assert "leaderboard" not in found


def test_one_topic_leaves_out_what_needs_several():
    page = rendered(table(topics=1))
    found = left_out(page)
    assert {"answer", "pairs", "coverage"} <= set(found)
    assert "one topic" in found["answer"]
    assert "There is one topic, so scores have no intervals." in page


def test_constant_scores_are_no_obstacle():
    scores = table()
    same = Scores(scores.topics, scores.runs, scores.measures, np.full(scores.values.shape, 0.5))
    page = rendered(same)
    data = json.loads(packed(page, "data"))
    assert data["measures"][0]["means"]["mean"] == [0.5, 0.5, 0.5]
    assert "None of 3 pairs differs significantly." in page
    assert set(data["measures"][0]["comparison"]["at"]["0.95"]["reason"]) == {
        f"the same score on all {len(scores.topics)} topics"
    }


def test_scores_beyond_1_have_their_own_method():
    page = rendered(table(measures=("NumRet",), scale=900))
    data = json.loads(packed(page, "data"))
    assert data["measures"][0]["means"]["method"] == "t"
    assert max(data["measures"][0]["means"]["mean"]) > 10


def test_runs_without_a_common_topic_are_not_compared_and_the_page_says_so():
    scores = table(runs=2, topics=12)
    values = scores.values.copy()
    values[:6, 0] = np.nan
    values[6:, 1] = np.nan
    page = rendered(Scores(scores.topics, scores.runs, scores.measures, values))
    assert "pairs" in left_out(page)
    assert "comparison" not in json.loads(packed(page, "data"))["measures"][0]


def test_differences_from_the_baseline_are_drawn_from_0_to_the_highest_limit():
    scores = table()
    better = replace(scores, values=scores.values / 10 + np.array([0.2, 0.5, 0.6])[:, None])
    contents = gather_contents(better, settings=replace(FAST, baseline="run0"))
    board = first_board(page_data(contents), level_key(0.95))
    marks = np.array([row.gap_bar for row in board.rows if row.run != "run0"])
    assert 0 < board.gaps.zero < marks.min()
    assert board.gaps.zero == pytest.approx(100 - marks.max())  # as much room at both ends
    assert board.gaps.ticks[0] == ("0", board.gaps.zero)


def test_a_run_without_any_score_by_a_measure_is_last():
    scores = table(measures=("AP", "RR"))
    values = scores.values.copy()
    values[:, 1, 1] = np.nan
    contents = gather_contents(
        Scores(scores.topics, scores.runs, scores.measures, values), settings=FAST
    )
    assert contents.measures[1].order[-1] == 1
    data = page_data(contents)
    assert data["measures"][1]["means"]["mean"][1] is None
    assert render(contents)


def test_a_method_that_does_not_fit_is_an_error_and_leaves_no_file(tmp_path):
    counts = table(measures=("NumRet",), scale=900)
    with pytest.raises(UnsupportedMethodError, match="beta-logit"):
        write_report(tmp_path / "r.html", counts, method="beta-logit", replicates=499)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_level_is_an_error_before_the_work(tmp_path):
    with pytest.raises(InvalidValueError, match=r"1\.5"):
        write_report(tmp_path / "r.html", table(), level=1.5)


def test_a_missing_folder_is_an_error_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(page_module, "gather_contents", None)
    with pytest.raises(UnreadableError, match="no such folder"):
        write_report(tmp_path / "none" / "r.html", table())
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableError, match="cannot be made a folder"):
        write_report(tmp_path / "r.html", table(), figures=tmp_path / "file")


def test_a_collection_smaller_than_its_known_documents_is_refused(tmp_path):
    judged = {"1": {"d": 1, "e": 0}, "2": {"f": 1}}
    experiment = confir.Experiment(judged, {"1": {"d": 1.0}, "2": {"g": 1.0}}, ["AP"])
    with pytest.raises(InvalidValueError, match="documents is 3; expected at least the 4 that"):
        write_report(tmp_path / "r.html", experiment, documents=3, replicates=99)


def test_a_page_replaces_no_file_that_it_is_made_from(tmp_path):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 d 1\n2 0 d 1\n")
    experiment = confir.Experiment(qrels, {"1": {"d": 1.0}, "2": {"d": 1.0}}, ["AP"])
    with pytest.raises(InvalidValueError, match=r"qrels.txt: the page is HTML; expected a name"):
        write_report(qrels, experiment, replicates=99)
    assert qrels.read_text().startswith("1 0 d 1")


def test_the_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    path.write_text("before")

    def fail(*_):
        raise UnreadableError("disk full")

    monkeypatch.setattr(page_module, "write_figures", fail)
    with pytest.raises(UnreadableError, match="disk full"):
        write_report(path, table(), replicates=499, figures=tmp_path / "figures")
    assert path.read_text() == "before"


@pytest.fixture
def contents_of_pages(monkeypatch):
    """The contents of the pages that are written."""
    contents = []

    def render(given, *parts, **named):
        contents.append(given)
        return render_page(given, *parts, **named)

    monkeypatch.setattr(page_module, "render_page", render)
    return contents


def test_the_public_name_writes_the_page_and_returns_its_path(tmp_path, contents_of_pages):
    steps = []
    path = confir.write_report(
        str(tmp_path / "r.html"), table(), replicates=499, title="Ours", progress=steps.append
    )
    assert path == tmp_path / "r.html"
    assert '<h1 dir="auto">Ours</h1>' in path.read_text()
    assert contents_of_pages[0].settings.replicates == 499
    assert sum(steps) == number_of_steps(1)
    steps.clear()
    confir.write_report(
        *(tmp_path / "r.html", table(runs=1, measures=("AP", "RR"))),
        replicates=199,
        figures=tmp_path,
        progress=steps.append,
    )
    assert sum(steps) == number_of_steps(2, figures=True)


def test_the_same_seed_makes_the_same_page():
    scores = table(measures=("AP", "RR", "P@5"))
    pages = {rendered(scores, Settings(method="percentile", replicates=99)) for _ in range(2)}
    assert len(pages) == 1


def test_the_page_does_not_depend_on_the_number_of_threads(monkeypatch):
    scores = table(measures=("AP", "RR", "P@5"))
    page = rendered(scores)
    monkeypatch.setattr(parallel, "usable_cores", lambda: 1)
    assert rendered(scores) == page


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_with_runs_and_qrels_no_part_is_left_out():
    sample = short_sample()
    runs = [run for run in sample.runs if run.name in ("bm25-rm3", "dense")]
    scores = confir.evaluate(sample.qrels, runs, ["AP"], rel=1)
    contents = gather_contents(scores, qrels=sample.qrels, runs=runs, settings=FAST)
    page = render(contents)
    assert left_out(page) == {}
    assert contents.left_out == contents.measures[0].left_out == {}
    mentioned = set(sample.qrels.documents).union(*(run.documents for run in runs))
    assert contents.documents == len(mentioned)
    assert f"{len(mentioned):,} documents" in page
    tables = {one["part"]: one["note"] for one in json.loads(packed(page, "tables"))}
    assert set(tables) == {
        "best",
        "coverage",
        "bias-variance",
        "chance",
        "collection",
        "variance",
        "quality",
        "unjudged",
    }
    assert tables["variance"].endswith("a larger collection the second and the third")
    assert tables["collection"] == "mean over 50 topics with 95% interval over collections"
    assert all(note for part, note in tables.items() if part != "quality")
    means = contents["collection"].means.mean[:, 0, 0]
    assert means == pytest.approx(scores.mean()[:, 0])


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
@pytest.mark.parametrize("rules", [{}, {"depth": 40, "tie_precision": "single"}])
def test_lists_that_are_stored_on_disk_give_the_same_page(tmp_path, monkeypatch, rules):
    write_collection(short_sample(), tmp_path)
    judge = confir.read_qrels(tmp_path / "qrels.txt").to_dict()
    judge["101"] = dict.fromkeys(judge["101"], 1)
    monkeypatch.setattr(held_lists, "_BLOCK", 3_000)
    page, pages = tmp_path / "page.html", []
    for held_size in (1 << 28, 0):
        monkeypatch.setattr(experiment_module, "_HELD_SIZE", held_size)
        given = Experiment(tmp_path / "qrels.txt", tmp_path / "runs", ["AP", "nDCG@10"], **rules)
        confir.write_report(page, given, replicates=199, judges={"other": judge})
        assert isinstance(given.kept["lists"], StoredLists) == (held_size == 0)
        pages.append(page.read_text())
    assert pages[0] == pages[1]


def test_warnings_are_collected_for_the_page_and_named_once():
    contents = gather_contents(table(), settings=Settings(method="percentile", replicates=99))
    assert any("99 replicates" in warning for warning in contents.warnings)
    assert len(set(contents.warnings)) == len(contents.warnings)
    page = render(contents)
    assert all(warning in page for warning in contents.warnings)


# What can make a conclusion wrong comes first, notes on how input was read last.
IN_ORDER = (
    errors.MissingTopicWarning("z scored 0"),
    errors.UnjudgedWarning("y unjudged"),
    errors.NothingRelevantWarning("x without relevant documents"),
    errors.SmallSampleWarning("w too few clusters"),
    errors.InputWarning("v may be a mistake"),
    errors.UnknownTopicWarning("u left out"),
    errors.DegenerateSampleWarning("t has no interval"),
    errors.ReadingWarning("s not used"),
)


def test_warnings_have_one_order_on_the_page_and_on_the_command_line(capsys):
    found = by_importance(reversed(IN_ORDER))
    assert found["remarks"] == ("t has no interval",)
    assert [text[0] for text in found["warnings"]] == list("zyxwvus")
    assert found["warnings"][0] == "z scored 0: check that the runs are complete"
    assert "u left out: check that the qrels are complete" in found["warnings"]
    with warnings_at_the_end():
        for warning in reversed(IN_ORDER):
            warnings.warn(warning, stacklevel=1)
    expected = [f"confir: warning: {warning}" for warning in IN_ORDER]
    assert capsys.readouterr().err.splitlines() == expected


def test_single_panels_lose_their_frame_and_several_keep_it():
    facet = {"facet": {}, "spec": {"mark": "a", "title": "x"}, "data": {"name": "d"}, "columns": 2}
    assert single_panel(facet) == {"mark": "a", "data": {"name": "d"}}
    assert single_panel({"concat": [{"mark": "a"}]}) == {"mark": "a"}
    two = {"concat": [{"mark": "a"}, {"mark": "b"}]}
    assert single_panel(two) == two


def test_percentages_and_intervals_stay_on_one_line():
    assert unbroken("a 95% interval [0.1, 0.2] of %") == "a 95% interval [0.1,\xa00.2] of %"


def test_scores_too_large_to_be_squared_are_refused(tmp_path):
    with pytest.raises(
        InvalidValueError, match=r"a score is 9\.\d+e\+199; expected at most 1e\+100"
    ):
        confir.write_report(tmp_path / "page.html", table(scale=1e200))


def test_documents_below_one_are_refused():
    for documents in (0, -5):
        with pytest.raises(InvalidValueError, match=f"documents is {documents}"):
            gather_contents(table(), settings=Settings(documents=documents))


@pytest.fixture
def tagged(tmp_path):
    """Runs whose tags are not their files' names, and whose scores tie in single precision only."""
    topics = range(1, 7)
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 b 1\n{t} 0 a 0\n" for t in topics))
    for name, ahead in (("one", 3), ("two", 5)):
        lines = [
            f"{t} Q0 {document} 1 {0.5 + (1e-10 if (document == 'b') == (t < ahead) else 0)!r} tag-{name}\n"
            for t in topics
            for document in "ab"
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def names_in(value, wanted):
    """Whether a text of some JSON is one of the names wanted."""
    if isinstance(value, dict):
        return set().union(*(names_in(part, wanted) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(names_in(part, wanted) for part in value))
    return {value} & set(wanted) if isinstance(value, str) else set()


def test_all_parts_of_the_page_read_runs_by_the_same_rules(tagged, contents_of_pages):
    qrels, runs = tagged / "qrels.txt", [tagged / "one.run", tagged / "two.run"]
    path = tagged / "r.html"
    for precision in ("single", "double"):
        experiment = confir.Experiment(qrels, runs, ["AP"], name_by="tag", tie_precision=precision)
        scores = confir.evaluate(qrels, runs, ["AP"], name_by="tag", tie_precision=precision)
        confir.write_report(path, experiment, replicates=199)
        contents = contents_of_pages[-1]
        collection = contents["collection"].means
        assert contents["data_quality"].runs == collection.runs == ("tag-one", "tag-two")
        np.testing.assert_allclose(collection.mean[:, 0, 0], scores.mean()[:, 0])
        for part in ("data", "tables", "charts"):
            found = json.loads(packed(path.read_text(), part))
            both = ("tag-one", "tag-two", "one", "two")
            assert names_in(found, both) == {"tag-one", "tag-two"}
    assert len(set(scores.mean()[:, 0])) == 2  # in single precision all ties are broken alike


def test_runs_under_other_names_than_the_scores_are_refused(tagged):
    qrels, runs = tagged / "qrels.txt", [tagged / "one.run", tagged / "two.run"]
    scores = confir.evaluate(qrels, runs, ["AP"], name_by="tag")
    with pytest.raises(InvalidValueError, match="the scores are of tag-one, tag-two, but the runs"):
        confir.write_report(tagged / "r.html", scores, experiment=confir.Experiment(qrels, runs))
    assert not (tagged / "r.html").exists()


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_the_error_of_a_coverage_is_half_its_95_percent_interval(level):
    se = (level * (1 - level) / coverage_section.COVERAGE_SAMPLES) ** 0.5
    points = 100 * stats.norm.ppf(0.975) * se
    contents = SimpleNamespace(settings=SimpleNamespace(level=level))
    assert coverage_section.SECTION.context(contents)["error"] == f"{points:.2g}"


def test_the_page_says_how_exact_a_coverage_is(monkeypatch):
    monkeypatch.setattr(coverage_section, "COVERAGE_SAMPLES", 500)
    # 1.96 √(0.95 · 0.05 / 500) = 1.9 points
    assert "is estimated to within about 1.9 percentage points" in rendered(table())


def test_the_page_of_an_experiment_names_who_made_its_runs_and_what_these_lack(
    tmp_path, contents_of_pages
):
    gains = {str(topic): {"d": 1, "e": 0} for topic in range(4)}
    confir.write_qrels(gains, tmp_path / "qrels.txt")
    metadata = {"best": f"actor:\n  team: {NASTY}\nmethod:\n  name: BM25\n", "worst": "actor: x\n"}
    for name, text in metadata.items():
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        ranked = {topic: {"d": float(name == "best"), "e": 0.5} for topic in gains}
        if name == "worst":
            del ranked["0"]
        confir.write_run(ranked, folder / "run.txt")
        (folder / "ir-metadata.yml").write_text(f"tag: {name}<u>\n{text}")
    path = tmp_path / "r.html"
    experiment = confir.Experiment(tmp_path / "qrels.txt", tmp_path / "runs", "RR")
    with pytest.warns(MissingTopicWarning, match="lacks 1 topic"):
        confir.write_report(path, experiment, replicates=199)
    lacking, *few = contents_of_pages[0].warnings
    assert lacking.startswith("run 'worst<u>' lacks 1 topic (0) of the qrels, scored 0: check")
    assert any(text.startswith("there are 4 topics; with fewer than 25, rankings") for text in few)
    elements = Elements(path.read_text())
    assert [tag for tag, _ in elements.tags].count("u") == 0
    text = "|".join(elements.text)
    assert f"best<u>|{NASTY}|BM25" in text
    assert "worst<u>|x|–" in text


@pytest.mark.parametrize(
    ("files", "title"),
    [
        ((), "3 runs on 20 topics"),
        (("data/qrels.txt", "runs/a.run"), "3 runs on qrels.txt"),
        (("data/qrels=2020.txt",), "3 runs on qrels=2020.txt"),
    ],
)
def test_the_title_is_by_default_what_was_evaluated(several, files, title):
    three = replace(several, scores=table(3, 20))
    assert default_title(three, Origin(files)) == title


def test_the_title_of_datasets_counts_them(several):
    datasets = board_scores(table(3, 15), None, None, "error")
    assert default_title(replace(several, scores=datasets), Origin(("x.csv",))) == (
        "3 runs on 15 datasets"
    )


def test_the_documentation_is_linked_where_the_package_names_its_site(monkeypatch):
    site = Message()
    assert find_documentation("intervals.md#ranks") == [""]
    site["Project-URL"] = "Documentation, https://docs.example/confir/"
    monkeypatch.setattr(page_module, "metadata", lambda _: site)
    assert find_documentation("intervals.md#ranks") == [
        "https://docs.example/confir/intervals.html#ranks"
    ]
    assert '<a href="https://docs.example/confir/coverage.html">Documentation</a>' in rendered(
        table()
    )
