"use strict";
// Formats a number as confir.number_text does: a score, or a signed difference. The page computes
// these itself: differences between any two runs on every topic, whose texts would take 4.2 MB per
// measure for 130 runs and 50 topics (the scores take 78 kB), and medians of the runs that match the
// filter. All other numbers come formatted.
function decimals(value, { sign = false } = {}) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (sign && size < 1e-12) return "0.0000";
  const before = value < 0 ? "-" : sign ? "+" : "";
  // Digits that four decimals would hide; exponents have two digits.
  if (sign && size < 0.00005) return before + size.toExponential(0).replace(/-(\d)$/, "-0$1");
  const digits = size < 10 ? 4 : 1;
  const scale = 10 ** digits;
  // Exact halves are rounded to even, but toFixed rounds them up: such numbers are odd
  // multiples of 1/32 for four decimals, and of 1/4 for one.
  const half = (size * (digits === 4 ? 32 : 4)) % 2 === 1;
  const below = Math.floor(size * scale);
  const [whole, rest] = (half ? (below + (below % 2)) / scale : size).toFixed(digits).split(".");
  return before + whole.replace(/\B(?=(\d{3})+$)/g, ",") + "." + rest;
}
// A round number on a scale, without what floating-point arithmetic added to it.
const tickText = (tick) => (Math.abs(tick) < 1e-12 ? "0" : String(Number(tick.toPrecision(6))).replace("-", "−"));
