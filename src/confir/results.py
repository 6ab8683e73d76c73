"""The classes that functions of confir return, such as Comparison and Plan, for annotations.

`results.pyi` lists them; each is imported on first use.
"""

from __future__ import annotations

from confir.lazy_names import listed_names, load_name

_STUB = "results.pyi"


def __getattr__(name: str) -> object:
    if name == "__all__":
        return list(listed_names(_STUB))
    if name.startswith("_") or name not in listed_names(_STUB):
        raise AttributeError(f"module 'confir.results' has no attribute {name!r}")
    globals()[name] = value = load_name(_STUB, name)
    return value


def __dir__() -> list[str]:
    return list(listed_names(_STUB))
