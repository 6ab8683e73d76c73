"""Pages of reports cost less here."""

import pytest

from confir.studies.coverage import section

COVERAGE_SAMPLES = 40


@pytest.fixture(autouse=True, scope="package")
def few_samples():
    """Simulate the coverage of intervals by few samples: what is shown of them is as large."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COVERAGE_SAMPLES", "COVERAGE_REPLICATES"):
            patch.setattr(section, name, COVERAGE_SAMPLES)
        yield
