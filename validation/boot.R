# Bootstrap means with their resamples, and the intervals of boot.ci.

suppressPackageStartupMessages(library(boot))
source("write_reference.R")
set.seed(1)

scores <- scatter(20, 51)^2
drawn <- boot(scores, function(x, chosen) mean(x[chosen]), R = 199)
limits <- boot.ci(drawn, conf = 0.9, type = c("perc", "bca"))
influence <- empinf(data = scores, statistic = function(x, w) sum(x * w) / sum(w))
cases <- list(mean = list(
  scores = scores, level = 0.9,
  counts = apply(boot.array(drawn), 1, paste, collapse = " "), replicates = as.numeric(drawn$t),
  acceleration = sum(influence^3) / (6 * sum(influence^2)^1.5),
  percentile = limits$percent[4:5], bca = limits$bca[4:5]
))
write_reference("boot", "boot", cases)
