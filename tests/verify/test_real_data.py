"""All of the real collections; the tests of every commit use some runs of each."""

from data.test_collections import verify
from data.test_trec_files import check_that_runs_are_read, real_files
from reference.test_official_scores import reproduce_trec_covid


def test_all_collections_are_complete(real_data):
    outcome = verify(real_data)
    assert outcome.returncode == 0, outcome.stdout
    assert outcome.stdout.count(": complete\n") == 10


def test_real_runs_are_read(real_data):
    paths = real_files(real_data, "*/runs/*") + real_files(real_data, "*/test/results*")
    alike = real_files(real_data, "trec-covid-r5/runs/*")
    paths = [path for path in paths if path not in alike] + alike[::8]
    assert len(paths) >= 40
    check_that_runs_are_read(paths)


def test_trec_covid_leaderboard_is_reproduced(real_data):
    reproduce_trec_covid(real_data / "trec-covid-r5", step=1, number=74)
