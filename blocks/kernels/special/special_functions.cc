#include "blocks/kernels/special/special_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = 1e-300, kEpsilon = 1e-17;

/// ln(1 + d) - d, right to the last digits also where d is small.
double Log1pLess(double d) {
  if (!(std::abs(d) < 0.5)) return std::log1p(d) - d;
  const double r = d / (2 + d), square = r * r;
  double sum = 0, power = square;
  for (int k = 3; k < 45; k += 2, power *= square) sum += power / k;
  return r * (2 * sum - d);
}

/// ln Gamma(z) less Stirling's formula (z - 1/2) ln z - z + ln(2 pi) / 2; z >= 10.
double Stirling(double z) {
  constexpr double kTerms[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  const double square = 1 / (z * z);
  double sum = 0;
  for (int i = 6; i >= 0; --i) sum = sum * square + kTerms[i];
  return sum / z;
}

/// ln z - Digamma(z), z >= 10.
double DigammaGap(double z) {
  constexpr double kTerms[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double square = 1 / (z * z);
  double sum = 0;
  for (int i = 6; i >= 0; --i) sum = sum * square + kTerms[i];
  return 0.5 / z + sum * square;
}

/// ln Gamma(1 + a), right also for tiny a.
double LogGamma1p(double a) {
  if (!(std::abs(a) < 0.02)) return LogGamma(1 + a);
  constexpr double kTerms[] = {-0.5772156649015328606, 0.8224670334241132182, -0.4006856343865314285, 0.2705808084277845479,
                               -0.2073855510286739853, 0.1695571769974081900, -0.1440498967688461181, 0.1255096695247430424};
  double sum = 0;
  for (int i = 7; i >= 0; --i) sum = (sum + kTerms[i]) * a;
  return sum;
}

/// x^a e^-x / Gamma(a + 1), both finite and above 0.
double GammaFront(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - LogGamma1p(a));
  const double off = (x - a) / a;
  const double logarithm = std::abs(off) < 0.5 ? a * Log1pLess(off) : a * std::log(x / a) - (x - a);
  return std::exp(logarithm - Stirling(a)) / std::sqrt(2 * M_PI * a);
}

// Nodes and weights of Gauss's quadrature over [-1, 1] with 16 points, the half above 0.
constexpr double kNodes[] = {0.09501250983763744019, 0.2816035507792589132, 0.4580167776572273863, 0.6178762444026437484,
                             0.7554044083550030339,  0.8656312023878317439, 0.9445750230732325761, 0.9894009349916499326};
constexpr double kWeights[] = {0.1894506104550684963, 0.1826034150449235889,  0.1691565193950025382,  0.1495959888165767321,
                               0.1246289712555338721, 0.09515851168249278481, 0.06225352393864789286, 0.02715245941175409485};

/// The integral of f over [0, length].
double Integrate(double length, const auto& f) {
  constexpr int kPanels = 8;
  const double half = length / (2 * kPanels);
  double sum = 0;
  for (int panel = 0; panel < kPanels; ++panel) {
    const double middle = (2 * panel + 1) * half;
    for (int i = 0; i < 8; ++i) sum += kWeights[i] * (f(middle - half * kNodes[i]) + f(middle + half * kNodes[i]));
  }
  return sum * half;
}

constexpr double kEnd = 45;  // e^-45 of an integrand's value at the start counts as nothing

/// The part of the integral of weight(t) t^(a-1) e^-t that lies beyond x, seen from the integrand's peak, over t^(a-1) e^-t at x. Upwards
/// for x >= 2 near or above a - 1, downwards for x below a and a large.
double Tail(double a, double x, bool upwards, const auto& weight) {
  const double sign = upwards ? 1 : -1, slope = sign * (x - (a - 1)) / x;
  const auto fall = [&](double u) { return slope * u - (a - 1) * Log1pLess(sign * u / x); };  // of the integrand's logarithm
  const double bend = std::max(a - 1, 0.0) / x / x;
  double length = 2 * kEnd / (slope + std::sqrt(slope * slope + 2 * kEnd * bend));
  if (upwards) {
    for (int i = 0; i < 64 && fall(length) < kEnd; ++i) length *= 1.5;
  } else {
    length = std::min(length, x);
  }
  return Integrate(length, [&](double u) { return std::exp(-fall(u)) * weight(sign * u); });
}

constexpr double kLargeShape = 1000;  // from here on series and fractions take longer than an integral

/// Below or near the peak.
double LowerGamma(double a, double x) {
  const double front = GammaFront(a, x);
  if (front == 0) return 0;
  if (a >= kLargeShape) return front * a / x * Tail(a, x, false, [](double) { return 1.0; });
  double sum = 1, term = 1;
  for (double n = a + 1; term > kEpsilon * sum; ++n) sum += term *= x / n;
  return front * sum;
}

/// Above the peak, and above 1: a continued fraction, after Lentz.
double UpperGamma(double a, double x) {
  const double front = GammaFront(a, x) * a;
  if (front == 0) return 0;
  if (a >= kLargeShape) return front / x * Tail(a, x, true, [](double) { return 1.0; });
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (int i = 1; i < 10000; ++i) {
    const double n = -i * (i - a);
    b += 2;
    d = n * d + b;
    c = b + n / c;
    if (std::abs(d) < kTiny) d = kTiny;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return front * value;
}

/// 1 less the lower part, for a < x <= 1, where that is near 1.
double UpperGammaNearZero(double a, double x) {
  const double logarithm = a * std::log(x) - LogGamma1p(a);
  double sum = 0, power = 1;
  for (int n = 1; n < 30; ++n) {
    power *= -x / n;
    sum += power / (a + n);
  }
  return -std::expm1(logarithm) - std::exp(logarithm) * a * sum;
}

/// NaN where Igamma has no value; else below 0.
double GammaFault(double a, double x) {
  return std::isnan(a) || std::isnan(x) || x < 0 || a <= 0 || (a == kInfinity && x == kInfinity) ? kNaN : -1;
}

/// The derivative of Igamma by a, over the density x^(a-1) e^-x / Gamma(a).
double ShapeSlope(double a, double x) {
  const double gap = a >= 10 ? DigammaGap(a) : std::log(a) - Digamma(a);
  const bool upwards = x >= std::max(a, 2.0);
  if (upwards || a >= 20) {
    const auto weight = [&](double u) { return std::log1p((x - a + u) / a) + gap; };  // ln t - Digamma(a)
    return (upwards ? -1 : 1) * Tail(a, x, upwards, weight);
  }
  // The series of LowerGamma, term by term.
  double sum = 1, slopes = 0, term = 1, reciprocals = 0;
  for (double n = a + 1; term * (1 + reciprocals) > kEpsilon * sum; ++n) {
    sum += term *= x / n;
    slopes -= term * (reciprocals += 1 / n);
  }
  return x / a * ((std::log(x) - Digamma(a + 1)) * sum + slopes);
}

/// x^a (1-x)^b / (a B(a, b)), with y = 1 - x.
double BetaFront(double a, double b, double x, double y) {
  const double sum = a + b;
  if (a >= 10 && b >= 10) {
    const double off = x * b - y * a;
    // ln(1 + off) - off, where 1 + off is `ratio`: far below the mean that has digits which 1 + off has lost.
    const auto log_less = [](double off_mean, double ratio) { return off_mean < -0.5 ? std::log(ratio) - off_mean : Log1pLess(off_mean); };
    return std::exp(a * log_less(off / a, x * sum / a) + b * log_less(-off / b, y * sum / b) + Stirling(sum) - Stirling(a) - Stirling(b)) *
           std::sqrt(b / (2 * M_PI * sum)) / std::sqrt(a);
  }
  const double small = std::min(a, b), large = std::max(a, b);
  double logarithm = a * std::log(x) + b * std::log1p(-x) - LogGamma1p(small);  // and 1 / small
  if (large >= 10) {
    logarithm += (large - 0.5) * std::log1p(small / large) + small * (std::log(sum) - 1) + Stirling(sum) - Stirling(large);
  } else {
    logarithm += LogGamma(sum) - LogGamma(large);
  }
  return std::exp(logarithm) * (small / a);
}

/// The integral of t^(a-1) (1-t)^(b-1) from 0 to x, over the integrand at x, for large a and b and x not above the mean.
double BetaTail(double a, double b, double x, double y) {
  const double slope = ((a - 1) * y - (b - 1) * x) / x / y, bend = (a - 1) / x / x + (b - 1) / y / y;
  const double length = std::min(2 * kEnd / (slope + std::sqrt(slope * slope + 2 * kEnd * bend)), x);
  return Integrate(length, [&](double u) { return std::exp((a - 1) * Log1pLess(-u / x) + (b - 1) * Log1pLess(u / y) - slope * u); });
}

/// Where x is not above the mean: a continued fraction, after Lentz.
double LowerBeta(double a, double b, double x, double y) {
  const double front = BetaFront(a, b, x, y);
  if (front == 0) return 0;
  if (a >= kLargeShape && b >= kLargeShape) return front * a / x / y * BetaTail(a, b, x, y);
  const auto kept = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / kept(1 - (a + b) * x / (a + 1)), value = d;
  for (int i = 1; i < 20000; ++i) {
    const double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
    const double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
    d = 1 / kept(1 + even * d);
    c = kept(1 + even / c);
    value *= d * c;
    d = 1 / kept(1 + odd * d);
    c = kept(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return front * value;
}

/// x > 1, q > 0: the first terms, and the formula of Euler and Maclaurin for the rest; times unit^x, which keeps it from underflow.
double ZetaOfPositive(double x, double q, double unit = 1) {
  constexpr double kTerms[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -5.284190138687493185e-10,
                               1.338253653068467883e-11, -3.389680296322582867e-13, 8.586062056277844564e-15, -2.174868698558061873e-16,
                               5.509002828360229515e-18, -1.395446468581252334e-19, 3.534707039629467472e-21};
  // From here on a q and the next are one double; the terms, e^(-x/q) apart, are a geometric series.
  constexpr double kLastCounted = 0x1p52;
  if (q >= kLastCounted && q < x + 10) return std::pow(q / unit, -x) / -std::expm1(-x / q);
  double sum = 0;
  for (; q < x + 10; ++q) {
    const double term = std::pow(q / unit, -x);
    sum += term;
    if (term <= kEpsilon * sum) return sum;
  }
  double rest = q / (x - 1) + 0.5, factor = x / q;
  for (int k = 0; k < 13; ++k) {
    rest += kTerms[k] * factor;
    factor *= (x + 2 * k + 1) / q * ((x + 2 * k + 2) / q);
  }
  return sum + std::pow(q / unit, -x) * rest;
}

/// a^-x - b^-x, also where that is little of either.
double DifferenceOfPowers(double x, double a, double b) {
  const double near = std::min(a, b), difference = std::pow(near, -x) * -std::expm1(-x * std::log1p(std::abs(a - b) / near));
  return a < b ? difference : -difference;
}

/// Odd x, q < 0 and not whole: the terms at either side of 0 cancel each other, and are added up in pairs.
double ZetaAcrossZero(double x, double q) {
  constexpr double kMostPairs = 64;
  const double below = std::floor(-q) + 1, pairs = std::min(below, kMostPairs), part = std::fmod(-q, 1.0);
  double sum = pairs == below ? ZetaOfPositive(x, 1 - part + below)
                              : ZetaOfPositive(x, 1 - part + pairs) - ZetaOfPositive(x, part + pairs) + ZetaOfPositive(x, part + below);
  for (double i = pairs; i-- > 0;) sum += DifferenceOfPowers(x, 1 - part + i, part + i);
  return sum;
}

}  // namespace

double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);  // lgamma writes a global
}

double Digamma(double x) {
  if (x == kInfinity) return x;
  if (!(x > 0)) {
    const double part = x - std::nearbyint(x);
    if (part == 0 || std::isnan(part)) return kNaN;  // a pole, -inf or NaN
    return Digamma(1 - x) - (std::abs(part) == 0.5 ? 0 : M_PI / std::tan(M_PI * part));
  }
  double below = 0;
  for (; x < 10; ++x) below += 1 / x;
  return std::log(x) - DigammaGap(x) - below;
}

namespace {

/// ln(n! / x^(n+1)), of large n by Stirling's formula: each part alone would lose the digits that are left of both, or overflow.
double LogOfFactorialOverPower(double n, double x) {
  constexpr double kLarge = 0x1p53;
  if (n < kLarge) return LogGamma(n + 1) - (n + 1) * std::log(x);
  return n * (std::log(n / x) - 1) + (std::log(2 * M_PI) + std::log(n)) / 2 - std::log(x);
}

}  // namespace

double Polygamma(double n, double x) {
  if (n == 0) return Digamma(x);
  if (!(n > 0) || n != std::floor(n) || n == kInfinity) return kNaN;
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1, zeta = Zeta(n + 1, x);
  if (std::abs(zeta) < 1e-290 && x > 0 && x != kInfinity) {  // the factorial makes up for it
    return sign * std::exp(LogOfFactorialOverPower(n, x) + std::log(ZetaOfPositive(n + 1, x, x)));
  }
  if (n <= 170) return sign * std::tgamma(n + 1) * zeta;
  return zeta < 0 ? -sign * std::exp(LogGamma(n + 1) + std::log(-zeta)) : sign * std::exp(LogGamma(n + 1) + std::log(zeta));
}

double Zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q) || x < 1) return kNaN;
  if (x == 1) return kInfinity;
  if (q > 0) {
    if (x == kInfinity) return q > 1 ? 0 : q == 1 ? 1 : kInfinity;
    return q == kInfinity ? 0 : ZetaOfPositive(x, q);
  }
  const bool whole = x == std::floor(x) && x != kInfinity, even = whole && std::fmod(x, 2) == 0;
  if (q == std::floor(q)) return even ? kInfinity : kNaN;
  if (!whole) return kNaN;
  if (!even) return ZetaAcrossZero(x, q);
  const double part = std::fmod(-q, 1.0);  // the terms below 0 are those of positive numbers
  return ZetaOfPositive(x, 1 - part) + (ZetaOfPositive(x, part) - ZetaOfPositive(x, 1 - q));
}

double Igamma(double a, double x) {
  if (x == 0) return std::isnan(a) ? kNaN : 0;
  if (std::isnan(GammaFault(a, x))) return kNaN;
  if (x == kInfinity) return 1;
  if (a == kInfinity) return 0;
  return x > a && x > 1 ? 1 - UpperGamma(a, x) : std::min(LowerGamma(a, x), 1.0);
}

double Igammac(double a, double x) {
  if (std::isnan(GammaFault(a, x))) return kNaN;
  if (x == 0 || a == kInfinity) return 1;
  if (x == kInfinity) return 0;
  if (x <= a) return 1 - std::min(LowerGamma(a, x), 1.0);
  return x > 1 ? UpperGamma(a, x) : UpperGammaNearZero(a, x);
}

double IgammaGradA(double a, double x) {
  if (x == 0) return std::isnan(a) ? kNaN : 0;
  if (std::isnan(GammaFault(a, x))) return kNaN;
  if (x == kInfinity || a == kInfinity) return 0;
  const double density = GammaFront(a, x) * a / x;
  return density == 0 ? 0 : density * ShapeSlope(a, x);
}

double GammaSampleGrad(double a, double x) {
  if (x == 0) return std::isnan(a) ? kNaN : 0;
  if (std::isnan(GammaFault(a, x))) return kNaN;
  if (x == kInfinity || a == kInfinity) return 0;
  return -ShapeSlope(a, x);
}

double Betainc(double a, double b, double x) {
  if (std::isnan(a) || std::isnan(b) || !(a > 0) || !(b > 0) || !(x >= 0) || x > 1) return kNaN;
  if (x == 0 || x == 1) return x;
  if (a == kInfinity || b == kInfinity) return a == b ? kNaN : a == kInfinity ? 0 : 1;
  if (x <= (a + 1) / (a + b + 2)) return std::min(LowerBeta(a, b, x, 1 - x), 1.0);
  return 1 - std::min(LowerBeta(b, a, 1 - x, x), 1.0);
}

}  // namespace weft::kernels
