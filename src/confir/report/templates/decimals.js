"use strict";
// A number that the page makes itself, written as confir.report.numbers writes it: a score, or
// a difference with its sign. All other numbers come as texts.
function decimals(value, { sign = false } = {}) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (sign && size < 1e-12) return "0.0000";
  const before = value < 0 ? "-" : sign ? "+" : "";
  // Digits that four decimals would hide; exponents have two digits.
  if (sign && size < 0.00005) return before + size.toExponential(0).replace(/-(\d)$/, "-0$1");
  const digits = size < 10 ? 4 : 1;
  const scale = 10 ** digits;
  // Half of the last digit is rounded to even, where toFixed rounds it up: such numbers are odd
  // multiples of 1/32 for four decimals, and of 1/4 for one.
  const half = (size * (digits === 4 ? 32 : 4)) % 2 === 1;
  const below = Math.floor(size * scale);
  return before + (half ? (below + (below % 2)) / scale : size).toFixed(digits);
}
