"""Gates as JUnit XML, which continuous integration shows as tests: one per measure and candidate."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from confir.control_characters import without_controls
from confir.studies.comparison.gate import Gate


def gates_to_junit(gates: Sequence[Gate]) -> bytes:
    """Return the gates as a file of JUnit XML; a candidate that fails is a failed test."""
    root = ET.Element("testsuites", name="confir")
    for gate in gates:
        failed = sum(not candidate.passes for candidate in gate.candidates)
        name = without_controls(f"{gate.measure} against {gate.baseline}")
        suite = ET.SubElement(root, "testsuite", name=name, errors="0", skipped="0")
        suite.set("tests", str(len(gate.candidates)))
        suite.set("failures", str(failed))
        for candidate in gate.candidates:
            case = ET.SubElement(
                suite,
                "testcase",
                classname=without_controls(gate.measure),
                name=without_controls(candidate.run),
            )
            said = without_controls(candidate.decision.sentence)
            if not candidate.passes:
                why = without_controls(gate.failure(candidate))
                ET.SubElement(case, "failure", type=gate.require, message=why).text = said
            ET.SubElement(case, "system-out").text = said
    for name in ("tests", "failures"):
        root.set(name, str(sum(int(suite.get(name, 0)) for suite in root)))
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
