# Power of the paired t test, and topics for a given power.

suppressPackageStartupMessages(library(pwr))
source("write_reference.R")

cases <- list()
for (effect in c(0.1, 0.2, 0.5, 1)) {
  for (topics in c(5, 10, 50, 200)) {
    for (level in c(0.9, 0.95, 0.99)) {
      found <- pwr.t.test(n = topics, d = effect, sig.level = 1 - level, type = "paired")
      cases[[paste("power", effect, topics, level)]] <- list(
        effect = effect, topics = topics, level = level, power = found$power
      )
    }
  }
  needed <- pwr.t.test(d = effect, power = 0.8, sig.level = 0.05, type = "paired")
  cases[[paste("topics", effect)]] <- list(effect = effect, needed = ceiling(needed$n))
}
write_reference("pwr", "pwr", cases)
