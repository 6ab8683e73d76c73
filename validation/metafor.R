# Pooled effects of all data sets of metadat: fixed effect, and random effects by three estimators of tau^2, with
# normal and Hartung-Knapp limits.

suppressPackageStartupMessages({
  library(metafor)
  library(metadat)
})
source("write_reference.R")

# Effect sizes from what studies report; shares of single arms are logits.
odds <- function(ai, n1i, ci, n2i) escalc("OR", ai = ai, n1i = n1i, ci = ci, n2i = n2i)
tables <- function(ai, bi, ci, di) escalc("OR", ai = ai, bi = bi, ci = ci, di = di)
shares <- function(xi, ni) escalc("PLO", xi = xi, ni = ni)
correlations <- function(ri, ni) escalc("ZCOR", ri = ri, ni = ni)
means <- function(m1i, sd1i, n1i, m2i, sd2i, n2i, measure = "SMD") {
  escalc(measure, m1i = m1i, sd1i = sd1i, n1i = n1i, m2i = m2i, sd2i = sd2i, n2i = n2i)
}
rates <- function(x1i, t1i, x2i, t2i) escalc("IRR", x1i = x1i, t1i = t1i, x2i = x2i, t2i = t2i)
given <- function(yi, vi) list(yi = yi, vi = vi)

datasets <- list(
  aloe2013 = with(dat.aloe2013, escalc("PCOR", ti = tval, ni = n, mi = preds, r2i = R2)),
  anand1999 = with(dat.anand1999, odds(ai, n1i, ci, n2i)),
  assink2016 = with(dat.assink2016, given(yi, vi)),
  axfors2021 = with(
    dat.axfors2021, odds(hcq_arm_event, hcq_arm_total, control_arm_event, control_arm_total)
  ),
  bakdash2021 = with(dat.bakdash2021, given(es.z, vi.z)),
  baker2009 = with(dat.baker2009, shares(exac, total)),
  bangertdrowns2004 = with(dat.bangertdrowns2004, given(yi, vi)),
  baskerville2012 = with(dat.baskerville2012, given(smd, se^2)),
  bcg = with(dat.bcg, escalc("RR", ai = tpos, bi = tneg, ci = cpos, di = cneg)),
  begg1989 = with(dat.begg1989, given(yi, vi)),
  berkey1998 = with(dat.berkey1998, given(yi, vi)),
  besson2016 = with(
    dat.besson2016,
    means(exp_mean, exp_se * sqrt(exp_n), exp_n, con_mean, con_se * sqrt(con_n), con_n)
  ),
  bonett2010 = with(dat.bonett2010, escalc("ABT", ai = ai, mi = mi, ni = ni)),
  bornmann2007 = with(dat.bornmann2007, odds(waward, wtotal, maward, mtotal)),
  bourassa1996 = with(dat.bourassa1996, tables(lh.le, lh.re, rh.le, rh.re)),
  cannon2006 = with(dat.cannon2006, odds(ep1t, nt, ep1c, nc)),
  cohen1981 = with(dat.cohen1981, correlations(ri, ni)),
  colditz1994 = with(dat.colditz1994, tables(tpos, tneg, cpos, cneg)),
  collins1985a = with(dat.collins1985a, odds(b.xti, nti, b.xci, nci)),
  collins1985b = with(dat.collins1985b, odds(pre.xti, pre.nti, pre.xci, pre.nci)),
  craft2003 = with(dat.craft2003, correlations(ri, ni)),
  crede2010 = with(dat.crede2010, correlations(ri, ni)),
  curtis1998 = with(dat.curtis1998, means(m1i, sd1i, n1i, m2i, sd2i, n2i, "ROM")),
  dagostino1998 = with(dat.dagostino1998, means(mt, sdt, nt, mc, sdc, nc)),
  damico2009 = with(dat.damico2009, odds(xt, nt, xc, nc)),
  debruin2009 = with(dat.debruin2009, shares(xi, ni)),
  dogliotti2014 = with(dat.dogliotti2014, shares(stroke, total)),
  dong2013 = with(dat.dong2013, shares(death, randomized)),
  dorn2007 = with(dat.dorn2007, odds(x.a, n.a, x.p, n.p)),
  egger2001 = with(dat.egger2001, odds(ai, n1i, ci, n2i)),
  fine1993 = with(dat.fine1993, odds(e1i, nei, c1i, nci)),
  franchini2012 = with(dat.franchini2012, means(y1, sd1, n1, y2, sd2, n2, "MD")),
  frank2008 = with(
    dat.frank2008, tables(bc.ins.ins, bc.ins.del + bc.del.del, ct.ins.ins, ct.ins.del + ct.del.del)
  ),
  gibson2002 = with(dat.gibson2002, means(m1i, sd1i, n1i, m2i, sd2i, n2i)),
  graves2010 = with(dat.graves2010, odds(ai, n1i, ci, n2i)),
  gurusamy2011 = with(dat.gurusamy2011, shares(death, n)),
  hackshaw1998 = with(dat.hackshaw1998, given(yi, vi)),
  hahn2001 = with(dat.hahn2001, odds(ai, n1i, ci, n2i)),
  hannum2020 = with(dat.hannum2020, shares(xi, ni)),
  hart1999 = with(dat.hart1999, rates(x1i, t1i, x2i, t2i)),
  hartmannboyce2018 = with(dat.hartmannboyce2018, odds(x.nrt, n.nrt, x.ctrl, n.ctrl)),
  hasselblad1998 = with(dat.hasselblad1998, shares(xi, ni)),
  hine1989 = with(dat.hine1989, escalc("RD", ai = ai, n1i = n1i, ci = ci, n2i = n2i)),
  ishak2007 = with(dat.ishak2007, given(y1i, v1i)),
  kalaian1996 = with(dat.kalaian1996, given(yi, vi)),
  kearon1998 = with(dat.kearon1998, shares(tp, np)),
  knapp2017 = with(dat.knapp2017, given(yi, vi)),
  konstantopoulos2011 = with(dat.konstantopoulos2011, given(yi, vi)),
  landenberger2005 = with(
    dat.landenberger2005, tables(n.cbt.rec, n.cbt.non, n.ctrl.rec, n.ctrl.non)
  ),
  laopaiboon2015 = with(dat.laopaiboon2015, odds(ai, n1i, ci, n2i)),
  lau1992 = with(dat.lau1992, odds(ai, n1i, ci, n2i)),
  lee2004 = with(dat.lee2004, odds(ai, n1i, ci, n2i)),
  lehmann2018 = with(dat.lehmann2018, given(yi, vi)),
  li2007 = with(dat.li2007, odds(ai, n1i, ci, n2i)),
  lim2014 = with(dat.lim2014$o_o_unadj, correlations(ri, ni)),
  linde2005 = with(dat.linde2005, odds(ai, n1i, ci, n2i)),
  linde2015 = with(dat.linde2015, odds(resp1, n1, resp2, n2)),
  linde2016 = with(dat.linde2016, given(lnOR, selnOR^2)),
  lopez2019 = with(dat.lopez2019, given(diff, se^2)),
  maire2019 = with(dat.maire2019$dat, given(s1, vars1)),
  mccurdy2020 = with(dat.mccurdy2020, given(yi, vi)),
  mcdaniel1994 = with(dat.mcdaniel1994, correlations(ri, ni)),
  michael2013 = with(dat.michael2013, given(yi, vi)),
  molloy2014 = with(dat.molloy2014, correlations(ri, ni)),
  moura2021 = with(dat.moura2021$dat, correlations(ri, ni)),
  nakagawa2007 = with(dat.nakagawa2007, correlations(Correlation, SampleSize)),
  nielweise2007 = with(dat.nielweise2007, odds(ai, n1i, ci, n2i)),
  nielweise2008 = with(dat.nielweise2008, rates(x1i, t1i, x2i, t2i)),
  normand1999 = with(dat.normand1999, means(m1i, sd1i, n1i, m2i, sd2i, n2i, "MD")),
  obrien2003 = with(dat.obrien2003, shares(cases, total)),
  pagliaro1992 = with(dat.pagliaro1992, shares(xi, ni)),
  pignon2000 = with(dat.pignon2000, given(OmE / V, 1 / V)),
  pritz1997 = with(dat.pritz1997, shares(xi, ni)),
  raudenbush1985 = with(dat.raudenbush1985, given(yi, vi)),
  riley2003 = with(dat.riley2003, given(yi, vi)),
  senn2013 = with(dat.senn2013, escalc("MN", mi = mi, sdi = sdi, ni = ni)),
  stowe2010 = with(dat.stowe2010, means(y1, sd1, n1, y2, sd2, n2, "MD")),
  tannersmith2016 = with(dat.tannersmith2016, given(yi, vi)),
  vanhowe1999 = with(dat.vanhowe1999, tables(non.pos, non.neg, cir.pos, cir.neg)),
  viechtbauer2021 = with(dat.viechtbauer2021, odds(xTi, nTi, xCi, nCi)),
  white2020 = with(dat.white2020, correlations(r, n)),
  woods2010 = with(dat.woods2010, shares(r, N)),
  yusuf1985 = with(dat.yusuf1985, odds(ai, n1i, ci, n2i)),
  scattered = list(yi = scatter(8, 3), vi = 0.02 + 0.1 * scatter(8, 40)),
  alike = list(yi = 0.3 + 0.001 * scatter(6, 7), vi = 0.05 + scatter(6, 70))
)
missing <- setdiff(sub("^dat[.]", "", data(package = "metadat")$results[, "Item"]), names(datasets))
if (length(missing)) stop("no effects of ", paste(missing, collapse = ", "))

# Studies with both numbers, at most the first 200, in seven digits, so that the JSON holds what was pooled.
usable <- function(data) {
  effects <- signif(as.numeric(data$yi), 7)
  variances <- signif(as.numeric(data$vi), 7)
  kept <- head(which(is.finite(effects) & is.finite(variances) & variances > 0), 200)
  list(yi = effects[kept], vi = variances[kept])
}

# Searches end where tau^2 moves by less than this share of the effects' variance.
tight <- function(method, data) {
  scale <- max(1, var(data$yi))
  switch(method,
    DL = list(),
    PM = list(tol = 1e-12 * scale, maxiter = 1000),
    REML = list(threshold = 1e-13 * scale, maxiter = 10000, stepadj = 0.5)
  )
}

pool <- function(data, method, test) {
  control <- tight(method, data)
  fit <- rma(yi = data$yi, vi = data$vi, method = method, test = test, control = control)
  predicted <- predict(fit)
  list(
    tau2 = fit$tau2, effect = as.numeric(fit$beta), se = fit$se, low = fit$ci.lb, high = fit$ci.ub,
    p = fit$pval, q = fit$QE, q_p = fit$QEp, i2 = fit$I2 / 100,
    predicted_low = predicted$pi.lb, predicted_high = predicted$pi.ub
  )
}

cases <- lapply(lapply(datasets, usable), function(data) {
  fixed <- rma(yi = data$yi, vi = data$vi, method = "FE")
  models <- list(fixed = list(
    effect = as.numeric(fixed$beta), se = fixed$se, low = fixed$ci.lb, high = fixed$ci.ub,
    p = fixed$pval, q = fixed$QE, q_p = fixed$QEp
  ))
  for (method in c("DL", "PM", "REML")) {
    models[[method]] <- pool(data, method, "z")
    models[[paste0(method, "+knha")]] <- pool(data, method, "knha")
  }
  list(effects = data$yi, variances = data$vi, models = models)
})
write_reference("metafor", c("metafor", "metadat"), cases)
