"""Tests with a local Spark session, in a separate environment.

`make test-spark` makes it and runs them; elsewhere, where pyspark is missing, they are left out.
"""

import os
import sys
from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("pyspark") else ["test_spark_evaluation.py"]


@pytest.fixture(scope="session")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    yield started
    started.stop()
