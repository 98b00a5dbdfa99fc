#include "blocks/kernels/random/distributions.h"

#include <limits>

#include "blocks/kernels/special/special_functions.h"

namespace weft::kernels {

double Gamma::operator()(Philox generator) const {
  FromLast<Uniform<double>> uniform;
  if (alpha_ == 1) return -std::log1p(-uniform(generator));
  if (!(alpha_ < std::numeric_limits<double>::infinity()) || !(d_ > 0)) {
    return alpha_ > 0 ? alpha_ : std::numeric_limits<double>::quiet_NaN();
  }
  FromLast<Normal<double>> normal;
  while (true) {
    const double x = normal(generator), root = 1 + c_ * x;
    if (!(root > 0)) continue;
    const double v = root * root * root, u = uniform(generator);
    const bool inside = u < 1 - 0.0331 * (x * x) * (x * x);
    if (!inside && !(std::log(u) < 0.5 * x * x + d_ * (1 - v + std::log(v)))) continue;
    return alpha_ < 1 ? d_ * v * std::pow(uniform(generator), 1 / alpha_) : d_ * v;
  }
}

Poisson::Poisson(double rate) : rate_(rate) {
  if (rate < 10) return;
  log_rate_ = std::log(rate);
  b_ = 0.931 + 2.53 * std::sqrt(rate);
  a_ = -0.059 + 0.02483 * b_;
  inverse_alpha_ = 1.1239 + 1.1328 / (b_ - 3.4);
}

double Poisson::operator()(Philox generator, double highest) const {
  if (rate_ == std::numeric_limits<double>::infinity()) return rate_;
  return rate_ < 10 ? Product(generator) : Transformed(generator, highest);
}

double Poisson::Product(Philox& generator) const {
  FromLast<Uniform<double>> uniform;
  const double end = std::exp(-rate_);
  double product = uniform(generator), count = 0;
  for (; !(product <= end); product *= uniform(generator)) ++count;
  return count;
}

double Poisson::Transformed(Philox& generator, double highest) const {
  FromLast<Uniform<double>> uniform;
  while (true) {
    const double u = uniform(generator) - 0.5, v = uniform(generator), margin = 0.5 - std::abs(u);
    const double k = std::floor((2 * a_ / margin + b_) * u + rate_ + 0.43);
    if (k > highest) continue;
    if (margin >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
    if (k < 0 || (margin < 0.013 && v > margin)) continue;
    const double chance = std::log(v * inverse_alpha_ / (a_ / (margin * margin) + b_));
    if (chance <= -rate_ + k * log_rate_ - LogGamma(k + 1)) return k;
  }
}

}  // namespace weft::kernels
