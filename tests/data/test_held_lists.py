"""The distinct documents of topics are those that numpy finds, by a table or by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.ranked_lists import held_lists
from confir.data.ranked_lists.held_lists import index_distinct
from strategies import examples

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=40)


@pytest.mark.parametrize("share", [0, 1 << 20])
@given(pairs=PAIRS)
@examples(100)
def test_distinct_documents_are_those_of_numpy(share, pairs):
    topics, documents = np.array(pairs, np.int64).reshape(-1, 2).T
    expected = np.unique(topics * 31 + documents, return_inverse=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_lists, "_TABLE_SHARE", share)
        found = index_distinct(topics, documents, 31)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
