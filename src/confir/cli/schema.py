"""``confir schema``: what the records hold, as a JSON Schema for programs in any language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from typing import Any

from confir.cli.views import Views, schema_views
from confir.studies import STUDIES


def schema_text() -> str:
    """Return the schema of all records, as JSON, with the kinds of records of every view."""
    text = files("confir.cli").joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    views = schema_views(declared_views())
    ordered = {"$defs": schema.pop("$defs")}  # last, since they are long
    return json.dumps({**schema, "views": views, **ordered}, indent=1, ensure_ascii=False) + "\n"


def declared_views() -> Iterator[tuple[str, Views]]:
    """Yield the views of all commands that have some."""
    for study in STUDIES:
        if study.commands:
            views = getattr(import_module(study.module("command")), "VIEWS", None)
            if views is not None:
                yield from ((command, views) for command in study.commands)


def schema_command() -> None:
    """Print the JSON Schema of all JSON output; its version is part of it.

    Example: `confir schema > confir.schema.json`
    """
    from confir.cli.streams import print_text

    print_text(schema_text())
