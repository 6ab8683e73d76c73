# Kappa of two judges, plain and with quadratic weights.

suppressPackageStartupMessages(library(vcd))
source("write_reference.R")

first <- floor(4 * scatter(80, 5))
second <- pmin(3, pmax(0, first + floor(3 * scatter(80, 205)) - 1))
table <- table(factor(first, 0:3), factor(second, 0:3))
found <- Kappa(table, weights = "Fleiss-Cohen")
cases <- list(judges = list(
  first = first, second = second,
  kappa = found$Unweighted[["value"]], weighted_kappa = found$Weighted[["value"]]
))
write_reference("vcd", "vcd", cases)
