"""The names that a chart writes next to its axes."""

import json


def names_of(channel, part="axis"):
    """The names of an axis, a legend or a header, in their order."""
    listed = channel[part]["labelExpr"].removeprefix("slice(").removesuffix("[datum.value], 1)")
    return [name.removeprefix("=") for name in json.loads(listed)]


def without_numbers(records):
    """Records of a chart without the places of their names."""
    return [{k: v for k, v in r.items() if not k.endswith("_number")} for r in records]
