# Reliability as intraclass correlations, whose limits come from F; kappa of two judges.

suppressPackageStartupMessages(library(psych))
source("write_reference.R")

reliability <- function(scores, level) {
  # rows are what is measured, here systems; columns are topics
  found <- ICC(t(scores), lmer = FALSE, alpha = 1 - level)$results
  row <- function(type) found[found$type == type, ]
  list(
    level = level,
    relative = row("ICC3k")$ICC, relative_low = row("ICC3k")[["lower bound"]],
    relative_high = row("ICC3k")[["upper bound"]],
    absolute = row("ICC2k")$ICC
  )
}

small <- matrix(scatter(60, 11), 10, 6) + rep(c(0, 1, 2, 0, 1, 3) / 4, each = 10) + rep(1:10, 6) / 10
first <- floor(4 * scatter(80, 5))
second <- pmin(3, pmax(0, first + floor(3 * scatter(80, 205)) - 1))
kappa <- cohen.kappa(cbind(first, second))

cases <- list(
  sample = c(list(measure = "AP"), reliability(sample_scores("AP"), 0.95)),
  small = c(list(scores = small), reliability(small, 0.9)),
  judges = list(
    first = first, second = second, kappa = kappa$kappa, weighted_kappa = kappa$weighted.kappa
  )
)
write_reference("psych", "psych", cases)
