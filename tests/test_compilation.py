"""Kernels are compiled if possible, and otherwise replaced."""

import sys

from confir.compilation import compile_with_numba


def double(number):
    return 2 * number


def build(numba, compiled):
    return compiled(double, numba.int64)


def test_a_kernel_is_compiled_for_its_types():
    kernel = compile_with_numba(build)
    assert kernel(21) == 42
    assert len(kernel.signatures) == 1


def test_without_numba_there_are_no_kernels(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compile_with_numba(build) is None


def test_numba_switched_off_counts_as_missing(monkeypatch):
    import numba

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert compile_with_numba(build) is None


def test_kernels_are_compiled_without_a_cache_where_none_can_be_kept(monkeypatch):
    import numba

    asked = []

    def njit(_types, *, cache, **_options):
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda kernel: kernel

    monkeypatch.setattr(numba, "njit", njit)
    assert compile_with_numba(build) is double
    assert asked == [True, False]


def test_where_numba_cannot_be_imported_nothing_is_compiled(monkeypatch):
    def fail(_):
        raise FileNotFoundError("the folder at hand is gone")

    monkeypatch.setattr("importlib.import_module", fail)
    assert compile_with_numba(lambda *_: "kernels") is None
