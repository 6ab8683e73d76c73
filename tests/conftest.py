"""Fixtures that all tests share: the folder of real data, and a cluster."""

import gc
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from durations import Durations, Stopwatch
from requirements import missing_requirement, required
from strategies import NEW_EXAMPLES

REPOSITORY = Path(__file__).resolve().parent.parent

# The same examples at every run, unless CONFIR_EXAMPLES asks for so many new ones of every property. On a busy
# machine an example may take long, and so may drawing it.
settings.register_profile(
    "confir",
    settings.get_profile("default"),
    max_examples=NEW_EXAMPLES or 40,
    derandomize=not NEW_EXAMPLES,
    database=None,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("confir")


class Grid(NamedTuple):
    """The cases of a test as values of its parameters: all of them, and those that are not slow."""

    cases: list[dict[str, str]]
    chosen: list[dict[str, str]]


GRIDS = pytest.StashKey[dict[str, Grid]]()


def pytest_configure(config):
    # One thread for matrix products, as the command line has: the workers share the cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Not in the user's folder, but kept: bundling the scripts of a page takes seconds.
    os.environ["XDG_CACHE_HOME"] = str(REPOSITORY / "build" / "cache")
    config.pluginmanager.register(Stopwatch())
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(REPOSITORY / "build" / "durations.txt"))


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    """Leave all but some cases of a large grid to `make test-slow`: `@pytest.mark.every(3)`."""
    for marker in item.iter_markers("every"):
        grid = item.session.stash.setdefault(GRIDS, {}).setdefault(
            item.nodeid.partition("[")[0], Grid([], [])
        )
        case = {name: repr(value) for name, value in item.callspec.params.items()}
        if len(grid.cases) % marker.args[0]:
            item.add_marker(pytest.mark.slow)
        else:
            grid.chosen.append(case)
        grid.cases.append(case)


@pytest.fixture
def grids(request) -> dict[str, Grid]:
    """The grids of tests that are marked `every`, by the tests' names."""
    return request.session.stash.get(GRIDS, {})


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with what takes long, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish():
    """Let the garbage collector pass over what is there for good: thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Use one worker more than there are cores: some wait for the browser, or for processes."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let one worker run all tests of a file, which share fixtures."""
    from xdist.scheduler import LoadScopeScheduling

    class ByScope(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    config.option.loadscopereorder = False  # the order is that of the tests
    return ByScope(config, log)


# What compiles the kernels that numba keeps in files: half of the work each.
KERNELS = (
    ["confir.data.trec_kernel:load_kernel"],
    [
        "confir.intervals.count_kernels:compile_kernels",
        "confir.resampling.document_kernels:compile_kernels",
        "confir.resampling.key_kernels:compile_kernel",
        "confir.resampling.maxima_kernels:compile_kernels",
    ],
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes():
    """Compile the kernels that are not in files yet, or else each worker would."""
    code = "import sys, pkgutil\nfor name in sys.argv[1:]: pkgutil.resolve_name(name)()"
    for process in [subprocess.Popen([sys.executable, "-c", code, *names]) for names in KERNELS]:
        process.wait()


WITH_CLUSTER = ("tests/test_scheduler.py", "tests/data/test_scheduled_tables.py")
# What takes longest: the browser, the pages of the documentation, and the cluster.
LONG = ("tests/browser/", "tests/documentation/test_pages.py", *WITH_CLUSTER)


def scope_of(nodeid: str) -> str:
    """Return what tests share, which one worker runs: the browser, the cluster, or else the file."""
    if nodeid.startswith("tests/browser/"):
        return "browser"
    if nodeid.startswith(WITH_CLUSTER):
        return "cluster"
    return file_of(nodeid)


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real TREC and NTCIR data: CONFIR_DATA, else data/ in the checkout."""
    named = os.environ.get("CONFIR_DATA", REPOSITORY / "data")
    if not named:
        pytest.skip("CONFIR_DATA is empty: there are no real data here")
    folder = Path(named)
    if not folder.is_dir():
        missing_requirement(f"no real data at {folder}; set CONFIR_DATA")
    return folder


# Samples by which the coverage of intervals is simulated for a page.
COVERAGE_SAMPLES = 40


@pytest.fixture(autouse=True, scope="session")
def few_samples():
    """Simulate the coverage of intervals by few samples: what pages show of them is as large."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COVERAGE_SAMPLES", "COVERAGE_REPLICATES"):
            patch.setattr(f"confir.studies.coverage.section.{name}", COVERAGE_SAMPLES)
        yield


@pytest.fixture(scope="session")
def once_per_run(tmp_path_factory, worker_id) -> Callable[[str, Callable[[Path], object]], Path]:
    """A function that makes a folder, once for all workers: from its name and what fills it."""
    own = tmp_path_factory.getbasetemp()
    alone = worker_id == "master" or sys.platform == "win32"  # which has no such locks
    shared = own if alone else own.parent

    def made(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = shared / f"once-{name}", shared / f"once-{name}.done"
        with nullcontext() if alone else locked(shared / f"once-{name}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of one that failed to fill it
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return made


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that other processes wait for, until the block or the process ends."""
    import fcntl

    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# A cluster lives as long as the tests, and profiles itself fifty times a second by default.
QUIET = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.worker.profile.enabled": False,
}


@pytest.fixture(scope="session")
def cluster():
    """The address of a scheduler of two processes, which gives up a task that ended two of them."""
    distributed, dask = required("distributed"), required("dask")
    options = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1, **QUIET}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as started,
    ):
        yield started.scheduler_address
