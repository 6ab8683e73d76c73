"""What a chart shows: the names next to its axes, and its records."""

import json


def names_of(channel, part="axis"):
    """The names of an axis, a legend or a header, in their order."""
    listed = channel[part]["labelExpr"].removeprefix("slice(").removesuffix("[datum.value], 1)")
    return [name.removeprefix("=") for name in json.loads(listed)]


def without_numbers(records):
    """Records of a chart without the places of their names."""
    return [{k: v for k, v in r.items() if not k.endswith("_number")} for r in records]


def data_of(spec):
    """The records of each data of a chart, checked to be valid JSON, which NaN is not."""
    found = []
    if isinstance(spec, dict):
        for key, part in spec.items():
            found += (
                [json.loads(json.dumps(part["values"], allow_nan=False))]
                if key == "data"
                else data_of(part)
            )
    elif isinstance(spec, list):
        for part in spec:
            found += data_of(part)
    return found


def records_of(spec):
    """All records of a chart."""
    return [record for records in data_of(spec) for record in records]
