#!/bin/sh
# Regenerate reference_values/*.json, by R with the packages that README.md names; PYTHON runs confir.
set -eu
cd "$(dirname "$0")"
mkdir -p reference_values
"${PYTHON:-python3}" sample_scores.py
for script in *.R; do
    [ "$script" = write_reference.R ] || Rscript --vanilla "$script"
done
