"""Reduced grids of cases: `make test` covers each value of each parameter."""


def values(cases):
    """The values that some cases have, by parameter."""
    return {name: {case[name] for case in cases} for name in cases[0]}


def test_every_value_of_a_grid_is_tried_by_a_case_that_is_not_slow(grids):
    for test, grid in grids.items():
        assert values(grid.chosen) == values(grid.cases), test
