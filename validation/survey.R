# Means of topics in clusters and strata, with weights: svymean, also with known shares of the strata.

suppressPackageStartupMessages(library(survey))
source("write_reference.R")

topics <- data.frame(
  score = scatter(48, 21),
  weight = round(0.5 + 2 * scatter(48, 90), 3),
  one = 1,
  even = rep(1:12, each = 4),
  uneven = rep(1:12, times = c(1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7)),
  stratum = rep(1:4, each = 12)
)
topics$uneven_stratum <- ceiling(topics$uneven / 3)
topics$score <- round(topics$score / 2 + scatter(12, 33)[topics$uneven] / 2, 6)

case <- function(cluster = NULL, stratum = NULL, weight = "one") {
  ids <- if (is.null(cluster)) ~1 else reformulate(cluster)
  strata <- if (is.null(stratum)) NULL else reformulate(stratum)
  design <- svydesign(ids = ids, strata = strata, weights = reformulate(weight), data = topics, nest = TRUE)
  mean <- svymean(~score, design)
  found <- list(
    scores = topics$score, weight = topics[[weight]], mean = as.numeric(coef(mean)),
    se = as.numeric(SE(mean)), df = degf(design)
  )
  if (!is.null(cluster)) found$cluster <- topics[[cluster]]
  if (!is.null(stratum)) {
    found$stratum <- topics[[stratum]]
    totals <- aggregate(topics[[weight]], list(topics[[stratum]]), sum)
    names(totals) <- c(stratum, "Freq")
    known <- postStratify(design, reformulate(stratum), totals)
    found$se_known_shares <- as.numeric(SE(svymean(~score, known)))
  }
  found
}

cases <- list(
  topics = case(),
  weights = case(weight = "weight"),
  clusters = case(cluster = "even"),
  uneven_clusters = case(cluster = "uneven"),
  weighted_clusters = case(cluster = "uneven", weight = "weight"),
  strata = case(stratum = "stratum"),
  strata_of_clusters = case(cluster = "even", stratum = "stratum"),
  strata_of_uneven_clusters = case(cluster = "uneven", stratum = "uneven_stratum"),
  weighted_strata = case(stratum = "stratum", weight = "weight"),
  weighted_strata_of_clusters = case(cluster = "even", stratum = "stratum", weight = "weight")
)
write_reference("survey", "survey", cases)
