"""``confir doctor``: what is installed, what is missing, and what each package is for."""

import json
from importlib import metadata

import pytest


def findings(outcome):
    return {record["what"]: record for record in json.loads(outcome.out)}


def test_every_package_is_named_with_its_version(confir_command):
    found = findings(confir_command("doctor", "--format", "json"))
    assert found["confir"]["state"] == metadata.version("confir")
    for package in ("numpy", "scipy", "numba", "altair", "pyarrow", "zstandard"):
        assert found[package]["state"] == metadata.version(package)
    assert found["numpy"]["meaning"] == "needed"
    assert found["engine"]["state"] == "numba"
    assert found["evaluate"]["state"].endswith(" s")


def test_a_missing_package_is_named_with_the_way_to_install_it(confir_command, monkeypatch):
    known = metadata.version

    def version(name):
        if name == "numba":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr("confir.cli.doctor.find_spec", lambda _: None)
    found = findings(confir_command("doctor", "--format", "json"))
    assert found["numba"]["state"] == "missing"
    assert found["numba"]["meaning"].endswith(": pip install 'confir[fast]'")
    assert found["engine"]["state"] == "numpy"


def test_every_extra_is_explained(confir_command):
    extras = set(metadata.metadata("confir").get_all("Provides-Extra")) - {"all"}
    meanings = [
        record["meaning"]
        for record in findings(confir_command("doctor", "--format", "json")).values()
    ]
    from confir.cli.doctor import _BRINGS

    assert extras == set(_BRINGS) - {None}
    assert all(any(meaning.startswith(_BRINGS[extra]) for meaning in meanings) for extra in extras)


def test_the_data_are_looked_for_where_they_are_said_to_be(confir_command, monkeypatch, tmp_path):
    monkeypatch.setenv("CONFIR_DATA", str(tmp_path / "none"))
    assert findings(confir_command("doctor", "--format", "json"))["data"]["state"] == "none"
    (tmp_path / "one").mkdir()
    monkeypatch.setenv("CONFIR_DATA", "")
    monkeypatch.chdir(tmp_path)
    assert findings(confir_command("doctor", "--format", "json"))["data"]["state"] == "none"
    monkeypatch.setenv("CONFIR_DATA", str(tmp_path))
    assert findings(confir_command("doctor", "--format", "json"))["data"]["state"] == "1 collection"


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_there_is_no_chart_of_it(confir_command, tmp_path, ending):
    outcome = confir_command("doctor", "-o", tmp_path / f"found.{ending}")
    assert outcome.code == 2
    assert "there is no chart of a list" in outcome.err
