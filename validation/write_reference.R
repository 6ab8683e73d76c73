# Reference values as JSON: what made them, and named cases with their inputs and results.

suppressPackageStartupMessages(library(jsonlite))

write_reference <- function(name, packages, cases) {
  versions <- sapply(packages, function(one) as.character(packageVersion(one)))
  made_by <- c(list(R = paste(R.version$major, R.version$minor, sep = ".")), as.list(versions))
  path <- file.path("reference_values", paste0(name, ".json"))
  text <- toJSON(list(made_by = made_by, cases = cases), auto_unbox = TRUE, digits = NA, pretty = 1)
  text <- gsub("(?<=[\\[,])\\s+(?=-?[0-9])", "", text, perl = TRUE)  # numbers of one list in one line
  writeLines(gsub("(?<=[0-9])\\s+\\]", "]", text, perl = TRUE), path)
}

# Numbers in [0, 1) that look random and are a formula: the same on every machine that reads the JSON.
scatter <- function(count, start = 1) {
  value <- sin(12.9898 * (start + seq_len(count))) * 43758.5453
  round(value - floor(value), 6)
}

# Scores of confir's sample collection, topics x runs, as sample_scores.py wrote them.
sample_scores <- function(measure) {
  table <- read.csv(file.path("inputs", paste0("sample_", measure, ".csv")), check.names = FALSE)
  as.matrix(table[, -1])
}

pairs_of <- function(runs) {
  if (length(runs) < 2) stop("expected at least two runs")
  combn(runs, 2, simplify = FALSE)
}
