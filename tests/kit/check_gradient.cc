#include "tests/kit/check_gradient.h"

#include <algorithm>
#include <cmath>

#include "weft/base/float16.h"

namespace weft::kit {
namespace {

using Numbers = std::vector<complex128>;

bool IsSmooth(DType type) { return IsFloating(type) || IsComplex(type); }

constexpr auto kSmooth = kFloats + kComplexes;

/// Multiples of 1/64 in (-1, 1), which every floating-point type holds.
Tensor Weights(DType dtype, const Shape& shape, uint32_t seed) {
  Numbers numbers(static_cast<size_t>(shape.count()));
  uint32_t state = seed * 2654435761u + 12345u;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return (static_cast<double>(state >> 25) - 63.5) / 64;
  };
  for (complex128& number : numbers) {
    const double re = next(), im = next();
    number = {std::floor(re * 64) / 64, IsComplex(dtype) ? std::floor(im * 64) / 64 : 0.0};
  }
  return FromNumbers(dtype, shape, numbers);
}

Tensor AllAxes(int rank) {
  Tensor axes = Tensor::Allocate(DType::kInt32, Shape{rank}).value();
  for (int i = 0; i < rank; ++i) axes.values<int32_t>()[i] = i;
  return axes;
}

/// A page that grows by one order of gradients after the other.
class Orders {
 public:
  Orders(Runtime& runtime, const PageFunction& function, uint32_t seed)
      : runtime_(runtime), page_(function.page), ys_(function.ys), xs_(function.xs), seed_(seed) {}

  /// Adds losses over the ys, and their gradients, which become the ys of the next order.
  Status Next() {
    ++order_;
    WEFT_RETURN_IF_ERROR(AddLosses());
    const std::string id = Cat("order_", order_);
    PageInputs inputs{{"outputs", {losses_.begin(), losses_.end()}}, {"inputs", {xs_.begin(), xs_.end()}}};
    AddBlock(page_, id, "AddSymbolicGradients", std::move(inputs));
    auto open = OpenPage::Open(runtime_, page_);
    if (!open.ok()) return std::move(open).status();
    open_ = std::move(*open);
    gradients_.clear();
    ys_.clear();
    for (size_t i = 0; i < xs_.size(); ++i) {
      const std::string wire = Cat(id, ".grad_outputs[", i, "]");
      gradients_.push_back(open_.graph().FindValue(wire).ok() ? wire : "");
      if (!gradients_.back().empty()) ys_.push_back(wire);
    }
    return {};
  }

  /// No gradient depends on any x: the next order has nothing to differentiate.
  bool finished() const { return ys_.empty(); }
  const std::vector<std::string>& losses() const { return losses_; }
  const std::vector<std::string>& gradients() const { return gradients_; }  // by x; empty where there is none
  const std::vector<std::string>& xs() const { return xs_; }
  const std::vector<std::string>& present() const { return ys_; }
  const OpenPage& open() const { return open_; }

 private:
  Status AddLosses() {
    WEFT_ASSIGN_OR_RETURN(const OpenPage open, OpenPage::Open(runtime_, page_));
    WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> values, open.Run(ys_));
    losses_.clear();
    for (size_t i = 0; i < values.size(); ++i) {
      const DType type = values[i].dtype();
      if (!IsSmooth(type)) continue;
      const std::string id = Cat("y_", order_, "_", i);
      const uint32_t seed = seed_ + static_cast<uint32_t>(97 * i);
      const std::string weights = AddConst(page_, id + "_weights", Weights(type, values[i].shape(), seed));
      AddBlock(page_, id + "_product", "Multiply", {{"x", {ys_[i]}}, {"y", {weights}}});
      AddBlock(page_, id, "Sum", {{"input", {id + "_product.z"}}, {"axis", {AllAxes(values[i].shape().rank())}}});
      losses_.push_back(id + ".output");
      if (!IsComplex(type)) continue;
      AddBlock(page_, id + "_real", "Real", {{"input", {losses_.back()}}},
               type == DType::kComplex64 ? "Tout_ = DT_FLOAT;" : "Tout_ = DT_DOUBLE;");
      losses_.back() = id + "_real.output";
    }
    if (losses_.empty()) return InvalidArgument("needs an output of a floating-point or complex type");
    return {};
  }

  Runtime& runtime_;
  Page page_;
  std::vector<std::string> ys_, xs_, losses_, gradients_;
  uint32_t seed_;
  int order_ = 0;
  OpenPage open_;
};

/// The sum of an order's losses at any x.
class Loss {
 public:
  Status Open(const Orders& orders, const std::vector<Tensor>& at) {
    WEFT_ASSIGN_OR_RETURN(session_, orders.open().Fetch(orders.losses()));
    for (size_t i = 0; i < at.size(); ++i) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef x, orders.open().graph().FindValue(orders.xs()[i]));
      xs_.push_back(x);
      at_.push_back(ToNumbers(at[i]));
      shapes_.push_back(at[i].shape());
      WEFT_RETURN_IF_ERROR(Feed(i));
    }
    return {};
  }

  Result<double> Slope(size_t x, size_t element, complex128 direction, double step) {
    const complex128 middle = at_[x][element];
    const auto difference = [&](double h) -> Result<double> {
      double ends[2];
      for (int side = 0; side < 2; ++side) {
        at_[x][element] = middle + (side == 0 ? -h : h) * direction;
        WEFT_RETURN_IF_ERROR(Feed(x));
        WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> losses, RunSession(*session_));
        ends[side] = 0;
        for (const Tensor& loss : losses) ends[side] += ToNumbers(loss)[0].real();
      }
      return (ends[1] - ends[0]) / (2 * h);
    };
    step *= std::max(1.0, std::abs(middle));
    WEFT_ASSIGN_OR_RETURN(const double wide, difference(step));
    WEFT_ASSIGN_OR_RETURN(const double narrow, difference(step / 2));
    at_[x][element] = middle;
    WEFT_RETURN_IF_ERROR(Feed(x));
    return (4 * narrow - wide) / 3;
  }

  bool is_complex(size_t x) const { return IsComplex(session_->scope().graph().TypeOf(xs_[x])); }

 private:
  Status Feed(size_t x) { return session_->Feed(xs_[x], FromNumbers(session_->scope().graph().TypeOf(xs_[x]), shapes_[x], at_[x])); }

  std::unique_ptr<Session> session_;
  std::vector<ValueRef> xs_;
  std::vector<Numbers> at_;
  std::vector<Shape> shapes_;
};

class Check {
 public:
  Check(Runtime& runtime, const PageFunction& function, const GradientOptions& options)
      : function_(runtime, function, options.seed),
        exact_(runtime, options.exact == nullptr ? function : *options.exact, options.seed),
        apart_(options.exact != nullptr),
        options_(options) {}

  GradientReport Run() {
    for (int order = 1; order <= options_.orders && report_.status.ok(); ++order) {
      report_.status = Compare(order);
      if (report_.status.ok() && function_.finished()) break;
    }
    return std::move(report_);
  }

 private:
  Status Compare(int order) {
    WEFT_RETURN_IF_ERROR(function_.Next());
    if (apart_) WEFT_RETURN_IF_ERROR(exact_.Next());
    const Orders& exact = apart_ ? exact_ : function_;
    WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> at, function_.open().Run(function_.xs()));
    WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> found, function_.open().Run(function_.present()));
    if (exact.present().size() != function_.present().size()) return InvalidArgument("the exact function has other gradients");
    Loss loss;
    WEFT_RETURN_IF_ERROR(loss.Open(exact, at));
    report_.errors.push_back(0);
    size_t next = 0;
    for (size_t x = 0; x < at.size(); ++x) {
      Numbers gradient(static_cast<size_t>(at[x].count()));
      const std::string& wire = function_.gradients()[x];
      if (wire.empty()) {
        report_.missing += order == 1;
      } else {
        const Tensor& tensor = found[next++];
        if (tensor.dtype() != at[x].dtype() || !(tensor.shape() == at[x].shape())) {
          return InvalidArgument("the gradient of ", function_.xs()[x], " is ", tensor.dtype(), " ", tensor.shape(), ", not ",
                                 at[x].dtype(), " ", at[x].shape());
        }
        gradient = ToNumbers(tensor);
      }
      WEFT_RETURN_IF_ERROR(CompareElements(order, x, gradient, loss));
    }
    return {};
  }

  Status CompareElements(int order, size_t x, const Numbers& gradient, Loss& loss) {
    for (size_t i = 0; i < gradient.size(); ++i) {
      WEFT_ASSIGN_OR_RETURN(const double re, loss.Slope(x, i, {1, 0}, options_.step));
      double im = 0;
      if (loss.is_complex(x)) {
        WEFT_ASSIGN_OR_RETURN(im, loss.Slope(x, i, {0, 1}, options_.step));
      }
      const complex128 expected(re, im);
      double error = std::abs(gradient[i] - expected) / std::max(1.0, std::abs(expected));
      if (!std::isfinite(error)) error = HUGE_VAL;
      report_.errors.back() = std::max(report_.errors.back(), error);
      ++report_.elements;
      if (error <= report_.error) continue;
      report_.error = error;
      report_.where = Cat("order ", order, ", ", function_.xs()[x], ", element ", i, ": found ", gradient[i].real(), " + ",
                          gradient[i].imag(), " i, expected ", re, " + ", im, " i");
    }
    return {};
  }

  Orders function_, exact_;
  bool apart_;
  GradientOptions options_;
  GradientReport report_;
};

}  // namespace

GradientReport CheckGradient(Runtime& runtime, const PageFunction& function, const GradientOptions& options) {
  return Check(runtime, function, options).Run();
}

PageFunction BlockFunction(const Registry& registry, const BlockFunctionSpec& spec) {
  PageFunction function;
  PageInputs inputs;
  for (const auto& [port, values] : spec.inputs) {
    auto& items = inputs.emplace_back(port, std::vector<PageItem>{}).second;
    for (size_t k = 0; k < values.size(); ++k) {
      const bool fixed = std::find(spec.fixed.begin(), spec.fixed.end(), port) != spec.fixed.end();
      if (fixed || !IsSmooth(values[k].dtype())) {
        items.emplace_back(values[k]);
        continue;
      }
      function.xs.push_back(AddConst(function.page, Cat("in_", port, "_", k), values[k]));
      items.emplace_back(function.xs.back());
    }
  }
  AddBlock(function.page, "block", spec.block, std::move(inputs), spec.attrs);
  for (const std::string& y : spec.ys) function.ys.push_back("block." + y);
  const BlockDef* def = registry.Find(spec.block);
  for (size_t i = 0; spec.ys.empty() && def != nullptr && i < def->outputs.size(); ++i) {
    function.ys.push_back(Cat("block.", def->outputs[i].name));
  }
  return function;
}

std::vector<complex128> ToNumbers(const Tensor& tensor) {
  Numbers numbers;
  numbers.reserve(static_cast<size_t>(tensor.count()));
  Dispatch(tensor.dtype(), kSmooth, [&]<class T>() {
    for (const T& value : tensor.values<T>()) {
      if constexpr (Complex<T>) numbers.emplace_back(value.real(), value.imag());
      else numbers.emplace_back(static_cast<double>(value), 0.0);
    }
  });
  return numbers;
}

Tensor FromNumbers(DType dtype, const Shape& shape, const std::vector<complex128>& numbers) {
  Tensor tensor = Tensor::Allocate(dtype, shape).value();
  Dispatch(dtype, kSmooth, [&]<class T>() {
    auto to = tensor.values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      if constexpr (Complex<T>) to[i] = T(numbers[i]);
      else to[i] = static_cast<T>(numbers[i].real());
    }
  });
  return tensor;
}

}  // namespace weft::kit
