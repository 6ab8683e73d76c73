"""Writer of constraints.txt: the package versions that `make demo` and `make test` install.

    make lock

pip chooses the newest versions that are compatible with each other and with the oldest Python that
confir supports; they also work with newer ones. It must run on that Python. The embedding libraries
have a separate environment, and are not in the file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "constraints.txt"
EXTRAS = "all,spark"
GROUPS = ("test", "check", "docs", "peers", "fuzz", "spark")
TOOLS = ("pip>=25.1", "build")  # which the Makefile installs too
HEADER = """\
# Versions that `make demo`, `make test`, `make check` and `make docs` install; `make lock` renews them.
"""


def resolve(python: Path) -> dict[str, str]:
    """Return the versions that pip would install into an empty environment, by name."""
    groups = [word for group in GROUPS for word in ("--group", group)]
    wanted = [f".[{EXTRAS}]", *TOOLS, *groups]
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, "--upgrade", TOOLS[0]], check=True)
    asked = [*pip, "--dry-run", "--ignore-installed", "--report", "-", *wanted]
    printed = subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    found = (entry["metadata"] for entry in json.loads(printed)["install"])
    return {normalised(one["name"]): one["version"] for one in found}


def normalised(name: str) -> str:
    """Return the name of a package as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Write the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    at_hand = f"{sys.version_info.major}.{sys.version_info.minor}"
    if at_hand != oldest:
        raise SystemExit(
            f"this is Python {at_hand}; expected {oldest}: make lock PYTHON=python{oldest}"
        )
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        versions = resolve(Path(folder) / "bin" / "python")
    del versions["confir"]
    lines = [f"{name}=={version}\n" for name, version in sorted(versions.items())]
    LOCK.write_text(HEADER + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
