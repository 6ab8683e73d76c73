# Paired t tests and corrections of p-values: base R.

source("write_reference.R")

scores <- sample_scores("AP")
pairs <- pairs_of(colnames(scores))
tests <- lapply(pairs, function(pair) t.test(scores[, pair[2]], scores[, pair[1]], paired = TRUE))
p <- sapply(tests, function(one) one$p.value)
names(p) <- NULL
cases <- list(pairs = list(
  measure = "AP",
  first = sapply(pairs, `[`, 1), second = sapply(pairs, `[`, 2),
  difference = sapply(tests, function(one) as.numeric(one$estimate)),
  low = sapply(tests, function(one) one$conf.int[1]),
  high = sapply(tests, function(one) one$conf.int[2]),
  p = p,
  holm = p.adjust(p, "holm"), bonferroni = p.adjust(p, "bonferroni"), bh = p.adjust(p, "BH")
))
write_reference("stats", "stats", cases)
