"""Names that a stub lists, each imported on first use: ``import confir`` should not wait for numpy.

The stub, ``X.pyi`` beside ``X.py``, is the one list of public names. Type checkers read it as such; what
``from MODULE import NAME as NAME`` says there is what happens here.
"""

from __future__ import annotations

from importlib import import_module

# What was found in stubs; functools would take longer to load than all else here.
_listed: dict[str, dict[str, str]] = {}


def listed_names(stub: str) -> dict[str, str]:
    """Return the module of each name that a stub of confir imports, in alphabetical order."""
    if stub not in _listed:
        _listed[stub] = _read_names(stub)
    return _listed[stub]


def _read_names(stub: str) -> dict[str, str]:
    import ast
    import pkgutil

    text = pkgutil.get_data("confir", stub) or b""
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    homes = {name.name: node.module or "" for node in imports for name in node.names}
    return dict(sorted(homes.items()))


def load_name(stub: str, name: str) -> object:
    """Return the object that a stub names: part of a module, or a module of confir itself."""
    home = listed_names(stub)[name]
    if home == "confir":
        return import_module(f"confir.{name}")
    return getattr(import_module(home), name)
