// The one list of all blocks, sorted by name. BLOCK(category, Name) stands for the function `BlockDef Name()` that declares it.
#include "weft/block/block.h"
#include "weft/block/registry.h"

#define WEFT_CATALOG(BLOCK) \
  BLOCK(math, Add) \
  BLOCK(math, AddN) \
  BLOCK(core, AddSymbolicGradients) \
  BLOCK(math, AddV2) \
  BLOCK(math, All) \
  BLOCK(math, Any) \
  BLOCK(training, ApplyGradientDescent) \
  BLOCK(math, ApproximateEqual) \
  BLOCK(math, ArgMax) \
  BLOCK(math, ArgMin) \
  BLOCK(state, Assign) \
  BLOCK(state, AssignAdd) \
  BLOCK(state, AssignSub) \
  BLOCK(state, AssignVariableOp) \
  BLOCK(nn, BiasAdd) \
  BLOCK(nn, BiasAddGrad) \
  BLOCK(array_ops, BroadcastLike) \
  BLOCK(math, Cast) \
  BLOCK(core, ClientSession) \
  BLOCK(math, Complex) \
  BLOCK(math, Conj) \
  BLOCK(core, Const) \
  BLOCK(core, Const_ex) \
  BLOCK(nn, Conv2D) \
  BLOCK(nn, Conv2DBackpropFilter) \
  BLOCK(nn, Conv2DBackpropFilterLike) \
  BLOCK(nn, Conv2DBackpropInput) \
  BLOCK(nn, Conv2DBackpropInputLike) \
  BLOCK(nn, Conv3D) \
  BLOCK(nn, Conv3DBackpropFilterLike) \
  BLOCK(nn, Conv3DBackpropFilterV2) \
  BLOCK(nn, Conv3DBackpropInputLike) \
  BLOCK(nn, Conv3DBackpropInputV2) \
  BLOCK(math, Cosh) \
  BLOCK(state, CountUpTo) \
  BLOCK(parsing_op, DecodeRaw) \
  BLOCK(nn, DepthwiseConv2dNative) \
  BLOCK(nn, DepthwiseConv2dNativeBackpropFilter) \
  BLOCK(nn, DepthwiseConv2dNativeBackpropFilterLike) \
  BLOCK(nn, DepthwiseConv2dNativeBackpropInput) \
  BLOCK(nn, DepthwiseConv2dNativeBackpropInputLike) \
  BLOCK(array_ops, Dequantize) \
  BLOCK(state, DestroyTemporaryVariable) \
  BLOCK(math, Div) \
  BLOCK(math, Equal) \
  BLOCK(math, Exp) \
  BLOCK(math, Expm1) \
  BLOCK(data_flow_ops, FIFOQueue) \
  BLOCK(array_ops, FakeQuantWithMinMaxArgs) \
  BLOCK(array_ops, FakeQuantWithMinMaxArgsGradient) \
  BLOCK(array_ops, FakeQuantWithMinMaxVars) \
  BLOCK(array_ops, FakeQuantWithMinMaxVarsGradient) \
  BLOCK(array_ops, FakeQuantWithMinMaxVarsPerChannel) \
  BLOCK(array_ops, FakeQuantWithMinMaxVarsPerChannelGradient) \
  BLOCK(core, FeedType) \
  BLOCK(array_ops, Fill) \
  BLOCK(io_ops, FixedLengthRecordReader) \
  BLOCK(math, FoldAxes) \
  BLOCK(nn, FusedBatchNorm) \
  BLOCK(nn, FusedBatchNormGrad) \
  BLOCK(nn, FusedBatchNormGradGrad) \
  BLOCK(nn, FusedBatchNormGradV2) \
  BLOCK(nn, FusedBatchNormGradV3) \
  BLOCK(nn, FusedBatchNormV2) \
  BLOCK(nn, FusedBatchNormV3) \
  BLOCK(math, Greater) \
  BLOCK(math, GreaterEqual) \
  BLOCK(array_ops, Identity) \
  BLOCK(math, Imag) \
  BLOCK(core, Input) \
  BLOCK(core, InputList) \
  BLOCK(core, Input_Initializer) \
  BLOCK(state, IsVariableInitialized) \
  BLOCK(nn, L2Loss) \
  BLOCK(math, Less) \
  BLOCK(math, LessEqual) \
  BLOCK(math, Log) \
  BLOCK(math, Log1p) \
  BLOCK(nn, LogSoftmax) \
  BLOCK(math, LogicalAnd) \
  BLOCK(math, LogicalNot) \
  BLOCK(math, LogicalOr) \
  BLOCK(math, MatMul) \
  BLOCK(math, Max) \
  BLOCK(nn, MaxPool) \
  BLOCK(nn, MaxPoolGrad) \
  BLOCK(nn, MaxPoolGradGrad) \
  BLOCK(math, Maximum) \
  BLOCK(math, Mean) \
  BLOCK(control_flow_ops, Merge) \
  BLOCK(math, Min) \
  BLOCK(math, Minimum) \
  BLOCK(math, Mod) \
  BLOCK(random, Multinomial) \
  BLOCK(math, Multiply) \
  BLOCK(math, Negate) \
  BLOCK(math, NotEqual) \
  BLOCK(array_ops, OneHot) \
  BLOCK(array_ops, OnesLike) \
  BLOCK(core, Operation) \
  BLOCK(core, Output) \
  BLOCK(random, ParameterizedTruncatedNormal) \
  BLOCK(array_ops, Placeholder) \
  BLOCK(math, Prod) \
  BLOCK(array_ops, QuantizeAndDequantizeV2) \
  BLOCK(math, QuantizeDownAndShrinkRange) \
  BLOCK(array_ops, QuantizeV2) \
  BLOCK(nn, QuantizedBatchNormWithGlobalNormalization) \
  BLOCK(nn, QuantizedBiasAdd) \
  BLOCK(array_ops, QuantizedConcat) \
  BLOCK(nn, QuantizedConv2D) \
  BLOCK(array_ops, QuantizedInstanceNorm) \
  BLOCK(math, QuantizedMatMul) \
  BLOCK(math, QuantizedMul) \
  BLOCK(nn, QuantizedRelu) \
  BLOCK(nn, QuantizedRelu6) \
  BLOCK(nn, QuantizedReluX) \
  BLOCK(array_ops, QuantizedReshape) \
  BLOCK(data_flow_ops, QueueClose) \
  BLOCK(data_flow_ops, QueueDequeue) \
  BLOCK(data_flow_ops, QueueDequeueMany) \
  BLOCK(data_flow_ops, QueueDequeueUpTo) \
  BLOCK(data_flow_ops, QueueEnqueue) \
  BLOCK(data_flow_ops, QueueEnqueueMany) \
  BLOCK(data_flow_ops, QueueSize) \
  BLOCK(random, RandomGamma) \
  BLOCK(random, RandomNormal) \
  BLOCK(random, RandomNormal_ex) \
  BLOCK(random, RandomPoisson) \
  BLOCK(random, RandomShuffle) \
  BLOCK(random, RandomUniform) \
  BLOCK(random, RandomUniformInt) \
  BLOCK(state, ReadVariableOp) \
  BLOCK(io_ops, ReaderNumRecordsProduced) \
  BLOCK(io_ops, ReaderNumWorkUnitsCompleted) \
  BLOCK(io_ops, ReaderRead) \
  BLOCK(io_ops, ReaderReadUpTo) \
  BLOCK(io_ops, ReaderReset) \
  BLOCK(math, Real) \
  BLOCK(math, RealDiv) \
  BLOCK(math, Reciprocal) \
  BLOCK(math, ReciprocalGrad) \
  BLOCK(nn, Relu) \
  BLOCK(nn, ReluGrad) \
  BLOCK(math, RequantizationRange) \
  BLOCK(math, Requantize) \
  BLOCK(array_ops, Reshape) \
  BLOCK(array_ops, ReshapeLike) \
  BLOCK(io_ops, Restore) \
  BLOCK(math, Rsqrt) \
  BLOCK(math, RsqrtGrad) \
  BLOCK(io_ops, Save) \
  BLOCK(core, Scope) \
  BLOCK(math, SelectV2) \
  BLOCK(math, Sigmoid) \
  BLOCK(math, SigmoidGrad) \
  BLOCK(math, Sinh) \
  BLOCK(nn, Softmax) \
  BLOCK(nn, SoftmaxCrossEntropyWithLogits) \
  BLOCK(sparse_ops, SparseToDense) \
  BLOCK(sparse_ops, SparseToDenseGrad) \
  BLOCK(math, SpreadLike) \
  BLOCK(math, Sqrt) \
  BLOCK(math, SqrtGrad) \
  BLOCK(math, Square) \
  BLOCK(core, Status) \
  BLOCK(math, Subtract) \
  BLOCK(math, Sum) \
  BLOCK(math, SumLike) \
  BLOCK(control_flow_ops, Switch) \
  BLOCK(math, Tanh) \
  BLOCK(math, TanhGrad) \
  BLOCK(state, TemporaryVariable) \
  BLOCK(core, Tensor) \
  BLOCK(array_ops, Transpose) \
  BLOCK(array_ops, TransposeBack) \
  BLOCK(random, TruncatedNormal) \
  BLOCK(math, UnfoldAxes) \
  BLOCK(state, VarHandleOp) \
  BLOCK(state, Variable) \
  BLOCK(math, Where3) \
  BLOCK(array_ops, ZerosLike) \
  /* one block a line, sorted by name */

namespace weft {
namespace blocks {

#define WEFT_DECLARE(category, name) BlockDef name();
WEFT_CATALOG(WEFT_DECLARE)
#undef WEFT_DECLARE

}  // namespace blocks

Registry MakeCatalog() {
#define WEFT_ENTRY(category, name) CatalogEntry{#category, blocks::name},
  static constexpr CatalogEntry kEntries[] = {WEFT_CATALOG(WEFT_ENTRY) CatalogEntry{nullptr, nullptr}};
#undef WEFT_ENTRY
  return Registry(std::span(kEntries, std::size(kEntries) - 1));
}

}  // namespace weft
