// Each optimiser is a struct: made of its scalars, it changes one element of the variable, x[0], and of its slots, x[1] and on, by the
// gradient g.
#include "blocks/kernels/optimise/optimisers.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels {
namespace {

template <class A>
A Sign(A x) { return x > A(0) ? A(1) : x < A(0) ? A(-1) : x; }

template <class A>
struct Settings {
  A scalar[OptimiserStep::kMostScalars];
  A global_step;
  bool option;
};

/// var - lr g.
template <class A>
struct GradientDescent {
  static constexpr int kValues = 1, kScalars = 1;
  explicit GradientDescent(const Settings<A>& s) : lr(s.scalar[0]) {}
  void operator()(A* x, A g) const { x[0] -= lr * g; }
  A lr;
};

/// A velocity that keeps a part of itself: accum = momentum accum + g (Polyak); Nesterov's looks a step ahead (Sutskever et al. 2013).
template <class A>
struct Momentum {
  static constexpr int kValues = 2, kScalars = 2;
  explicit Momentum(const Settings<A>& s) : lr(s.scalar[0]), momentum(s.scalar[1]), nesterov(s.option) {}
  void operator()(A* x, A g) const {
    x[1] = x[1] * momentum + g;
    x[0] -= nesterov ? g * lr + x[1] * momentum * lr : x[1] * lr;
  }
  A lr, momentum;
  bool nesterov;
};

/// Steps that shrink with the sum of squared gradients (Duchi et al. 2011).
template <class A>
struct Adagrad {
  static constexpr int kValues = 2, kScalars = 1;
  explicit Adagrad(const Settings<A>& s) : lr(s.scalar[0]), update_slots(s.option) {}
  void operator()(A* x, A g) const {
    if (update_slots) x[1] += g * g;
    x[0] -= g * lr / std::sqrt(x[1]);
  }
  A lr;
  bool update_slots;
};

/// Dual averaging: the variable follows from the sums alone (Duchi et al. 2011).
template <class A>
struct AdagradDA {
  static constexpr int kValues = 3, kScalars = 3;
  explicit AdagradDA(const Settings<A>& s)
      : lr(s.scalar[0]), l1(s.scalar[1] * s.global_step), l2(s.scalar[2] * s.global_step * s.scalar[0]), draws(s.scalar[1] > A(0)) {}
  void operator()(A* x, A g) const {
    x[1] += g;
    x[2] += g * g;
    const A pull = draws ? Sign(x[1]) * std::max(std::abs(x[1]) - l1, A(0)) : x[1];
    x[0] = -lr * pull / (l2 + std::sqrt(x[2]));
  }
  A lr, l1, l2;
  bool draws;
};

/// Steps in the units of the variable: the root of the mean squared step over that of the mean squared gradient (Zeiler 2012).
template <class A>
struct Adadelta {
  static constexpr int kValues = 3, kScalars = 3;
  explicit Adadelta(const Settings<A>& s) : lr(s.scalar[0]), rho(s.scalar[1]), epsilon(s.scalar[2]) {}
  void operator()(A* x, A g) const {
    x[1] = x[1] * rho + g * g * (A(1) - rho);
    const A update = std::sqrt(x[2] + epsilon) / std::sqrt(x[1] + epsilon) * g;
    x[2] = x[2] * rho + update * update * (A(1) - rho);
    x[0] -= update * lr;
  }
  A lr, rho, epsilon;
};

/// Running means of the gradient and of its square, corrected for their start at 0 (Kingma and Ba 2014).
template <class A>
struct Adam {
  static constexpr int kValues = 3, kScalars = 6;
  explicit Adam(const Settings<A>& s)
      : rate(s.scalar[2] * std::sqrt(A(1) - s.scalar[1]) / (A(1) - s.scalar[0])),
        beta1(s.scalar[3]), beta2(s.scalar[4]), epsilon(s.scalar[5]), nesterov(s.option) {}
  void operator()(A* x, A g) const {
    x[1] += (g - x[1]) * (A(1) - beta1);
    x[2] += (g * g - x[2]) * (A(1) - beta2);
    const A mean = nesterov ? g * (A(1) - beta1) + beta1 * x[1] : x[1];
    x[0] -= mean * rate / (std::sqrt(x[2]) + epsilon);
  }
  A rate, beta1, beta2, epsilon;
  bool nesterov;
};

/// Steps divided by the root of the running mean of squared gradients, with momentum (Tieleman and Hinton 2012).
template <class A>
struct RMSProp {
  static constexpr int kValues = 3, kScalars = 4;
  explicit RMSProp(const Settings<A>& s) : lr(s.scalar[0]), rho(s.scalar[1]), momentum(s.scalar[2]), epsilon(s.scalar[3]) {}
  void operator()(A* x, A g) const {
    x[1] += (g * g - x[1]) * (A(1) - rho);
    Move(x, g);
  }
  void Move(A* x, A g) const {
    x[2] = x[2] * momentum + g * lr / std::sqrt(x[1] + epsilon);
    x[0] -= x[2];
  }
  A lr, rho, momentum, epsilon;
};

/// A running mean that takes a value in. Of some rows, as in TensorFlow; of all rows it grows by its distance, which is no number where
/// both are infinite.
template <class A>
A MeanWith(A mean, A value, A rho) { return mean * rho + value * (A(1) - rho); }

template <class A>
struct RMSPropOfRows : RMSProp<A> {
  using RMSProp<A>::RMSProp;
  void operator()(A* x, A g) const {
    x[1] = MeanWith(x[1], g * g, this->rho);
    this->Move(x, g);
  }
};

/// The same with the variance in place of the mean square (Graves 2013).
template <class A>
struct CenteredRMSProp {
  static constexpr int kValues = 4, kScalars = 4;
  explicit CenteredRMSProp(const Settings<A>& s) : lr(s.scalar[0]), rho(s.scalar[1]), momentum(s.scalar[2]), epsilon(s.scalar[3]) {}
  void operator()(A* x, A g) const {
    x[1] += (g - x[1]) * (A(1) - rho);
    x[2] += (g * g - x[2]) * (A(1) - rho);
    Move(x, g);
  }
  void Move(A* x, A g) const {
    x[3] = x[3] * momentum + g * lr / std::sqrt(x[2] - x[1] * x[1] + epsilon);
    x[0] -= x[3];
  }
  A lr, rho, momentum, epsilon;
};

template <class A>
struct CenteredRMSPropOfRows : CenteredRMSProp<A> {
  using CenteredRMSProp<A>::CenteredRMSProp;
  void operator()(A* x, A g) const {
    x[1] = MeanWith(x[1], g, this->rho);
    x[2] = MeanWith(x[2], g * g, this->rho);
    this->Move(x, g);
  }
};

/// Follow the regularised leader, proximal (McMahan et al. 2013); with the option `linear` is kept multiplied by lr.
template <class A>
struct Ftrl {
  static constexpr int kValues = 3, kScalars = 4;
  explicit Ftrl(const Settings<A>& s) : lr(s.scalar[0]), l1(s.scalar[1]), l2(s.scalar[2]), power(-s.scalar[3]), by_lr(s.option) {
    gradient_rate = by_lr ? lr : A(1);
    scale = by_lr ? A(1) : A(1) / lr;
    limit = by_lr ? l1 * lr : l1;
    shrink = by_lr ? A(2) * l2 * lr : A(2) * l2;
  }
  A Power(A x) const { return power == A(0.5) ? std::sqrt(x) : std::pow(x, power); }
  void operator()(A* x, A g) const {
    const A sum = x[1] + g * g, root = Power(sum);
    x[2] += g * gradient_rate - (root - Power(x[1])) * scale * x[0];
    x[0] = std::abs(x[2]) > limit ? (limit * Sign(x[2]) - x[2]) / (root * scale + shrink) : A(0);
    x[1] = sum;
  }
  A lr, l1, l2, power;
  bool by_lr;
  A gradient_rate, scale, limit, shrink;
};

/// The same for some rows: where `linear` is not a number the variable is not either, while of all rows it is 0, as TensorFlow has it.
template <class A>
struct FtrlOfRows : Ftrl<A> {
  using Ftrl<A>::Ftrl;
  void operator()(A* x, A g) const {
    Ftrl<A>::operator()(x, g);
    x[0] = x[2] == x[2] ? x[0] : x[2];
  }
};

/// What a step by `rate` left at x, drawn to 0 by l1 and l2 (Duchi and Singer 2009).
template <class A>
A Drawn(A x, A rate, A l1, A l2) {
  const A rest = l1 > A(0) ? Sign(x) * std::max(std::abs(x) - rate * l1, A(0)) : x;
  return rest / (A(1) + l2 * rate);
}

template <class A>
struct ProximalGradientDescent {
  static constexpr int kValues = 1, kScalars = 3;
  explicit ProximalGradientDescent(const Settings<A>& s) : lr(s.scalar[0]), l1(s.scalar[1]), l2(s.scalar[2]) {}
  void operator()(A* x, A g) const { x[0] = Drawn(x[0] - lr * g, lr, l1, l2); }
  A lr, l1, l2;
};

template <class A>
struct ProximalAdagrad {
  static constexpr int kValues = 2, kScalars = 3;
  explicit ProximalAdagrad(const Settings<A>& s) : lr(s.scalar[0]), l1(s.scalar[1]), l2(s.scalar[2]) {}
  void operator()(A* x, A g) const {
    x[1] += g * g;
    const A rate = lr / std::sqrt(x[1]);
    x[0] = Drawn(x[0] - rate * g, rate, l1, l2);
  }
  A lr, l1, l2;
};

/// Half and bfloat16 compute in float.
template <template <class> class Rule, class T>
void Apply(const OptimiserStep& step, int64_t at, int64_t gradient_at, int64_t count) {
  using A = Accumulator<T>;
  using R = Rule<A>;
  Settings<A> settings{};
  for (int k = 0; k < R::kScalars; ++k) settings.scalar[k] = static_cast<A>(*static_cast<const T*>(step.scalars[k]));
  settings.global_step = static_cast<A>(step.global_step);
  settings.option = step.option;
  const R rule(settings);
  const T* before[R::kValues];
  T* after[R::kValues];
  for (int k = 0; k < R::kValues; ++k) {
    before[k] = static_cast<const T*>(step.before[k]) + at;
    after[k] = static_cast<T*>(step.after[k]) + at;
  }
  const T* gradient = static_cast<const T*>(step.gradient) + gradient_at;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    A x[R::kValues];
    for (int k = 0; k < R::kValues; ++k) x[k] = static_cast<A>(before[k][i]);
    rule(x, static_cast<A>(gradient[i]));
    for (int k = 0; k < R::kValues; ++k) after[k][i] = static_cast<T>(x[k]);
  }
}

template <template <class> class Rule, class... Ts>
OptimiserKernel Find(DType dtype, TypeList<Ts...> types) {
  return Dispatch(dtype, types, []<class T>() -> OptimiserKernel { return Apply<Rule, T>; });
}

constexpr auto kAll = kFloats + kComplexes;
constexpr TypeList<float, double> kPlain;

}  // namespace

OptimiserKernel FindOptimiser(Optimiser optimiser, DType dtype) {
  switch (optimiser) {
    case Optimiser::kGradientDescent: return Find<GradientDescent>(dtype, kAll);
    case Optimiser::kMomentum: return Find<Momentum>(dtype, kAll);
    case Optimiser::kAdagrad: return Find<Adagrad>(dtype, kAll);
    case Optimiser::kAdagradDA: return Find<AdagradDA>(dtype, kPlain);
    case Optimiser::kAdadelta: return Find<Adadelta>(dtype, kAll);
    case Optimiser::kAdam: return Find<Adam>(dtype, kAll);
    case Optimiser::kRMSProp: return Find<RMSProp>(dtype, kAll);
    case Optimiser::kRMSPropOfRows: return Find<RMSPropOfRows>(dtype, kAll);
    case Optimiser::kCenteredRMSProp: return Find<CenteredRMSProp>(dtype, kAll);
    case Optimiser::kCenteredRMSPropOfRows: return Find<CenteredRMSPropOfRows>(dtype, kAll);
    case Optimiser::kFtrl: return Find<Ftrl>(dtype, kFloats);
    case Optimiser::kFtrlOfRows: return Find<FtrlOfRows>(dtype, kFloats);
    case Optimiser::kProximalGradientDescent: return Find<ProximalGradientDescent>(dtype, kPlain);
    case Optimiser::kProximalAdagrad: return Find<ProximalAdagrad>(dtype, kPlain);
  }
  return nullptr;
}

}  // namespace weft::kernels
