// Functions of statistics and number theory, to about 1e-13 of their value in double: the gamma function and its kin, incomplete integrals,
// Hurwitz's zeta. Out of line: each is far dearer than a call. Where a function has no value it gives NaN.
#pragma once

namespace weft::kernels {

/// ln |Gamma(x)|.
double LogGamma(double x);

/// The derivative of ln Gamma(x); NaN at its poles 0, -1, ... and at -inf.
double Digamma(double x);

/// The derivative of order n + 1 of ln Gamma(x); n a whole number >= 0, and for n = 0 Digamma.
double Polygamma(double n, double x);

/// The sum of (q + k)^-x over k = 0, 1, ...; inf for x = 1 and at the poles of even x, NaN for x < 1 and for q < 0 unless x is whole.
double Zeta(double x, double q);

/// The lower incomplete gamma function over Gamma(a), 0 to 1; a > 0, x >= 0. Igammac is 1 less it, right also where tiny.
double Igamma(double a, double x);
double Igammac(double a, double x);

/// The derivative of Igamma with respect to a.
double IgammaGradA(double a, double x);

/// How a sample x of the gamma distribution of shape a moves with a, where Igamma(a, x) stays the same.
double GammaSampleGrad(double a, double x);

/// The incomplete beta function over the beta function: from 0 at x = 0 to 1 at x = 1; a, b > 0.
double Betainc(double a, double b, double x);

}  // namespace weft::kernels
