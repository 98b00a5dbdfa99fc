// Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual, LogicalAnd, LogicalOr: comparisons of two operands that are stretched over one
// another; ApproximateEqual, of operands of one shape; LogicalNot.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "blocks/elementwise.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> y{"y", "T", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr In<1> same_y{"y", "T", "the shape of x"};
constexpr Out<0> z{"z", "DT_BOOL", "the common shape of x and y"};

constexpr Attr<bool> incompatible_shape_error{"incompatible_shape_error", "true",
                                              "whether shapes that do not fit are an error; false: the result is then a single element"};
constexpr Attr<float> tolerance{"tolerance", "1e-05", "the largest difference that counts as equal"};

constexpr auto kComparable = kNumbers + kQuantized + TypeList<bool, String>{};

struct EqualityPlan {
  kernels::BroadcastLoops loops;
  bool fits = true;
};

Result<EqualityPlan> PlanEquality(PlanContext& ctx) {
  if (!ctx.attr(incompatible_shape_error) && !Broadcasts(ctx.shape(x), ctx.shape(y))) {
    ctx.set(z, Shape{});
    return EqualityPlan{{}, false};
  }
  WEFT_ASSIGN_OR_RETURN(auto loops, PlanBroadcast(ctx));
  return EqualityPlan{std::move(loops), true};
}

/// Tensors whose shapes do not fit are not equal.
template <class Op, bool kUnfit>
constexpr auto RunEquality = []<class T>(const EqualityPlan& plan, RunContext& ctx) {
  if (plan.fits) Broadcast<Op, T>(plan.loops, ctx);
  else ctx.out<bool>(z)[0] = kUnfit;
};

Result<float> PlanApproximate(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(PlanPairs(ctx));
  return ctx.attr(tolerance);
}

/// The distance of two numbers, in the type it is compared in: of integers an unsigned one of their size, which holds it whatever they are.
template <class T>
auto Distance(const T& a, const T& b) {
  if constexpr (Integer<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<Unsigned>(a > b ? Unsigned(a) - Unsigned(b) : Unsigned(b) - Unsigned(a));
  } else if constexpr (ShortFloat<T>) {
    return std::abs(static_cast<float>(a) - static_cast<float>(b));
  } else {
    return std::abs(a - b);
  }
}

/// The largest distance that is not above the tolerance, which is 0 or more.
template <class D>
D LargestDistance(float tolerance) {
  if constexpr (std::is_integral_v<D>) {
    constexpr D kMost = std::numeric_limits<D>::max();
    return tolerance < static_cast<float>(kMost) ? static_cast<D>(tolerance) : kMost;
  } else {
    return static_cast<D>(tolerance);
  }
}

constexpr auto RunApproximate = []<class T>(const float& tolerance, RunContext& ctx) {
  const T* left = ctx.in<T>(x).data();
  const T* right = ctx.in<T>(y).data();
  const auto out = ctx.out<bool>(z);
  bool* to = out.data();
  using D = decltype(Distance(*left, *right));
  if (!(tolerance >= 0)) {  // nor is any distance at most NaN
    std::fill(out.begin(), out.end(), false);
    return;
  }
  const D bound = LargestDistance<D>(tolerance);
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(out.size()), 32768, [&](int64_t i) {
    to[i] = Distance(left[i], right[i]) <= bound;
  });
};

template <class Op, bool kUnfit>
BlockDef Equality(const char* name, const char* summary) {
  return Block(name, summary)
      .Ports(x, y, z).Types("T", kComparable).Attrs(incompatible_shape_error).NotDifferentiable()
      .Kernel(PlanEquality, RunEquality<Op, kUnfit>);
}

template <class Op>
BlockDef Order(const char* name, const char* summary) {
  return Block(name, summary).Ports(x, y, z).Types("T", kReals).NotDifferentiable().Kernel(PlanBroadcast, RunBroadcast<Op>);
}

constexpr In<0> bool_x{"x", "DT_BOOL", "any shape"};
constexpr In<1> bool_y{"y", "DT_BOOL", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr Out<0> negation{"y", "DT_BOOL", "the shape of x"};

struct AndOp {
  bool operator()(bool a, bool b) const { return static_cast<bool>(a & b); }
};
struct OrOp {
  bool operator()(bool a, bool b) const { return static_cast<bool>(a | b); }
};

constexpr auto RunNot = [](const NoParameters& none, RunContext& ctx) { RunMap<std::logical_not<>>.template operator()<bool>(none, ctx); };

template <class Op>
BlockDef OfBooleans(const char* name, const char* summary) {
  constexpr auto kRun = [](const kernels::BroadcastLoops& loops, RunContext& ctx) { Broadcast<Op, bool>(loops, ctx); };
  return Block(name, summary).Ports(bool_x, bool_y, z).Elementwise().NotDifferentiable().Kernel(PlanBroadcast, kRun);
}

}  // namespace

BlockDef ApproximateEqual() {
  return Block("ApproximateEqual", "Whether |x - y| is at most a tolerance, element by element; false for NaN and for equal infinities.")
      .Ports(x, same_y, z).Types("T", kNumbers).Attrs(tolerance).NotDifferentiable().Kernel(PlanApproximate, RunApproximate);
}

BlockDef Equal() {
  return Equality<std::equal_to<>, false>("Equal", "Whether x equals y, element by element; NaN equals nothing.");
}

BlockDef NotEqual() {
  return Equality<std::not_equal_to<>, true>("NotEqual", "Whether x differs from y, element by element; NaN differs from everything.");
}

BlockDef Greater() {
  return Order<std::greater<>>("Greater", "Whether x is greater than y, element by element; false where either is NaN.");
}

BlockDef GreaterEqual() {
  return Order<std::greater_equal<>>("GreaterEqual",
                                     "Whether x is greater than y or equal to it, element by element; false where either is NaN.");
}

BlockDef Less() { return Order<std::less<>>("Less", "Whether x is less than y, element by element; false where either is NaN."); }

BlockDef LessEqual() {
  return Order<std::less_equal<>>("LessEqual", "Whether x is less than y or equal to it, element by element; false where either is NaN.");
}

BlockDef LogicalAnd() { return OfBooleans<AndOp>("LogicalAnd", "Whether x and y are both true, element by element."); }
BlockDef LogicalOr() { return OfBooleans<OrOp>("LogicalOr", "Whether x or y or both are true, element by element."); }

BlockDef LogicalNot() {
  return Block("LogicalNot", "Whether x is false, element by element.")
      .Ports(bool_x, negation).Elementwise().NotDifferentiable().Kernel(PlanMap, RunNot);
}

}  // namespace weft::blocks
