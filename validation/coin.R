# Exact signed-rank and sign tests of paired scores, with ties and zeros.

suppressPackageStartupMessages(library(coin))
source("write_reference.R")

exact_tests <- function(first, second) {
  list(
    wilcoxon = as.numeric(pvalue(wilcoxsign_test(
      second ~ first, distribution = "exact", zero.method = "Wilcoxon"
    ))),
    sign = as.numeric(pvalue(sign_test(second ~ first, distribution = "exact"))),
    # stats::wilcox.test on unrounded scores: equal differences may differ in the last bit
    wilcox_test = suppressWarnings(wilcox.test(second, first, paired = TRUE)$p.value)
  )
}

cases <- list()
for (measure in c("P@10", "AP")) {
  scores <- sample_scores(measure)
  for (pair in pairs_of(colnames(scores))) {
    first <- scores[, pair[1]]
    second <- scores[, pair[2]]
    found <- exact_tests(first, second)
    if (measure == "P@10") {  # tenths as whole numbers, so that ties are ties
      whole <- exact_tests(round(10 * first), round(10 * second))
      found[c("wilcoxon", "sign")] <- whole[c("wilcoxon", "sign")]
    }
    cases[[paste(measure, pair[1], pair[2])]] <- c(
      list(measure = measure, first = pair[1], second = pair[2]), found
    )
  }
}
write_reference("coin", "coin", cases)
