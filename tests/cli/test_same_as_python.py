"""What a command prints is what Python gives for the same input and the default seed."""

import pytest

import confir

WORDS = ("--quiet", "--method", "t")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("topic,a_1,b\n1,0.25,0.5\n2,0.375,0.25\n3,0.5,0.625\n4,0.125,0.5\n")
    return path


def test_print_shows_what_the_command_prints(confir_command, table):
    code, out, _ = confir_command("evaluate", "--scores", table, *WORDS)
    assert code == 0
    assert f"{confir.confidence_interval(table, method='t')}\n" == out


@pytest.mark.parametrize("options", [{}, {"decimals": 2}])
def test_markdown_is_that_of_the_command(confir_command, table, options):
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    _, out, _ = confir_command("evaluate", "--scores", table, *WORDS, "--format", "md", *words)
    assert confir.confidence_interval(table, method="t").to_markdown(**options) == out


@pytest.mark.parametrize(
    "options", [{}, {"width": "column", "intervals": "stacked", "decimals": 2}, {"width": "page"}]
)
def test_latex_is_that_of_the_command(confir_command, table, options):
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    _, out, _ = confir_command("evaluate", "--scores", table, *WORDS, "--format", "tex", *words)
    assert confir.confidence_interval(table, method="t").to_latex(**options) == out
