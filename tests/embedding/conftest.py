"""Tests with MTEB, sentence-transformers and PyTerrier, in a separate environment.

`make test-embedding` makes it and runs them; elsewhere, a file whose packages are missing is left out.
"""

from importlib.util import find_spec

_PACKAGES = {
    "test_embedding_libraries.py": ("mteb", "sentence_transformers"),
    "test_pyterrier.py": ("pyterrier",),
}
collect_ignore = [name for name, packages in _PACKAGES.items() if not all(map(find_spec, packages))]
