# Variance components of balanced tables by REML: those of the analysis of variance if all are above 0.

suppressPackageStartupMessages(library(lme4))
source("write_reference.R")

exact <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhobeg = 0.1, rhoend = 1e-12, maxfun = 1e6))
components <- function(formula, data) {
  fit <- suppressWarnings(lmer(formula, data, REML = TRUE, control = exact))
  found <- as.data.frame(VarCorr(fit))
  setNames(as.list(found$vcov), found$grp)
}

crossed <- function(values) {
  table <- expand.grid(topic = seq_len(nrow(values)), system = seq_len(ncol(values)))
  table$score <- as.vector(values)
  table
}

average_precision <- sample_scores("AP")
small <- matrix(scatter(60, 11), 10, 6) + rep(c(0, 1, 2, 0, 1, 3) / 4, each = 10) + rep(1:10, 6) / 10

# systems x topics x repeats, the repeats nested in systems
repeated <- expand.grid(topic = 1:9, repeats = 1:3, system = 1:5)
repeated$score <- with(
  repeated,
  2 * scatter(5, 300)[system] + scatter(9, 400)[topic] + scatter(45, 500)[9 * (system - 1) + topic] +
    scatter(15, 600)[3 * (system - 1) + repeats] + 0.5 * scatter(135, 700)
)

cases <- list(
  sample = list(
    measure = "AP",
    components = components(score ~ 1 + (1 | system) + (1 | topic), crossed(average_precision))
  ),
  small = list(
    scores = small, components = components(score ~ 1 + (1 | system) + (1 | topic), crossed(small))
  ),
  repeats = list(
    shape = c(5, 3, 9), scores = repeated$score,
    components = components(
      score ~ 1 + (1 | system) + (1 | topic) + (1 | system:topic) + (1 | system:repeats), repeated
    )
  )
)
write_reference("lme4", "lme4", cases)
