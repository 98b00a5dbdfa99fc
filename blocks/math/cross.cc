// Cross: the cross product of vectors of three components.
#include "blocks/elementwise.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr In<0> a{"a", "T", "[..., 3]"};
constexpr In<1> b{"b", "T", "the shape of a"};
constexpr Out<0> product{"product", "T", "the shape of a"};

Status Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(a);
  if (shape.rank() == 0 || shape[shape.rank() - 1] != 3) return ctx.Error(a, "needs a last axis of size 3, found ", shape);
  return PlanPairs(ctx);
}

template <class T>
T Component(T a0, T b1, T a1, T b0) { return WrapSubtract(WrapMultiply(a0, b1), WrapMultiply(a1, b0)); }

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  using A = Accumulator<T>;
  const T* left = ctx.in<T>(a).data();
  const T* right = ctx.in<T>(b).data();
  const auto out = ctx.out<T>(product);
  T* to = out.data();
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(out.size()) / 3, 4096, [&](int64_t i) {
    A u[3], v[3];
    for (int k = 0; k < 3; ++k) {
      u[k] = static_cast<A>(left[3 * i + k]);
      v[k] = static_cast<A>(right[3 * i + k]);
    }
    to[3 * i] = static_cast<T>(Component(u[1], v[2], u[2], v[1]));
    to[3 * i + 1] = static_cast<T>(Component(u[2], v[0], u[0], v[2]));
    to[3 * i + 2] = static_cast<T>(Component(u[0], v[1], u[1], v[0]));
  });
};

void Gradient(GradientBuilder& g) {
  const auto cross = [&](GradientValue u, GradientValue v) { return g.Add("Cross", {{"a", {u}}, {"b", {v}}}); };
  if (g.wanted(a)) g.Set(a, cross(g.in(b), g.grad(product)));
  if (g.wanted(b)) g.Set(b, cross(g.grad(product), g.in(a)));
}

}  // namespace

BlockDef Cross() {
  return Block("Cross", "The cross product of the vectors along the last axis.")
      .Ports(a, b, product).Types("T", kReals).Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace weft::blocks
