// The optimisers: each updates a variable and its slots by a gradient, densely or by rows, of a Variable or by a handle.
#include "blocks/optimiser.h"

namespace weft::blocks {
namespace {

using kernels::Optimiser;
using Role = OptimiserInput::Role;
using Limit = OptimiserInput::Limit;

constexpr OptimiserInput Scalar(const char* name, const char* doc) { return {Role::kScalar, name, doc}; }
constexpr OptimiserInput Slot(const char* name, const char* doc) { return {Role::kValue, name, doc}; }

constexpr OptimiserInput kVar{Role::kValue, "var", "the variable, of any shape; where rows are updated of rank 1 or more"};
constexpr OptimiserInput kGrad{Role::kGradient, "grad", "the gradient, in the variable's shape; of some rows a row for each index"};
constexpr OptimiserInput kDelta{Role::kGradient, "delta", kGrad.doc};
constexpr OptimiserInput kAlpha = Scalar("alpha", "the learning rate, a scalar");
constexpr OptimiserInput kLr = Scalar("lr", "the learning rate, a scalar");
constexpr OptimiserInput kRho = Scalar("rho", "how much a running mean keeps of itself, a scalar");
constexpr OptimiserInput kMomentum = Scalar("momentum", "how much the velocity keeps of itself, a scalar");
constexpr OptimiserInput kEpsilon = Scalar("epsilon", "added to keep divisors from 0, a scalar");
constexpr OptimiserInput kL1 = Scalar("l1", "how strongly absolute values are drawn to 0, a scalar");
constexpr OptimiserInput kL2 = Scalar("l2", "how strongly squares are drawn to 0, a scalar");
constexpr OptimiserInput kSquares = Slot("accum", "the sum of squared gradients, in the variable's shape");
constexpr OptimiserInput kMs = Slot("ms", "the running mean of squared gradients, in the variable's shape");
constexpr OptimiserInput kMom = Slot("mom", "the velocity, in the variable's shape");

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
constexpr auto kAll = kFloats + kComplexes;
constexpr TypeList<float, double> kPlain;
constexpr TypeList<half, float, double, complex64, complex128> kRowsOfRMSProp;

OptimiserBlocks GradientDescent(OptimiserForm) {
  return {"GradientDescent", "Moves a variable against its gradient: var - alpha * delta", Optimiser::kGradientDescent,
          {kVar, kAlpha, kDelta}, kAll.dtypes()};
}

OptimiserBlocks Momentum(OptimiserForm) {
  return {"Momentum", "Moves a variable by a velocity that gradients push", Optimiser::kMomentum,
          {kVar, Slot("accum", "the velocity, in the variable's shape"), kLr, kGrad, kMomentum}, kAll.dtypes(), kNesterov};
}

OptimiserBlocks Adagrad(OptimiserForm) {
  return {"Adagrad", "Moves a variable by Adagrad: steps shrink with the squared gradients so far", Optimiser::kAdagrad,
          {kVar, kSquares, kLr, kGrad}, kAll.dtypes(), {"update_slots", "true", "add the gradient's square to accum"}, true};
}

OptimiserBlocks AdagradDA(OptimiserForm) {
  return {"AdagradDA", "Sets a variable by Adagrad's dual averaging of all gradients so far", Optimiser::kAdagradDA,
          {kVar, Slot("gradient_accumulator", "the sum of gradients, in the variable's shape"),
           Slot("gradient_squared_accumulator", "the sum of squared gradients, in the variable's shape"), kGrad, kLr, kL1, kL2,
           {Role::kStep, "global_step", "the number of this step, a scalar"}},
          kPlain.dtypes(), {}, true};
}

OptimiserBlocks Adadelta(OptimiserForm) {
  return {"Adadelta", "Moves a variable by Adadelta: steps in the units of the steps so far", Optimiser::kAdadelta,
          {kVar, Slot("accum", "the running mean of squared gradients, in the variable's shape"),
           Slot("accum_update", "the running mean of squared steps, in the variable's shape"), kLr, kRho, kEpsilon, kGrad},
          kAll.dtypes()};
}

OptimiserBlocks Adam(OptimiserForm) {
  return {"Adam", "Moves a variable by Adam: running means of the gradient and its square", Optimiser::kAdam,
          {kVar, Slot("m", "the running mean of gradients, in the variable's shape"),
           Slot("v", "the running mean of squared gradients, in the variable's shape"),
           Scalar("beta1_power", "beta1 to the power of the number of steps, a scalar"),
           Scalar("beta2_power", "beta2 to the power of the number of steps, a scalar"), kLr,
           Scalar("beta1", "how much m keeps of itself, a scalar"), Scalar("beta2", "how much v keeps of itself, a scalar"), kEpsilon,
           kGrad},
          kAll.dtypes(), kNesterov};
}

OptimiserBlocks RMSProp(OptimiserForm form) {
  return {"RMSProp", "Moves a variable by RMSProp: gradients over the root of their mean square",
          form.sparse ? Optimiser::kRMSPropOfRows : Optimiser::kRMSProp,
          {kVar, kMs, kMom, kLr, kRho, kMomentum, kEpsilon, kGrad}, form.sparse ? kRowsOfRMSProp.dtypes() : kAll.dtypes()};
}

OptimiserBlocks CenteredRMSProp(OptimiserForm form) {
  return {"CenteredRMSProp", "Moves a variable by centered RMSProp: gradients over their standard deviation",
          form.sparse ? Optimiser::kCenteredRMSPropOfRows : Optimiser::kCenteredRMSProp,
          {kVar, Slot("mg", "the running mean of gradients, in the variable's shape"), kMs, kMom, kLr, kRho, kMomentum, kEpsilon, kGrad},
          form.sparse ? kRowsOfRMSProp.dtypes() : kAll.dtypes()};
}

OptimiserBlocks Ftrl(OptimiserForm form) {
  constexpr OptimiserInput kPower = Scalar("lr_power", "what power of accum divides the learning rate, times -1; a scalar");
  return {"Ftrl", "Sets a variable by Ftrl: it follows the regularised leader",
          form.sparse ? Optimiser::kFtrlOfRows : Optimiser::kFtrl,
          {kVar, kSquares, Slot("linear", "the linear terms, in the variable's shape"), kGrad, SparselyLimited(kLr, Limit::kPositive),
           SparselyLimited(kL1, Limit::kNotNegative), SparselyLimited(kL2, Limit::kNotNegative),
           SparselyLimited(kPower, Limit::kNotPositive)},
          kFloats.dtypes(), {"multiply_linear_by_lr", "false", "keep linear multiplied by lr, so that lr may be 0"}, true};
}

OptimiserBlocks ProximalGradientDescent(OptimiserForm) {
  return {"ProximalGradientDescent", "Moves a variable against its gradient, and draws it to 0", Optimiser::kProximalGradientDescent,
          {kVar, kAlpha, kL1, kL2, kDelta}, kPlain.dtypes(), {}, true};
}

OptimiserBlocks ProximalAdagrad(OptimiserForm) {
  return {"ProximalAdagrad", "Moves a variable by Adagrad, and draws it to 0", Optimiser::kProximalAdagrad,
          {kVar, kSquares, Limited(kLr, Limit::kPositive), Limited(kL1, Limit::kNotNegative), Limited(kL2, Limit::kNotNegative), kGrad},
          kPlain.dtypes(), {}, true};
}

BlockDef Declare(OptimiserBlocks (*blocks)(OptimiserForm), OptimiserForm form) { return DeclareOptimiser(blocks(form), form); }
constexpr OptimiserForm kDense{false, false}, kDenseResource{false, true}, kSparse{true, false}, kSparseResource{true, true};

}  // namespace

#define WEFT_DENSE(Name)                                         \
  BlockDef Apply##Name() { return Declare(Name, kDense); }       \
  BlockDef ResourceApply##Name() { return Declare(Name, kDenseResource); }
#define WEFT_SPARSE(Name)                                        \
  BlockDef SparseApply##Name() { return Declare(Name, kSparse); } \
  BlockDef ResourceSparseApply##Name() { return Declare(Name, kSparseResource); }

WEFT_DENSE(Adadelta)
WEFT_DENSE(Adagrad)
WEFT_DENSE(AdagradDA)
WEFT_DENSE(Adam)
WEFT_DENSE(CenteredRMSProp)
WEFT_DENSE(Ftrl)
WEFT_DENSE(GradientDescent)
WEFT_DENSE(Momentum)
WEFT_DENSE(ProximalAdagrad)
WEFT_DENSE(ProximalGradientDescent)
WEFT_DENSE(RMSProp)

WEFT_SPARSE(Adagrad)
WEFT_SPARSE(AdagradDA)
WEFT_SPARSE(CenteredRMSProp)
WEFT_SPARSE(Ftrl)
WEFT_SPARSE(Momentum)
WEFT_SPARSE(ProximalAdagrad)
WEFT_SPARSE(ProximalGradientDescent)
WEFT_SPARSE(RMSProp)

BlockDef SparseApplyAdadelta() {
  BlockDef def = Declare(Adadelta, kSparse);
  def.port_aliases.emplace_back("rh", "rho");  // the palette's
  return def;
}
BlockDef ResourceSparseApplyAdadelta() { return Declare(Adadelta, kSparseResource); }

}  // namespace weft::blocks
