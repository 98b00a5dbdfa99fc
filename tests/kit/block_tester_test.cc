// The block tester on toy blocks: what it gives for good ones, and that it finds the faults it is there to find.
#include <catch2/catch.hpp>

#include "tests/kit/block_tester.h"
#include "weft/block/block.h"

using namespace weft;
using kit::BlockTester;

namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr In<1> factor{"factor", "T", "a scalar"};
constexpr Out<0> y{"y", "T", "the shape of x"};
constexpr InList<0> parts{"parts", "T", "N", "vectors"};
constexpr OutList<0> doubled{"doubled", "T", "N", "vectors"};
constexpr RefIn<0> var{"var", "T", "any shape"};
constexpr RefOut<0, 0> var_out{"out", "T", "the shape of var"};
constexpr auto kToyTypes = TypeList<float, int32_t>{};

Status SameShape(PlanContext& ctx) {
  if (ctx.shape(factor).rank() != 0) return ctx.Error(factor, "needs a scalar, found ", ctx.shape(factor));
  ctx.set(y, ctx.shape(x));
  return {};
}

template <class Run>
BlockDef Scaled(const char* name, Run run) {
  return Block(name, "Multiplies.").Ports(x, factor, y).Types("T", kToyTypes).Elementwise().Kernel(SameShape, run);
}

constexpr auto kScale = []<class T>(const NoParameters&, RunContext& ctx) {
  ctx.workers().For(static_cast<int64_t>(ctx.in<T>(x).size()), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ctx.out<T>(y)[i] = WrapMultiply(ctx.in<T>(x)[i], ctx.in<T>(factor)[0]);
  });
};

Registry ToyBlocks() {
  Registry registry;
  auto add = [&](BlockDef def) { REQUIRE(registry.Add(std::move(def)).ok()); };
  add(Scaled("Scale", kScale));
  add(Scaled("WritesTooFar", []<class T>(const NoParameters&, RunContext& ctx) {
    kScale.operator()<T>({}, ctx);
    volatile T* end = ctx.out<T>(y).data() + ctx.out<T>(y).size();
    *end = T(1);
  }));
  add(Scaled("LeavesOneOut", []<class T>(const NoParameters&, RunContext& ctx) {
    for (size_t i = 1; i < ctx.out<T>(y).size(); ++i) ctx.out<T>(y)[i] = ctx.in<T>(x)[i];
  }));
  add(Scaled("WritesItsInput", []<class T>(const NoParameters&, RunContext& ctx) {
    const_cast<T&>(ctx.in<T>(factor)[0]) = T(3);
    kScale.operator()<T>({}, ctx);
  }));
  add(Scaled("ReadsAhead", []<class T>(const NoParameters&, RunContext& ctx) {
    size_t size = ctx.out<T>(y).size();
    for (size_t i = 0; i < size; ++i) ctx.out<T>(y)[i] = ctx.in<T>(x)[size - 1 - i];
  }));
  add(Scaled("DependsOnThreads", []<class T>(const NoParameters&, RunContext& ctx) {
    for (T& out : ctx.out<T>(y)) out = static_cast<T>(ctx.workers().threads());
  }));
  add(Scaled("Throws", []<class T>(const NoParameters&, RunContext&) { throw std::bad_alloc(); }));
  add(Block("Double", "Doubles each.").Ports(parts, doubled).Types("T", kToyTypes).Kernel(
      [](PlanContext& ctx) -> Status {
        for (int k = 0; k < ctx.count(parts); ++k) ctx.set(doubled, ctx.shape(parts, k), k);
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) {
        for (int k = 0; k < ctx.count(parts); ++k) {
          for (size_t i = 0; i < ctx.in<T>(parts, k).size(); ++i) ctx.out<T>(doubled, k)[i] = WrapAdd(ctx.in<T>(parts, k)[i], ctx.in<T>(parts, k)[i]);
        }
      }));
  add(Block("Increment", "Adds one to a variable.").Ports(var, var_out).Types("T", kToyTypes).Updates(var).Kernel(
      [](PlanContext& ctx) -> Status {
        ctx.set(var_out, ctx.shape(var));
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) {
        for (size_t i = 0; i < ctx.in<T>(var).size(); ++i) ctx.update<T>(var)[i] = WrapAdd(ctx.in<T>(var)[i], T(1));
      }));
  add(Block("Positive", "Keeps what is positive.").Ports(x, y).Types("T", kToyTypes).Producer(
      [](PlanContext& ctx) -> Status {
        ctx.set_unknown(y, 0, PartialShape::Make({-1}).value());
        return {};
      },
      [](const NoParameters&, ProduceContext& ctx) -> Status {
        int64_t kept = 0;
        for (float value : ctx.in<float>(x)) kept += value > 0;
        WEFT_ASSIGN_OR_RETURN(Tensor out, ctx.Allocate(DType::kFloat, Shape{kept}));
        std::copy_if(ctx.in<float>(x).begin(), ctx.in<float>(x).end(), out.values<float>().begin(), [](float v) { return v > 0; });
        ctx.Emit(y, std::move(out));
        return {};
      }));
  return registry;
}

Tensor Ten() { return Tensor::Of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}); }

}  // namespace

TEST_CASE("the block tester gives outputs, variables and refusals", "[kit]") {
  Registry registry = ToyBlocks();
  auto scaled = BlockTester(registry, "Scale").Input("x", Ten()).Input("factor", Tensor::Scalar(2.0f)).Run();
  REQUIRE(ToString(scaled.status) == "ok");
  CHECK(SameBits(scaled.outputs.at("y"), Tensor::Of<float>({0, 2, 4, 6, 8, 10, 12, 14, 16, 18})));

  auto doubled = BlockTester(registry, "Double").Inputs("parts", {Tensor::Of<int32_t>({1, 2}), Tensor::Of<int32_t>({3})}).Run();
  CHECK(SameBits(doubled.outputs.at("doubled[1]"), Tensor::Of<int32_t>({6})));

  auto counted = BlockTester(registry, "Increment").Input("var", Tensor::Of<int32_t>({1, 2})).Run();
  REQUIRE(ToString(counted.status) == "ok");
  CHECK(SameBits(counted.outputs.at("out"), Tensor::Of<int32_t>({2, 3})));
  CHECK(SameBits(counted.variables.at("var"), Tensor::Of<int32_t>({2, 3})));

  auto kept = BlockTester(registry, "Positive").Input("x", Tensor::Of<float>({-1, 2, 0, 3})).Run();
  REQUIRE(ToString(kept.status) == "ok");
  CHECK(SameBits(kept.outputs.at("y"), Tensor::Of<float>({2, 3})));

  auto refused = [&](const Tensor& first, const Tensor& second) { return BlockTester(registry, "Scale").Input("x", first).Input("factor", second).Run().status; };
  CHECK(refused(Ten(), Tensor::Of<float>({1})).place().port == "factor");
  CHECK(refused(Ten(), Tensor::Scalar(int32_t{1})).place().port == "factor");
  CHECK(refused(Tensor::Of<double>({1}), Tensor::Scalar(1.0)).place().port == "x");
  CHECK(BlockTester(registry, "Scale").Input("x", Ten()).Run().status.code() == Code::kInvalidArgument);
  CHECK(!BlockTester(registry, "Nothing").Run().skipped.empty());
}

TEST_CASE("the block tester finds faults of blocks", "[kit]") {
  Registry registry = ToyBlocks();
  auto fault = [&](const char* block) {
    Status status = BlockTester(registry, block).Input("x", Ten()).Input("factor", Tensor::Scalar(2.0f)).Run().status;
    CHECK(status.code() == Code::kInternal);
    return ToString(status);
  };
#if !defined(__SANITIZE_ADDRESS__)  // it ends the program where the block writes
  CHECK_THAT(fault("WritesTooFar"), Catch::Contains("round the output"));
#endif
  CHECK_THAT(fault("LeavesOneOut"), Catch::Contains("LeavesOneOut.y: internal: other bits"));
  CHECK_THAT(fault("WritesItsInput"), Catch::Contains("WritesItsInput.factor: internal: the input was overwritten"));
  CHECK_THAT(fault("ReadsAhead"), Catch::Contains("with output 0 in the memory of input value 0"));
  CHECK_THAT(fault("DependsOnThreads"), Catch::Contains("on 2 threads"));
  CHECK_THAT(fault("Throws"), Catch::Contains("an exception left the block"));
}
