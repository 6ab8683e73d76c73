"""Reading time grows linearly with the input, not quadratically, whatever its bytes.

No test has a limit in seconds: operations are counted, or processor time at four times the size is
compared with that at one. The limit is a factor of twelve: linear time would give four, quadratic sixteen.
"""

import json
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confir
from confir.data.effect_files import read_effects
from confir.data.formats import entries, json_files
from confir.data.formats.exclusion_files import as_exclusions
from confir.data.formats.run_metadata import read_metadata
from confir.data.formats.sources import as_runs, recognise
from confir.data.run import pick
from confir.errors import ConfirError, ConfirWarning
from confir.measures.parsing import canonical_name, parse_measures
from confir.report.messages import like
from confir.report.report_page import unbroken

SIZE = 12_000


def repeated(text, before="", after=""):
    """A function from a size to a text of about that size, mostly of repetitions."""
    return lambda size: before + text * (size // len(text)) + after


def numbered(line, before=""):
    """A function from a size to lines, each with a number of its own."""
    return lambda size: before + "".join(line.format(i) for i in range(size // (len(line) + 4)))


def attempt(read, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        try:
            read(*given)
        except ConfirError as error:
            assert "\n" not in str(error)  # noqa: PT017


def assert_linear(read, make):
    """Processor time grows by at most twelve times where the input grows by four."""

    def seconds(size):
        given = make(size)
        taken = []
        for _ in range(3):
            start = time.process_time()
            attempt(read, given)
            taken.append(time.process_time() - start)
        return min(taken)

    noise = 0.004  # of a clock, and of what does not grow
    assert seconds(4 * SIZE) < 12 * max(seconds(SIZE), noise)


JSON = {
    "escaped quotes": repeated('\\"', '{"'),
    "open texts": repeated('"a', "{"),
    "texts that go on in the next line": repeated('"\\\n', "{"),
    "keys without values": repeated('"a"   ', "{"),
    "blanks": repeated(" ", '{"a"'),
    "objects in objects": repeated('{"a":'),
    "lists in lists": repeated("[", '{"a":'),
    "a key again and again": repeated('"a": 1,', "{", '"a": 1}'),
}


@given(st.binary(max_size=200) | st.text('"\\\\{}[]:, \n\u00e9a1', max_size=200).map(str.encode))
def test_each_byte_of_json_is_part_of_one_token(content):
    """So each character is read once: tokens are possessive, and adjacent."""
    tokens = [token.group() for token in json_files.TOKEN.finditer(content)]
    assert b"".join(tokens) == content


def test_keys_are_found_as_json_has_them():
    held = {
        "a": {'b"{': [{"c": 1}, [{"d": {"deep": 2}}]], "hits": []},
        "e:": "f: {",
        "g": [{"h": {"i": 1}}],
    }
    listed = json_files.LISTED
    text = json.dumps([held, {"other": 1}]).encode()
    assert json_files.key_paths(text) == {
        ("a",),
        ("a", 'b"{'),
        ("a", 'b"{', listed),
        ("a", 'b"{', listed, "c"),
        ("a", "hits"),
        ("a", "hits", listed),
        ("e:",),
        ("g",),
        ("g", listed),
        ("g", listed, "h"),
        ("g", listed, "h", "i"),
    } | {("a", 'b"{', listed, listed), ("a", 'b"{', listed, listed, "d")}


def test_formats_share_one_look_at_the_start_of_a_file():
    json_files._paths_in.cache_clear()
    recognise("x.json", json.dumps({str(i): {"d": 1} for i in range(9)}).encode())
    assert json_files._paths_in.cache_info().misses == 1
    assert json_files._paths_in.cache_info().hits > 4


@pytest.mark.parametrize("name", JSON)
def test_json_is_recognised_or_refused_in_linear_time(tmp_path, name):
    path = tmp_path / "a.json"

    def read(text):
        path.write_text(text)
        attempt(confir.read_run, path)
        attempt(confir.read_scores, path)

    assert_linear(read, JSON[name])


METADATA = {
    "blanks after a key": repeated(" ", "a"),
    "blanks in a value": repeated(" ", "tag: a", "b"),
    "dashes": repeated("- "),
    "open quotes": repeated("a", "'"),
    "names": numbered("actor: n{}\n"),
}


@pytest.mark.parametrize("name", METADATA)
def test_metadata_are_read_in_linear_time(tmp_path, name):
    path = tmp_path / "ir-metadata.yml"

    def read(text):
        path.write_text(text)
        read_metadata(str(path))

    assert_linear(read, METADATA[name])


TABLES = {
    "runs in a table": (confir.read_qrels, numbered("q{0},d,1\n", "topic,docid,gain\n")),
    "many runs": (confir.read_scores, numbered("r{0},1,1\n", "run,topic,score\n")),
    "comments": (confir.read_scores, repeated("#\n", "", "x")),
    "blanks before tabs": (confir.read_scores, repeated(" ", "a", "\t1 0.5\n")),
    "many answers": (
        confir.read_scores,
        numbered(
            '{{"qid": "{0}", "run_id": "{0}", "nuggets": [{{"text": "{0}", "importance": "vital", '
            '"assignment": "support"}}]}}\n'
        ),
    ),
    "many measures": (confir.read_scores, numbered("r{0} m{0} t{0} 0.5\n", "r m all 0.5\n")),
    "many rankings": (confir.read_scores, numbered("t{0} Q0 r{0} 1 0.5 m{0}\n")),
    "many exclusions": (as_exclusions, numbered("t{0} d{0}\n")),
    "text after the tag": (confir.read_run, repeated("1 a ", "1 Q0 d 1 1 t ")),
    "open quotes": (confir.read_scores, repeated('""', "topic,a\n")),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_in_linear_time(tmp_path, name):
    reader, make = TABLES[name]
    path = tmp_path / "a.csv"

    def read(text):
        path.write_text(text)
        reader(path)

    assert_linear(read, make)


def test_the_runs_of_a_table_are_taken_apart_at_once(tmp_path, monkeypatch):
    """Not by a look at all rows for each run: what is looked at is counted."""
    looked_at = []
    monkeypatch.setattr(
        entries,
        "pick",
        lambda names, places: looked_at.append(len(names)) or pick(names, places),
    )
    rows = "".join(f"r{i % 40},t{i},d,1\n" for i in range(200))
    (tmp_path / "a.csv").write_text("run,topic,docid,score\n" + rows)
    assert len(as_runs(str(tmp_path / "a.csv"))) == 40
    assert sum(looked_at) == 2 * 200


NAMES = {
    "digits": repeated("1", "P", "x"),
    "a cutoff": repeated("1", "P@"),
    "blanks in a parameter": repeated(" ", "nDCG(dcg=a", "(x)"),
    "parameters": numbered("a{}=1,", "AP("),
    "brackets": repeated("(", "AP"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_measures_are_parsed_in_linear_time(name):
    assert_linear(canonical_name, NAMES[name])
    assert_linear(parse_measures, NAMES[name])


def test_texts_of_pages_and_warnings_are_searched_in_linear_time():
    assert_linear(unbroken, repeated("["))
    assert_linear(unbroken, repeated("[a, "))
    assert_linear(like, repeated("("))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (confir.read_scores, numbered("r{0},m{0},t{0},1\n", "run,measure,topic,score\n")),
        (confir.read_scores, numbered("P_{0} t{0} 0.5\n")),
        (read_effects, numbered("s{0},0.1,0.2,m{0}\n", "study,effect,se,measure\n")),
        (
            confir.read_published_means,
            numbered("r{0},m{0},0.1,0.2,9\n", "run,measure,mean,se,topics\n"),
        ),
    ],
    ids=["long", "lines", "effects", "means"],
)
def test_a_table_that_would_be_almost_empty_is_refused_before_it_fills_memory(tmp_path, read, text):
    path = tmp_path / "a.txt"
    path.write_text(text(100_000))
    with pytest.raises(ConfirError, match=f"^{path}: .* of which almost all would be missing"):
        read(path)


def test_a_sparse_table_is_read(tmp_path):
    rows = "".join(f"r{i % 5},t{i},1\n" for i in range(500))
    (tmp_path / "a.csv").write_text("run,topic,score\n" + rows)
    assert confir.read_scores(tmp_path / "a.csv").values.shape == (500, 5, 1)
