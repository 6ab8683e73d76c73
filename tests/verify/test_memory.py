"""Memory at sizes that take minutes; smaller sizes are tested with their modules."""

import pytest

from data import test_stored_lists
from requirements import ON_LINUX
from studies import test_summarised_scores


@ON_LINUX
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_memory_does_not_grow_up_to_ten_million_topics(tmp_path, layout):
    assert test_summarised_scores.growth_of_memory(tmp_path, layout, 10_000_000) < 150


@ON_LINUX
def test_memory_does_not_grow_with_many_lists_on_disk(tmp_path):
    stored, held = test_stored_lists.growth_of_memory(tmp_path, 3_000)
    assert stored < 60 < held, (stored, held)
