"""The compiled reader of large TREC runs; it gives way to the tolerant one where it must."""
