// The optimisers: each updates a variable and its slots by a gradient, densely or by rows, of a Variable or by a handle.
#include "blocks/optimiser.h"

namespace weft::blocks {
namespace {

using kernels::Optimiser;
using Role = OptimiserInput::Role;
using Limit = OptimiserInput::Limit;

constexpr OptimiserInput kVar{Role::kValue, "var", "the variable, of any shape; of the sparse blocks of rank 1 or more"};
constexpr OptimiserInput kGrad{Role::kGradient, "grad", "the gradient, in the variable's shape; of the sparse blocks a row for each index"};
constexpr OptimiserInput kLr{Role::kScalar, "lr", "the learning rate, a scalar"};
constexpr OptimiserInput kRho{Role::kScalar, "rho", "how much a running mean keeps of itself, a scalar"};
constexpr OptimiserInput kMomentum{Role::kScalar, "momentum", "how much the velocity keeps of itself, a scalar"};
constexpr OptimiserInput kEpsilon{Role::kScalar, "epsilon", "added to keep divisors from 0, a scalar"};
constexpr OptimiserInput kL1{Role::kScalar, "l1", "how strongly absolute values are drawn to 0, a scalar"};
constexpr OptimiserInput kL2{Role::kScalar, "l2", "how strongly squares are drawn to 0, a scalar"};

constexpr OptimiserInput Slot(const char* name, const char* doc) { return {Role::kValue, name, doc}; }
/// A scalar that must keep to a limit in all blocks.
constexpr OptimiserInput Limited(OptimiserInput input, Limit limit) {
  input.limit = input.sparse_limit = limit;
  return input;
}
/// One that must do so in the sparse blocks.
constexpr OptimiserInput SparselyLimited(OptimiserInput input, Limit limit) {
  input.sparse_limit = limit;
  return input;
}

constexpr OptimiserOption kNesterov{"use_nesterov", "false", "look a step of the velocity ahead"};

OptimiserBlocks GradientDescentBlocks() {
  return {Optimiser::kGradientDescent,
          {kVar, {Role::kScalar, "alpha", "the learning rate, a scalar"}, {Role::kGradient, "delta", "the gradient, in the variable's shape"}}};
}
OptimiserBlocks MomentumBlocks() {
  return {Optimiser::kMomentum, {kVar, Slot("accum", "the velocity, in the variable's shape"), kLr, kGrad, kMomentum}, kNesterov};
}
OptimiserBlocks AdagradBlocks() {
  return {Optimiser::kAdagrad,
          {kVar, Slot("accum", "the sum of squared gradients, in the variable's shape"), kLr, kGrad},
          {"update_slots", "true", "add the gradient's square to accum"}};
}
OptimiserBlocks AdagradDABlocks() {
  return {Optimiser::kAdagradDA,
          {kVar, Slot("gradient_accumulator", "the sum of gradients, in the variable's shape"),
           Slot("gradient_squared_accumulator", "the sum of squared gradients, in the variable's shape"), kGrad, kLr, kL1, kL2,
           {Role::kStep, "global_step", "the number of this step, a scalar"}}};
}
OptimiserBlocks AdadeltaBlocks() {
  return {Optimiser::kAdadelta,
          {kVar, Slot("accum", "the running mean of squared gradients, in the variable's shape"),
           Slot("accum_update", "the running mean of squared steps, in the variable's shape"), kLr, kRho, kEpsilon, kGrad}};
}
OptimiserBlocks AdamBlocks() {
  return {Optimiser::kAdam,
          {kVar, Slot("m", "the running mean of gradients, in the variable's shape"),
           Slot("v", "the running mean of squared gradients, in the variable's shape"),
           {Role::kScalar, "beta1_power", "beta1 to the power of the number of steps, a scalar"},
           {Role::kScalar, "beta2_power", "beta2 to the power of the number of steps, a scalar"}, kLr,
           {Role::kScalar, "beta1", "how much m keeps of itself, a scalar"}, {Role::kScalar, "beta2", "how much v keeps of itself, a scalar"},
           kEpsilon, kGrad},
          kNesterov};
}
constexpr OptimiserInput kMs = Slot("ms", "the running mean of squared gradients, in the variable's shape");
constexpr OptimiserInput kMom = Slot("mom", "the velocity, in the variable's shape");
OptimiserBlocks RMSPropBlocks() { return {Optimiser::kRMSProp, {kVar, kMs, kMom, kLr, kRho, kMomentum, kEpsilon, kGrad}}; }
OptimiserBlocks CenteredRMSPropBlocks() {
  return {Optimiser::kCenteredRMSProp,
          {kVar, Slot("mg", "the running mean of gradients, in the variable's shape"), kMs, kMom, kLr, kRho, kMomentum, kEpsilon, kGrad}};
}
OptimiserBlocks FtrlBlocks() {
  constexpr OptimiserInput kPower{Role::kScalar, "lr_power", "the power of the sum of squared gradients that divides the learning rate, a scalar"};
  return {Optimiser::kFtrl,
          {kVar, Slot("accum", "the sum of squared gradients, in the variable's shape"), Slot("linear", "the linear terms, in the variable's shape"), kGrad,
           SparselyLimited(kLr, Limit::kPositive), SparselyLimited(kL1, Limit::kNotNegative), SparselyLimited(kL2, Limit::kNotNegative),
           SparselyLimited(kPower, Limit::kNotPositive)},
          {"multiply_linear_by_lr", "false", "keep linear multiplied by lr, so that lr may be 0"}};
}
OptimiserBlocks ProximalGradientDescentBlocks(bool sparse) {
  constexpr OptimiserInput kAlpha{Role::kScalar, "alpha", "the learning rate, a scalar"};
  constexpr OptimiserInput kDelta{Role::kGradient, "delta", "the gradient, in the variable's shape"};
  return {Optimiser::kProximalGradientDescent, {kVar, kAlpha, kL1, kL2, sparse ? kGrad : kDelta}};
}
OptimiserBlocks ProximalAdagradBlocks() {
  return {Optimiser::kProximalAdagrad,
          {kVar, Slot("accum", "the sum of squared gradients, in the variable's shape"), Limited(kLr, Limit::kPositive),
           Limited(kL1, Limit::kNotNegative), Limited(kL2, Limit::kNotNegative), kGrad}};
}

constexpr auto kAll = kFloats + kComplexes;
constexpr TypeList<float, double> kPlain;
constexpr TypeList<half, float, double, complex64, complex128> kRowsOfRMSProp;

constexpr OptimiserForm kDense{false, false}, kDenseResource{false, true}, kSparse{true, false}, kSparseResource{true, true};

}  // namespace

// Apply and ResourceApply, and by rows SparseApply and ResourceSparseApply.
#define WEFT_DENSE(Name, blocks, types, summary)                                                                                  \
  BlockDef Apply##Name() { return DeclareOptimiser("Apply" #Name, summary ".", blocks, kDense, types.dtypes()); }                 \
  BlockDef ResourceApply##Name() {                                                                                                \
    return DeclareOptimiser("ResourceApply" #Name, summary ", by its handle.", blocks, kDenseResource, types.dtypes());           \
  }
#define WEFT_SPARSE(Name, blocks, types, summary)                                                                                 \
  BlockDef SparseApply##Name() { return DeclareOptimiser("SparseApply" #Name, summary ", in some rows.", blocks, kSparse, types.dtypes()); } \
  BlockDef ResourceSparseApply##Name() {                                                                                          \
    return DeclareOptimiser("ResourceSparseApply" #Name, summary ", by its handle, in some rows.", blocks, kSparseResource, types.dtypes()); \
  }

WEFT_DENSE(GradientDescent, GradientDescentBlocks(), kAll, "Moves a variable against its gradient: var - alpha * delta")
WEFT_DENSE(Momentum, MomentumBlocks(), kAll, "Moves a variable by a velocity that gradients push")
WEFT_SPARSE(Momentum, MomentumBlocks(), kAll, "Moves a variable by a velocity that gradients push")
WEFT_DENSE(Adagrad, AdagradBlocks(), kAll, "Moves a variable by Adagrad: steps shrink with the squared gradients so far")
WEFT_SPARSE(Adagrad, AdagradBlocks(), kAll, "Moves a variable by Adagrad: steps shrink with the squared gradients so far")
WEFT_DENSE(AdagradDA, AdagradDABlocks(), kPlain, "Sets a variable by Adagrad's dual averaging of all gradients so far")
WEFT_SPARSE(AdagradDA, AdagradDABlocks(), kPlain, "Sets a variable by Adagrad's dual averaging of all gradients so far")
WEFT_DENSE(Adadelta, AdadeltaBlocks(), kAll, "Moves a variable by Adadelta: steps in the units of the steps so far")
WEFT_DENSE(Adam, AdamBlocks(), kAll, "Moves a variable by Adam: running means of the gradient and its square")
WEFT_DENSE(RMSProp, RMSPropBlocks(), kAll, "Moves a variable by RMSProp: gradients over the root of their mean square")
WEFT_SPARSE(RMSProp, RMSPropBlocks(), kRowsOfRMSProp, "Moves a variable by RMSProp: gradients over the root of their mean square")
WEFT_DENSE(CenteredRMSProp, CenteredRMSPropBlocks(), kAll, "Moves a variable by centered RMSProp: gradients over their standard deviation")
WEFT_SPARSE(CenteredRMSProp, CenteredRMSPropBlocks(), kRowsOfRMSProp, "Moves a variable by centered RMSProp: gradients over their standard deviation")
WEFT_DENSE(Ftrl, FtrlBlocks(), kFloats, "Sets a variable by Ftrl: it follows the regularised leader")
WEFT_SPARSE(Ftrl, FtrlBlocks(), kFloats, "Sets a variable by Ftrl: it follows the regularised leader")
WEFT_DENSE(ProximalGradientDescent, ProximalGradientDescentBlocks(false), kPlain, "Moves a variable against its gradient, and draws it to 0")
WEFT_SPARSE(ProximalGradientDescent, ProximalGradientDescentBlocks(true), kPlain, "Moves a variable against its gradient, and draws it to 0")
WEFT_DENSE(ProximalAdagrad, ProximalAdagradBlocks(), kPlain, "Moves a variable by Adagrad, and draws it to 0")
WEFT_SPARSE(ProximalAdagrad, ProximalAdagradBlocks(), kPlain, "Moves a variable by Adagrad, and draws it to 0")

BlockDef SparseApplyAdadelta() {
  BlockDef def = DeclareOptimiser("SparseApplyAdadelta", "Moves a variable by Adadelta, in some rows.", AdadeltaBlocks(), kSparse, kAll.dtypes());
  def.port_aliases.emplace_back("rh", "rho");
  return def;
}

BlockDef ResourceSparseApplyAdadelta() {
  return DeclareOptimiser("ResourceSparseApplyAdadelta", "Moves a variable by Adadelta, by its handle, in some rows.", AdadeltaBlocks(), kSparseResource,
                          kAll.dtypes());
}

}  // namespace weft::blocks
