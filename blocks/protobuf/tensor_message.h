// Tensors as TensorProto messages: type, shape and elements; shapes as messages of their own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weft/base/tensor.h"
#include "weft/block/services.h"

namespace weft::blocks::protobuf {

/// A shape as a TensorShapeProto message.
std::string ShapeMessage(const Shape& shape);

/// Appends the type and the shape of a message.
void PutTensorHead(std::string& out, DType dtype, const Shape& of);
/// Appends a message whose elements are bytes: numbers as they are in memory, strings as their sizes and what they hold. Not for handles.
/// Leaves when the run of `workers` is to end; the message is then of no use.
void PutTensor(std::string& out, DType dtype, const Shape& of, const void* elements, const Workers& workers);

/// Reads a message of that type, which is untrusted; what it becomes counts in the budget, which may be null. Of fewer numbers or strings than
/// elements the last one is repeated, without any the elements are 0, and those beyond the shape do not count, as TensorFlow does it.
/// invalid_argument where the message is damaged, of another type, or its content is not just the elements of its shape; cancelled where the
/// run is to end.
Result<Tensor> TakeTensor(std::string_view message, DType dtype, Workers& workers, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace weft::blocks::protobuf
