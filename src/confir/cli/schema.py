"""``confir schema``: what the records hold, as a JSON Schema for programs in any language."""

from __future__ import annotations

from importlib.resources import files


def schema_text() -> str:
    """Return the schema of all records, as JSON."""
    return files("confir.cli").joinpath("schema.json").read_text(encoding="utf-8")


def schema_command() -> None:
    """Print the JSON Schema of all JSON output; its version is part of it.

    Example: `confir schema > confir.schema.json`
    """
    from confir.cli.streams import print_text

    print_text(schema_text())
