"""What the columns of score tables are taken for: right by their names and cells, or refused with what settles it."""

import itertools
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import confir
from confir.data.tables.column_names import ROLE_NAMES, is_no_score, is_reserved, preference
from confir.errors import ConfirWarning, FormatError, InvalidValueError, ReadingWarning

MODELS, ITEMS, JUDGES = ("gpt", "claude"), ("q1", "q2", "q3"), ("j1", "j2")
MEANS = {"gpt": 0.25, "claude": 0.75}


def table(names, rows):
    return pd.DataFrame(list(rows), columns=names.split(","))


def by_model(names="model,id,score"):
    rows = [
        (m, i, MEANS[m] + step)
        for m in MODELS
        for i, step in zip(ITEMS, (-0.1, 0, 0.1), strict=True)
    ]
    return table(names, rows)


def wide(names="id,gpt,claude"):
    return table(
        names, [(i, 0.25 + s, 0.75 + s) for i, s in zip(ITEMS, (-0.1, 0, 0.1), strict=True)]
    )


def judged():
    cells = itertools.product(MODELS, ITEMS, JUDGES)
    return table(
        "model,id,judge,score", [(m, i, j, MEANS[m] + (j == "j2") / 8) for m, i, j in cells]
    )


def forms(frame, folder):
    """A table in every form in which it may come."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_json(folder / "t.json", orient="records")
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "t.parquet", index=False)
    paths = [folder / f"t{ending}" for ending in (".csv", ".tsv", ".json", ".jsonl", ".parquet")]
    return [*paths, frame, pl.from_pandas(frame)]


def read_quietly(source, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        return confir.read_scores(source, **how)


def means(scores):
    return {
        run: dict(zip(scores.measures, row, strict=True))
        for run, row in zip(scores.runs, scores.mean().round(12).tolist(), strict=True)
    }


RUNS = {name: {"score": mean} for name, mean in MEANS.items()}
READ: dict[str, Any] = {
    "an id and a column per run": (wide(), RUNS),
    "the text of topics beside their ids": (wide().assign(question=["a b", "c d", "e f"]), RUNS),
    "a number of the item": (wide().assign(num_docs=[3, 1, 2], latency_ms=[0.5, 0.25, 0.1]), RUNS),
    "a run of a name": (by_model("provider,question_id,value"), RUNS),
    "runs by two names": (by_model().assign(provider=["A"] * 3 + ["B"] * 3), RUNS),
    "one judge": (by_model("variant,Test Case,Score").assign(judge="j1"), RUNS),
    "text and numbers that are no scores": (
        by_model("arm,instance_id,score").assign(answer="yes", cost_usd=0.1, tokens=range(6)),
        RUNS,
    ),
    "numbers of rows": (by_model("model,question,score").assign(id=range(6)), RUNS),
    "a scorer": (
        by_model("system,sample_id,score").assign(scorer="tone"),
        {name: {"tone": mean} for name, mean in MEANS.items()},
    ),
    "measures of one run": (
        wide("user_input,faithfulness,answer_relevancy").assign(response="a", reference="b"),
        {None: {"faithfulness": 0.25, "answer_relevancy": 0.75}},
    ),
    "measures of runs": (
        by_model("pipeline,query_id,P@10").assign(latency=0.5, category="x"),
        {name: {"P@10": mean} for name, mean in MEANS.items()},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_certain_table_is_read_alike_in_every_form(tmp_path, name):
    frame, expected = READ[name]
    for source in forms(frame, tmp_path):
        found = means(read_quietly(source))
        own = {next(iter(found)): expected[None]} if None in expected else expected
        assert found == {run: pytest.approx(one) for run, one in own.items()}, source


REFUSED = {
    "judges": (judged(), "--columns run=model,topic=id,measure=judge,value=score"),
    "repeats": (judged().rename(columns={"judge": "seed"}), "repeat=seed,value=score"),
    "turns": (
        judged().replace({"j1": 1, "j2": 2}).rename(columns={"judge": "turn"}),
        "measure=turn",
    ),
    "two names of runs": (
        judged().rename(columns={"judge": "method"}),
        "columns 'model' and 'method' may each hold the runs",
    ),
    "a row per model": (by_model().head(4).iloc[::3, [0, 2]], "confir leaderboard --means"),
    "a row per measure": (table("metric,score", [("AP", 0.5), ("RR", 0.4)]), "leaderboard --means"),
    "models in the rows": (wide("model,AP,RR"), "confir leaderboard --means"),
    "no topics": (by_model().drop(columns="id"), "no column of topics"),
    "rows of their own": (by_model().assign(id=range(6)), "no two runs of 'model' share a topic"),
    "measures and others": (wide("id,faithfulness,warmth"), "id,value=faithfulness,"),
    "names that end in score": (
        wide("id,gpt_score,own_score"),
        "topic=id,run=gpt_score,run=own_score",
    ),
    "answers of one system": (
        wide("id,warmth,tact").assign(answer="a"),
        "topic=id,value=warmth,value=tact",
    ),
    "a column of text": (wide("Size,gpt,claude"), "--columns topic=Size,run=gpt,run=claude"),
    "unknown numbers": (
        by_model("model,id,AP").assign(hops=[1, 2, 3, 2, 1, 5]),
        "run=model,topic=id,value=AP",
    ),
    "steps of training": (
        table("Step,a,a__MIN,a__MAX", [(n, 0.5, 0.4, 0.6) for n in range(3)]),
        "no column of topics",
    ),
    "an item's numbers": (wide("id,gpt,diff"), "do not look like runs"),
    "two scores": (
        by_model("model,id,value").assign(lift=[1, 2, 3, 2, 1, 5]),
        "may all hold scores",
    ),
    "numbers of rows as a run": (
        table("id,line,gpt", [(f"q{n}", n, (n % 7) / 7) for n in range(20)]),
        "--columns topic=line,run=gpt",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_uncertain_table_is_refused_with_what_settles_it(tmp_path, name):
    frame, message = REFUSED[name]
    for source in forms(frame, tmp_path):
        with pytest.raises(FormatError) as error:
            read_quietly(source)
        assert message in str(error.value), source
        assert len(str(error.value)) < 900


@pytest.mark.parametrize(
    "name", ["judges", "repeats", "names that end in score", "measures and others"]
)
def test_the_columns_of_a_message_read_the_table(tmp_path, name):
    frame, _ = REFUSED[name]
    path = forms(frame, tmp_path)[0]
    with pytest.raises(FormatError) as error:
        read_quietly(path)
    lines = re.findall(r"--columns (\S+?)(?=[,)]?(?:\s|$))", str(error.value))
    assert lines
    for line in lines:
        scores = read_quietly(path, columns=line)
        assert np.isfinite(scores.mean()).all()


def test_judges_that_are_measures_have_their_own_means(tmp_path):
    path = forms(judged(), tmp_path)[0]
    found = means(confir.read_scores(path, columns="run=model,topic=id,measure=judge,value=score"))
    assert found == {m: pytest.approx({"j1": own, "j2": own + 1 / 8}) for m, own in MEANS.items()}
    seeds = judged().rename(columns={"judge": "seed"})
    repeated = confir.read_scores(seeds, columns="run=model,topic=id,repeat=seed,value=score")
    assert set(repeated.runs) == {f"{m}@{j}" for m in MODELS for j in JUDGES}
    assert repeated.mean().ravel() == pytest.approx(
        [MEANS[run.partition("@")[0]] + run.endswith("j2") / 8 for run in repeated.runs]
    )


def test_columns_that_are_not_used_are_named(tmp_path):
    frame = by_model().assign(answer="yes", tokens=3)
    path = forms(frame, tmp_path)[0]
    with pytest.warns(ReadingWarning, match=r"t\.csv: not used: columns answer, tokens$"):
        confir.read_scores(path)


@pytest.mark.parametrize(
    ("cells", "expected", "said"),
    [
        (("True", "False", "true"), (1, 0, 1), "True is read as 1"),
        (("50%", "25 %", ""), (0.5, 0.25, None), "percentages are read as shares"),
        (('"0,5"', '"0,25"', '"1"'), (0.5, 0.25, 1), "commas are read as decimal points"),
        (('"1,234.5"', '"2,000.0"', "3.0"), (1234.5, 2000, 3), "thousands separators"),
        (("7", "-1", "9"), (7, None, 9), "-1 is taken for a missing score"),
        (("0.5", "error", "1"), (0.5, None, 1), "'error' is taken for a missing score"),
        (("-0.5", "-1", "1"), (-0.5, -1, 1), None),
        (("0", "-1", "1"), (0, -1, 1), None),
    ],
)
def test_cells_as_spreadsheets_and_judges_write_them(tmp_path, cells, expected, said):
    path = tmp_path / "t.csv"
    path.write_text("topic,score\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = confir.read_scores(path)
    found = scores.values[:, 0, 0]  # noqa: PD011 - Scores, not a frame
    np.testing.assert_allclose(found, [np.nan if x is None else x for x in expected])
    messages = [str(one.message) for one in caught]
    assert len(messages) == (said is not None)
    assert all(said in message for message in messages)


@pytest.mark.parametrize("cells", [('"1,234"', '"2,345"'), ("50%", "0.5"), ("True", "2")])
def test_cells_that_are_not_certain_are_an_error(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text("topic,score\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    with pytest.raises(FormatError, match="is not a finite number"):
        confir.read_scores(path)


def test_rows_of_separators_alone_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("topic,a,b\n1,0.5,0.25\n,,\n2,1,0.75\n,,\n")
    assert confir.read_scores(path).topics == ("1", "2")
    path.write_text("topic,a,b\n1,0.5,0.25\n,0.5,\n")
    with pytest.raises(FormatError, match=r":3: topic '' is not an id"):
        confir.read_scores(path)


def test_a_name_before_a_file_of_scores_names_its_run(tmp_path):
    for name, score in (("a", 0.5), ("b", 0.75)):
        (tmp_path / f"{name}.csv").write_text(f"topic,score\n1,{score}\n2,0.25\n")
    scores = confir.read_scores([f"mine={tmp_path / 'a.csv'}", f"its={tmp_path / 'b.csv'}"])
    assert scores.runs == ("mine", "its")
    assert scores.mean().ravel().tolist() == [0.375, 0.5]
    (tmp_path / "two.csv").write_text("topic,x,y\n1,0.5,0.25\n")
    with pytest.raises(InvalidValueError, match="holds 2 runs"):
        confir.read_scores(f"mine={tmp_path / 'two.csv'}")


def test_every_name_has_one_role_and_is_never_a_run():
    for role, names in ROLE_NAMES.items():
        for name in names:
            others = [other for other in ROLE_NAMES if preference(other, name) is not None]
            assert others == [role], name
            assert is_reserved(name)
    assert not any(map(is_no_score, ("bm25", "dense", "systems", "items", "rrf_ms_marco")))
