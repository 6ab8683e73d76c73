"""Checks as JUnit XML, which continuous integration shows as tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from confir.control_characters import without_controls


class Check(NamedTuple):
    """A test.

    Attributes
    ----------
    name, said
        Its name, and what it found.
    passes, kind
        Whether it passes, and what kind of failure it would be.
    why
        Why it fails, where that is more than what it found.
    """

    name: str
    said: str
    passes: bool
    kind: str
    why: str = ""


class Suite(NamedTuple):
    """Checks by one measure, and what is to be known before their outcome."""

    name: str
    measure: str
    checks: Sequence[Check]
    cautions: Sequence[str] = ()


def suites_to_junit(suites: Sequence[Suite]) -> bytes:
    """Return suites as a file of JUnit XML."""
    root = ET.Element("testsuites", name="confir")
    for suite in suites:
        part = ET.SubElement(root, "testsuite", name=without_controls(suite.name))
        part.attrib |= {"errors": "0", "skipped": "0", "tests": str(len(suite.checks))}
        part.set("failures", str(sum(not check.passes for check in suite.checks)))
        if suite.cautions:
            properties = ET.SubElement(part, "properties")
            for caution in suite.cautions:
                text = without_controls(caution)
                ET.SubElement(properties, "property", name="caution", value=text)
        for check in suite.checks:
            said, why = map(without_controls, (check.said, check.why))
            names = {"classname": suite.measure, "name": check.name}
            cleaned = {key: without_controls(text) for key, text in names.items()}
            case = ET.SubElement(part, "testcase", cleaned)
            if not check.passes:
                failure = ET.SubElement(case, "failure", type=check.kind, message=why or said)
                failure.text = said if why else None
            ET.SubElement(case, "system-out").text = said
    for name in ("tests", "failures"):
        root.set(name, str(sum(int(part.get(name, 0)) for part in root)))
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
