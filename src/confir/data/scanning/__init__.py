"""The compiled reader of large TREC runs; irregular files are left to the reference reader."""
