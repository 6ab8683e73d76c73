# Pooled effects: random effects by three estimators of tau^2, with normal and Hartung-Knapp limits.

suppressPackageStartupMessages(library(metafor))
source("write_reference.R")

risk_ratios <- escalc(
  measure = "RR", ai = tpos, bi = tneg, ci = cpos, di = cneg, data = metadat::dat.bcg
)
teachers <- metadat::dat.raudenbush1985
events <- escalc(
  measure = "OR", ai = ai, n1i = n1i, ci = ci, n2i = n2i, data = metadat::dat.egger2001, add = 0.5
)
datasets <- list(
  bcg = risk_ratios,
  teachers = teachers,
  magnesium = events,
  scattered = list(yi = scatter(8, 3), vi = 0.02 + 0.1 * scatter(8, 40)),
  alike = list(yi = 0.3 + 0.001 * scatter(6, 7), vi = 0.05 + scatter(6, 70))
)

tight <- list(
  DL = list(),
  PM = list(tol = 1e-12, maxiter = 1000),
  REML = list(threshold = 1e-13, maxiter = 10000, stepadj = 0.5)
)

pool <- function(data, method, test) {
  fit <- rma(yi = data$yi, vi = data$vi, method = method, test = test, control = tight[[method]])
  predicted <- predict(fit)
  list(
    tau2 = fit$tau2, effect = as.numeric(fit$beta), se = fit$se, low = fit$ci.lb, high = fit$ci.ub,
    p = fit$pval, q = fit$QE, q_p = fit$QEp, i2 = fit$I2 / 100,
    predicted_low = predicted$pi.lb, predicted_high = predicted$pi.ub
  )
}

cases <- lapply(datasets, function(data) {
  fixed <- rma(yi = data$yi, vi = data$vi, method = "FE")
  models <- list(fixed = list(
    effect = as.numeric(fixed$beta), se = fixed$se, low = fixed$ci.lb, high = fixed$ci.ub,
    p = fixed$pval, q = fixed$QE, q_p = fixed$QEp
  ))
  for (method in names(tight)) {
    models[[method]] <- pool(data, method, "z")
    models[[paste0(method, "+knha")]] <- pool(data, method, "knha")
  }
  list(effects = as.numeric(data$yi), variances = as.numeric(data$vi), models = models)
})
write_reference("metafor", c("metafor", "metadat"), cases)
