"""``confir schema``: what the records hold, as a JSON Schema for programs in any language.

The kinds of records follow from the results of STUDIES that name them, and their columns from what
these results declare. ``records.json`` describes every column once (``kind.column`` where a kind
uses the name for something else), and the kinds that commands compose without such a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from confir.cli.views import Views, schema_views
from confir.studies import STUDIES, Study

if TYPE_CHECKING:
    from confir.data.result import Result

VERSION = "2.0"
_ABOUT = (
    "JSON output is a list of records, JSON Lines one record per line; all records of an output are "
    "of one kind. Ids and names are text. A number that does not exist is null. Later versions may "
    "add kinds and fields; a field that is removed or changes its meaning changes the first number "
    "of the version."
)
# Annotations of fields, and what is written of them; a number that does not exist is null.
_WRITTEN = {
    **dict.fromkeys(("Floats", "float64", "float"), "number"),
    **dict.fromkeys(("Integers", "int64", "int"), "integer"),
    **dict.fromkeys(("Booleans", "bool_", "bool"), "flag"),
    "str": "text",
}
_JSON_TYPES = {"text": "string", "flag": "boolean", "integer": "integer", "number": "number"}


class RecordKind(NamedTuple):
    """A kind of record: its title, its columns with their declared types, and those it may lack."""

    title: str
    columns: Mapping[str, str]
    optional: frozenset[str]


def schema_text() -> str:
    """Return the schema of all records, as JSON, with the kinds of records of every view."""
    declared = json.loads(files("confir.cli").joinpath("records.json").read_text(encoding="utf-8"))
    views = schema_views(declared_views())
    kinds = record_kinds(views, declared["kinds"])
    described = {name: _property(*entry) for name, entry in declared["columns"].items()}
    definitions = {name: _definition(name, kind, described) for name, kind in kinds.items()}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:confir:records:{VERSION}",
        "title": "Records of confir",
        "description": _ABOUT,
        "version": VERSION,
        "type": "array",
        "items": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]},
        "views": views,
        "$defs": {
            "column": {name: one for name, one in described.items() if "." not in name},
            **definitions,
            **declared["files"],
        },
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def declared_views() -> Iterator[tuple[str, Views]]:
    """Yield the views of all commands that have some."""
    for study in STUDIES:
        if study.commands:
            views = getattr(import_module(study.module("command")), "VIEWS", None)
            if views is not None:
                yield from ((command, views) for command in study.commands)


def record_kinds(
    views: Mapping[str, Mapping[str, list[str]]], declared: Mapping[str, Mapping[str, str]]
) -> dict[str, RecordKind]:
    """Return the kinds of records by name, those of results in the order of STUDIES first.

    Parameters
    ----------
    views
        The kinds of records by command and view.
    declared
        What commands add to the records of results, and kinds that they compose themselves.
    """
    kinds: dict[str, RecordKind] = {}
    for study in STUDIES:
        for name, shown in study.results.items():
            kind = study.commands[0] if shown.records is None and study.commands else shown.records
            if kind:
                module, _, result = name.rpartition(".")
                found = _result_kind(study.load(module, result), _commands(kind, study, views))
                kinds[kind] = _either(kinds[kind], found) if kind in kinds else found
    for kind, entry in declared.items():
        title, columns, optional = kinds.get(
            kind, RecordKind(entry.get("title", ""), {}, frozenset())
        )
        always, more = (entry.get(name, "").split() for name in ("columns", "optional"))
        added = dict.fromkeys([*always, *more], "")
        kinds[kind] = RecordKind(title, {**added, **columns}, (optional - {*always}) | {*more})
    return kinds


def _commands(kind: str, study: Study, views: Mapping[str, Mapping[str, list[str]]]) -> str:
    """Return the commands that print a kind of record, as they are typed."""
    printed = [
        f"confir {command} --show {view}"
        for command, of_command in views.items()
        for view, kinds in of_command.items()
        if kind in kinds
    ]
    return ", ".join(printed or [f"confir {command}" for command in study.commands[:1]])


def _result_kind(result: type[Result], commands: str) -> RecordKind:
    """Return the kind of record that a result declares."""
    types: dict[str, str] = {}
    optional = set(result.optional_columns)
    for one in fields(result):
        along, annotation = one.metadata.get("over"), str(one.type)
        if "axis" in one.metadata:
            name = one.metadata["axis"]
            parts = result.label_parts.get(name)
            types |= dict.fromkeys(parts, "") if parts else {name: _written(annotation)}
        elif along is not None:
            name = one.metadata["column"] or one.name
            if along and annotation.endswith(" | None"):  # left out where it is None
                annotation = annotation.removesuffix(" | None")
                optional.add(name)
            types[name] = _written(annotation)
    columns = {name: types.get(name, "") for name in result.record_columns or types}
    about = (result.__doc__ or result.__name__).partition("\n")[0].removesuffix(".")
    title = f"{commands}: {about}" if commands else about
    return RecordKind(title, columns, frozenset(optional) & columns.keys())


def _written(annotation: str) -> str:
    """Return what is written for values of a type, "" where the annotation does not say."""
    known = {_WRITTEN[word] for word in re.findall(r"\w+", annotation) if word in _WRITTEN}
    return known.pop() + (" or null" if "None" in annotation else "") if len(known) == 1 else ""


def _either(one: RecordKind, other: RecordKind) -> RecordKind:
    """Return the kind of records that are one of two; columns that one lacks are optional."""
    apart = one.columns.keys() ^ other.columns.keys()
    return RecordKind(
        one.title, {**other.columns, **one.columns}, one.optional | other.optional | apart
    )


def _definition(name: str, kind: RecordKind, described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a kind of record."""
    properties = {}
    for column, written in kind.columns.items():
        own = described.get(f"{name}.{column}")
        general = described.get(column, {"description": f"{kind.title}."})
        typed = _property(written, general["description"]) if written else general
        narrowed = [typed.get("type"), "null"]  # what is written may lack values of the field
        if column in described and (
            "enum" in general or general["type"] in (typed["type"], narrowed)
        ):
            typed = {"$ref": f"#/$defs/column/{column}"}
        properties[column] = own or typed
    required = [column for column in kind.columns if column not in kind.optional]
    return {"title": kind.title, "type": "object", "required": required, "properties": properties}


def _property(written: Any, description: str) -> dict[str, Any]:
    """Return the schema of a column.

    Parameters
    ----------
    written
        text, flag, integer or number, with "or null"; where the words are few, these, or
        the constant of confir that holds them, as ``pairs.decisions.VERDICTS``; or the schema of an object.
    description
        A sentence that says what the values are.
    """
    if isinstance(written, dict):
        return {"description": description, **written}
    if isinstance(written, list):
        return {"description": description, "enum": written}
    name, null, _ = written.partition(" or null")
    if "." in name:
        module, _, constant = name.rpartition(".")
        words = getattr(import_module(f"confir.{module}"), constant)
        return {
            "description": description,
            "enum": [*(get_args(words) or words), *([None] if null else [])],
        }
    kind = _JSON_TYPES[name]
    nullable = null or name == "number"
    return {"description": description, "type": [kind, "null"] if nullable else kind}


def schema_command() -> None:
    """Print the JSON Schema of all JSON output; its version is part of it.

    Example: `confir schema > confir.schema.json`
    """
    from confir.cli.streams import print_text

    print_text(schema_text())
