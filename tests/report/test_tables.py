"""Tables in every format, with all text escaped."""

import ast
import io
import re
import unicodedata
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table as RichTable

import confir
from confir.control_characters import without_controls
from confir.data.scores import Scores
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import name_methods
from confir.intervals.method_list import METHODS
from confir.measures.measure_list import MEASURES
from confir.report.latex import to_latex
from confir.report.latex_text import escape_latex
from confir.report.messages import isolated
from confir.report.records import format_result, write_result
from confir.report.tables import (
    Cell,
    Table,
    escape_markdown,
    to_html,
    to_markdown,
    to_text,
)
from confir.studies.comparison.table import marked_table, verdicts_by_run
from confir.studies.means.table import design_note, interval_table, mean_table, topic_table

HOSTILE = "<b>&_%$#{}~^\\|`*\"'"


@pytest.fixture
def scores():
    values = np.array([[[0.1, 3.0], [0.5, 4.0]], [[0.3, 5.0], [0.7, 6.0]]])
    return Scores(("1", "2"), ("low", "high"), ("AP", "NumRet"), values)


def test_best_run_comes_first_and_the_best_of_each_measure_stands_out(scores):
    table = mean_table(scores)
    assert [row[0].text for row in table.rows] == ["high", "low"]
    assert table.rows[0][1] == Cell("0.6000", strong=True)
    assert table.rows[1][1] == Cell("0.2000")


def test_intervals_stand_in_brackets_after_the_mean(scores):
    interval = confir.confidence_interval(scores.select(measure=["AP"]), method="t")
    (first, _) = interval_table([interval]).rows
    low, high = interval.low[1, 0], interval.high[1, 0]
    assert first[1].text == f"0.6000 [{low:.4f}, {high:.4f}]"


def test_the_note_names_means_outside_their_own_intervals(scores):
    interval = confir.confidence_interval(scores, method="t")
    assert "contain" not in interval_table(interval).note
    low = interval.low.copy()
    low[0, 1] = interval.estimate[0, 1] + 0.01
    note = interval_table(replace(interval, low=low)).note
    assert note.endswith("; the interval by t does not contain the mean of low NumRet")


@pytest.fixture
def tied():
    """Runs of which two have the same mean but for rounding, the first has no score at all."""
    values = np.array([[np.nan, 0.1, 0.2, 0.3], [np.nan, 0.2, 0.0, 0.2], [np.nan, 0.3, 0.2, 0.1]])
    scores = Scores(("1", "2", "3"), ("none", "a", "low", "b"), ("AP",), values[:, :, None])
    assert scores.mean()[1, 0] != scores.mean()[3, 0]
    return scores


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_runs_that_tie_for_the_best_both_stand_out_and_one_without_scores_is_last(tied):
    for table in (mean_table(tied), interval_table([confir.confidence_interval(tied, method="t")])):
        rows = {row[0].text: row[1].strong for row in table.rows}
        assert rows == {"a": True, "b": True, "low": False, "none": False}
        assert list(rows)[2:] == ["low", "none"]


def test_notes_count_one_topic(scores):
    assert mean_table(scores).note == "means over 2 topics"
    one = Scores(("1",), scores.runs, scores.measures, scores.values[:1])
    assert mean_table(one).note == "means over 1 topic"


@pytest.fixture
def uneven(scores):
    """Run low lacks the second topic by NumRet."""
    values = scores.values.copy()
    values[1, 0, 1] = np.nan
    return Scores(scores.topics, scores.runs, scores.measures, values)


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_a_column_counts_topics_where_runs_differ_in_them(uneven):
    interval = confir.confidence_interval(uneven, method="t")
    for table in (mean_table(uneven), interval_table([interval])):
        assert table.columns == ("run", "topics", "AP", "NumRet")
        assert {row[0].text: row[1].text for row in table.rows} == {"high": "2", "low": "2, 1"}
        assert table.names == 1
    assert mean_table(uneven).note == "means over 1 to 2 topics"


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_no_mean_over_fewer_topics_stands_out_as_the_best(uneven):
    interval = confir.confidence_interval(uneven, method="t")
    for table in (mean_table(uneven), interval_table([interval])):
        assert [row[2].strong for row in table.rows] == [True, False]
        assert [row[3].strong for row in table.rows] == [False, False]


def test_scores_by_topic_have_a_row_for_every_run_and_topic(scores):
    table = topic_table(scores)
    assert [(row[0].text, row[1].text) for row in table.rows] == [
        ("low", "1"),
        ("low", "2"),
        ("high", "1"),
        ("high", "2"),
    ]


def test_text_from_input_is_escaped_everywhere():
    table = Table(("run", HOSTILE), ((Cell(HOSTILE), Cell("0.5", strong=True)),), HOSTILE)
    html = to_html(table)
    assert "<b>" not in html
    assert html.count("&lt;b&gt;&amp;") == 3
    latex = to_latex(table)
    body = [line for line in latex.splitlines() if not line.startswith("%")]
    unescaped = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}", "", "\n".join(body))
    assert not re.search(r"[%$#_~^]", unescaped)
    markdown = to_markdown(table)
    assert r"\<b\>" in markdown
    assert r"\|" in markdown
    assert all(line.count("|") - line.count(r"\|") == 3 for line in markdown.splitlines()[:3])


def test_latex_has_booktabs_and_bold_for_the_best(scores):
    latex = to_latex(mean_table(scores))
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrr}"):
        assert part in latex
    assert r"\textbf{0.600}" in latex


def test_latex_shows_the_note_below_the_table_in_lines_no_wider_than_it():
    note = "mean with 95% interval by t, over 50 topics of a_b & c; " * 4
    latex = to_latex(Table(("run", "AP"), ((Cell("x"), Cell("0.5")),), note))
    body, below = latex.split("\\bottomrule\n")
    assert "interval" not in body
    lines = [line for line in below.splitlines() if line.startswith(r"\multicolumn{2}{l}")]
    assert len(lines) == 4
    assert lines[0].startswith(r"\multicolumn{2}{l}{\footnotesize mean with 95\% interval")
    assert r"a\_b \& c" in below
    assert all(line.endswith(r"} \\") for line in lines)


@pytest.mark.parametrize(("mark", "packages"), [("", "booktabs"), ("▲", "booktabs pifont")])
def test_latex_names_the_packages_that_it_needs(mark, packages):
    first = to_latex(Table(("run", "AP"), ((Cell("x"), Cell("0.5", mark=mark)),))).splitlines()[0]
    assert first.startswith("% needs ")
    assert re.findall(r"usepackage\{(\w+)\}", first) == packages.split()


@pytest.mark.parametrize("name", ["[2pt]", "*"])
def test_latex_does_not_take_a_name_for_an_option_of_the_line_before(name):
    latex = to_latex(Table((name, "AP"), ((Cell(name), Cell("0.5")),)))
    rows = [line for line in latex.splitlines() if "&" in line]
    assert len(rows) == 2
    assert all(row.startswith("{}" + name) for row in rows)


MARKED = Table(
    ("run", "AP"),
    (
        (Cell("good"), Cell("0.5", strong=True, mark="▲")),
        (Cell("base"), Cell("0.4")),
        (Cell("bad"), Cell("0.3", mark="▼")),
    ),
)


def test_marks_follow_numbers_which_stay_aligned():
    assert to_text(MARKED).splitlines() == [
        "run      AP",
        "good  0.5 ▲",
        "base  0.4",
        "bad   0.3 ▼",
    ]
    assert "| **0.5** ▲ |" in to_markdown(MARKED)
    latex = to_latex(MARKED)
    assert r"good & \textbf{0.5}\rlap{\textsuperscript{\ding{115}}} \\" in latex
    assert r"bad & 0.3\rlap{\textsuperscript{\ding{116}}} \\" in latex
    assert r"base & 0.4 \\" in latex


def test_marks_are_words_to_those_who_hear_a_page():
    html = to_html(MARKED)
    assert '<strong>0.5</strong><sup role="img" aria-label="better than the baseline"' in html
    assert '0.3<sup role="img" aria-label="worse than the baseline"' in html
    assert html.count("<sup") == 2


@pytest.fixture
def compared():
    """Runs against a baseline: clearly better, clearly worse by AP alone, and the same but noise."""
    rng = np.random.default_rng(1)
    base = rng.random((40, 2)) / 4 + 0.3
    noise = rng.normal(0.0, 0.01, (40, 2))
    worse = base + rng.normal([-0.1, 0.0], 0.01, (40, 2))
    values = np.stack([base, base + 0.1 + noise, worse, base + noise - noise.mean(axis=0)], axis=1)
    names = ("base", "good", "bad", "same")
    scores = Scores(tuple(f"{t:02}" for t in range(40)), names, ("AP", "RR"), values)
    return scores, confir.compare_runs(scores, baseline="base")


def test_runs_significantly_better_or_worse_than_the_baseline_are_marked(compared):
    scores, comparison = compared
    intervals = confir.confidence_interval(scores, method=["t", "percentile"], rng=1)
    for table in (mean_table(scores), interval_table(intervals)):
        marks = {
            row[0].text: [c.mark for c in row[-2:]] for row in marked_table(table, comparison).rows
        }
        assert marks == {"good": ["▲", "▲"], "bad": ["▼", ""], "same": ["", ""], "base": ["", ""]}


def test_the_note_says_what_the_marks_mean(compared):
    scores, comparison = compared
    note = marked_table(mean_table(scores), comparison).note
    assert note == (
        "means over 40 topics; ▲ ▼ significantly better, worse than base: t test, "
        "simultaneous 95% interval, 3 pairs with base"
    )
    single = confir.compare_runs(scores, baseline="base", correction="holm")
    assert marked_table(mean_table(scores), single).note.endswith(
        "worse than base: t test, Holm's correction, 95% interval by t (of each pair alone)"
    )
    pair = scores.select(run=["base", "good"])
    alone = marked_table(mean_table(pair), confir.compare_runs(pair, baseline="base", level=0.9))
    assert alone.note.endswith("worse than base: t test, 90% interval by t")


def test_marks_need_a_baseline(compared):
    scores, _ = compared
    with pytest.raises(confir.errors.InvalidValueError, match="need a baseline"):
        verdicts_by_run(confir.compare_runs(scores.select(run=["base", "good"])))


def test_a_mark_in_the_note_is_a_sign_in_latex_too():
    latex = to_latex(Table(("run",), ((Cell("x"),),), "▲ ▼ better, worse"))
    assert r"\ding{115} \ding{116} better, worse" in latex


HOSTILE_NAMES = ["<script>alert(1)</script>", "a_b&c%", "&lt;b&gt;", "$x$"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_shown_and_not_obeyed(name):
    table = Table(("run", "AP"), ((Cell(name), Cell("0.5", mark="▲")),), f"worse than {name}")
    html = to_html(table)
    assert "<script>" not in html
    assert re.findall(r'row">(.*?)</th>', html) == [escape(name)]
    markdown = to_markdown(table).splitlines()[2].split(" | ")[0].removeprefix("| ")
    assert re.sub(r"\\(.)", r"\1", markdown) == name
    assert not re.search(r"(?<!\\)([<>$_]|&\w+;)", markdown)
    latex = next(line for line in to_latex(table).splitlines() if "0.5" in line)
    cell = latex.split(" & 0.5")[0]
    assert not re.search(r"(?<!\\)[&%$_<>]", cell)


def test_signs_that_turn_the_direction_of_writing_are_replaced_and_letters_are_kept():
    name = "\u202eevil\u2066"
    table = Table(("run", "AP"), ((Cell(name), Cell("0.5")), (Cell("שלום"), Cell("0.4"))), name)
    shown = dict.fromkeys((to_text, to_markdown, to_html), "\N{REPLACEMENT CHARACTER}")
    for form, sign in (shown | {to_latex: "?"}).items():
        text = form(table)
        assert "\u202e" not in text
        assert text.count(f"{sign}evil{sign}") == 2
        assert "שלום" in text


SOURCE = Path(confir.__file__).parent


def own_texts():
    """The texts that confir may show in a table: all but those of the data layer and of help pages."""
    for layer in ("measures", "intervals", "studies", "report", "cli"):
        for path in {*(SOURCE / layer).rglob("*.py")} - {*SOURCE.glob("cli/help_*.py")}:
            nodes = list(ast.walk(ast.parse(path.read_text())))
            alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            yield from (
                node.value
                for node in nodes
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in alone
            )
    # Of the docstrings, these are shown.
    yield from (measure.summary for measure in MEASURES.values())
    yield from (method.summary for method in METHODS.values())


def test_every_sign_of_our_own_texts_compiles_in_plain_latex():
    signs = {sign for text in own_texts() for sign in text if not sign.isascii()}
    signs = {sign for sign in signs if unicodedata.name(sign, "")}  # no text, but ranges of signs
    assert {"±", "²", "τ", "ρ", "–", "→"} <= signs
    letters = {sign for sign in signs if unicodedata.name(sign).startswith("LATIN")}
    assert {sign for sign in signs - letters if not escape_latex(sign).isascii()} == set()


def test_mathematical_signs_are_mathematics_in_latex():
    assert escape_latex("τ² ± 1 …") == r"$\tau$\textsuperscript{2} $\pm$ 1 \ldots{}"
    assert escape_latex("A→B") == r"A$\to$B"


def test_terminals_are_not_sent_control_characters_by_notes():
    assert "\x1b" not in to_text(Table(("run",), ((Cell("x"),),), "worse than \x1b[2J"))


def test_isolates_stay_around_names_in_sentences_alone():
    assert without_controls("a \u2068b\u2069 c", keep_isolates=True) == "a \u2068b\u2069 c"
    for broken in ("\u2068b", "b\u2069", "\u2068b\u202e\u2069", "\u2068a\u2068b\u2069"):
        assert "\ufffd" in without_controls(broken, keep_isolates=True)
    assert "\u202e" not in without_controls("\u2068b\u202e\u2069", keep_isolates=True)
    name = "\N{HEBREW LETTER ALEF}\u2069\n"
    assert isolated(name) == "\u2068\N{HEBREW LETTER ALEF}\ufffd\ufffd\u2069"
    hidden = "\u2068bm25\u2069"  # which would read as bm25
    table = Table(("run",), ((Cell(hidden),),), f"beats {hidden}", names=1)
    for text in (to_text(table), to_markdown(table), to_html(table)):
        assert "\ufffdbm25\ufffd" in text
        assert f"beats {hidden}" in text


SCRIPTS = Table(
    ("name", "wide 日本", "n"),
    (
        (Cell("日本語"), Cell("0.5", strong=True), Cell("–")),
        (Cell("e\u0301a"), Cell("12.25"), Cell("")),
        (Cell(""), Cell("0.1"), Cell("▲ ▼", strong=True)),
    ),
    names=1,
)


@pytest.mark.parametrize("table", [SCRIPTS, Table((), ()), Table(("run", "AP"), ())])
def test_lines_padded_by_hand_are_those_of_rich(table):
    rows = [table.columns, *([cell.text for cell in row] for row in table.rows)]
    made = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, name in enumerate(table.columns):
        made.add_column(name, justify="left" if place < table.names else "right")
    for row in rows[1:]:
        made.add_row(*row)
    stream = io.StringIO()
    Console(file=stream, width=1000, color_system=None, legacy_windows=False).print(made)
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert to_text(table).splitlines() == lines


def test_on_a_terminal_headings_and_the_best_are_bold():
    assert to_text(MARKED, colour=True, width=80).splitlines()[:3] == [
        "\x1b[1mrun\x1b[0m      \x1b[1mAP\x1b[0m",
        "good  \x1b[1m0.5 ▲\x1b[0m",
        "base  0.4",
    ]
    assert "\x1b[1m" in to_text(MARKED, colour=True, width=8)


def test_a_table_is_folded_only_where_it_does_not_fit():
    assert to_text(MARKED, width=11) == to_text(MARKED)
    assert len(to_text(MARKED, width=10).splitlines()) > 4


def test_a_wide_table_is_not_folded_where_there_is_no_terminal():
    table = Table(("run", *(f"measure{i}" for i in range(60))), ((Cell("x"),) + (Cell("1"),) * 60,))
    assert len(to_text(table).splitlines()) == 2
    assert len(to_text(table, width=80).splitlines()) > 2


def test_records_and_tables_agree_in_every_text_format(scores):
    interval = confir.confidence_interval(scores.select(measure=["AP"]), method="t")
    records, table = interval.to_records(), interval_table([interval])
    for kind in ("csv", "tsv", "json", "jsonl"):
        assert repr(records[1]["low"]) in format_result(kind, records, table)
    for kind in ("table", "md", "html"):
        assert f"{records[1]['low']:.4f}" in format_result(kind, records, table)
    low = f"{records[1]['low']:.3f}".replace("-", "$-$")
    assert low in format_result("tex", records, table)


def test_what_is_not_known_is_null_for_programs_and_an_empty_field():
    records, table = [{"run": "a", "mean": np.nan, "low": 0.5}], Table(("run",), ())
    assert format_result("jsonl", records, table) == '{"run": "a", "mean": null, "low": 0.5}\n'
    assert format_result("csv", records, table) == "run,mean,low\na,,0.5\n"


def test_unknown_formats_are_named(scores, tmp_path):
    table = mean_table(scores)
    with pytest.raises(confir.errors.UnknownNameError, match="unknown format 'xls'"):
        format_result("xls", [], table)
    with pytest.raises(confir.errors.UnknownNameError, match=r"table\.xls"):
        write_result(tmp_path / "table.xls", [], table)


def test_results_show_themselves_in_notebooks(scores):
    assert "0.6000" in scores._repr_html_()
    bounded = scores.select(measure=["AP"])
    assert "0.6000 [" in confir.confidence_interval(bounded, method="t")._repr_html_()
    assert "<strong>1</strong>" in confir.rank_runs(bounded, rng=1)._repr_html_()
    assert (
        "may be best: no other run is significantly better"
        in confir.find_best(bounded, rng=1)._repr_html_()
    )


def test_methods_are_named_once_for_each_interval_however_many_runs_there_are(monkeypatch):
    """To name them takes a look at all runs: once per row would grow with the square of the runs."""
    values = np.random.default_rng(1).random((5, 30, 1))
    runs, topics = tuple(f"r{i}" for i in range(30)), tuple("abcde")
    scores = confir.Scores(topics, runs, ("AP",), values)
    intervals = [confir.confidence_interval(scores, method="t", level=one) for one in (0.9, 0.95)]
    named = []

    def counted(given):
        named.append(given)
        return name_methods(given)

    monkeypatch.setattr("confir.intervals.interval.name_methods", counted)
    assert len(interval_table(intervals).rows) == 60
    assert len(named) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@octocat", "@<!-- -->octocat"),
        ("by @octo-cat", "by @<!-- -->octo-cat"),
        ("(@x)", "(@<!-- -->x)"),
        ("@team/x", "@<!-- -->team/x"),
        ("AP(rel=2)@100", "AP(rel=2)@<!-- -->100"),
        ("me@example.org", "me@<!-- -->example.org"),
        ("a_b@c-d.e", r"a\_b@<!-- -->c\-d.e"),
        ("http://x.org", "http:<!-- -->//x.org"),
        ("HTTPS://x.org/a_b", r"HTTPS:<!-- -->//x.org/a\_b"),
        ("ftp://x", "ftp:<!-- -->//x"),
        ("mailto:me@x", "mailto:<!-- -->me@x"),
        ("www.example.org", "www<!-- -->.example.org"),
        ("#12", r"\#<!-- -->12"),
        ("nDCG@10", "nDCG@10"),
        ("P@5, nDCG@10. And", "P@5, nDCG@10. And"),
        ("0.5 [0.4, 0.6]", "0.5 [0.4, 0.6]"),
        ("run:a", "run:a"),
        ("a @ b", "a @ b"),
        ("wwwx", "wwwx"),
    ],
)
def test_names_in_markdown_neither_notify_nor_link(text, expected):
    assert escape_markdown(text) == expected
    assert escape_markdown("a\0b") == "a\ufffdb"


def test_an_empty_cell_of_a_bold_row_has_no_marks_in_markdown():
    table = Table(("run", "gap"), ((Cell("a", strong=True), Cell("", strong=True)),), "")
    assert to_markdown(table).splitlines()[-1] == "| **a** |  |"


def test_a_design_is_worth_an_estimated_number_of_topics_and_never_more_than_there_are():
    values = np.random.default_rng(1).random((60, 2, 1))
    topics = tuple(f"{t:02}" for t in range(60))
    scores = Scores(topics, ("a", "b"), ("AP",), values)
    clusters = {topic: f"c{place % 18}" for place, topic in enumerate(topics)}
    interval = confidence_interval(scores.with_design(clusters))
    notes = [
        design_note([replace(interval, effective=np.array([[low], [high]]))])
        for low, high in ((28.4, 34.8), (41.0, 128.0), (116.0, 128.0))
    ]
    design = "60 topics in 18 clusters"
    assert notes[0] == f"{design}: as precise as an estimated 28 to 35 independent topics"
    assert notes[1] == f"{design}: as precise as an estimated 41 to 60 independent topics"
    assert notes[2] == f"{design}: no loss of precision was seen against 60 independent topics"
