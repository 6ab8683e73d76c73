"""Commands, options and fields named in the text of pages exist."""

import json
import re

import pytest

from confir.cli.commands import COMMANDS, build_command
from confir.cli.schema import schema_text
from documentation.test_pages import CASES, PAGES, SKILL


@pytest.fixture(scope="module")
def options():
    """The options of each command, by its name."""
    return {
        name: {option for parameter in build_command(name).params for option in parameter.opts}
        for name in COMMANDS
    }


@pytest.mark.parametrize("page", PAGES + CASES, ids=lambda page: page.name)
def test_commands_and_options_within_text_exist(page, options):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for named in re.findall(r"`(confir [^`]+)`", text):
        command, *words = named.replace("\\", "").split()[1:]
        if command in options:
            given = {re.match(r"--[a-z-]+", word)[0] for word in words if word.startswith("--")}
            assert given <= options[command] | {"--help", "--help-all"}, named
        else:
            assert command in {"--help", "--version", "COMMAND", "…"}, named


def test_fields_that_the_skill_names_are_those_of_the_schema():
    kinds = json.loads(schema_text())["$defs"]
    rows = re.findall(
        r"^\| `[^|]+ \| ([\w-]+) \| (`.*) \|$", SKILL.read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) == 6
    for kind, fields in rows:
        assert set(re.findall(r"`(\w+)`", fields)) <= set(kinds[kind]["properties"]), kind
