// Tensors as TensorProto messages: type, shape and elements; shapes as messages of their own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "blocks/string/elements.h"
#include "weft/base/tensor.h"
#include "weft/block/services.h"

namespace weft::blocks::protobuf {

/// A shape as a TensorShapeProto message.
std::string ShapeMessage(const Shape& shape);

/// How a message has strings: all their sizes and then all their bytes as its content, or each in a field of its own.
enum class StringsAs : uint8_t { kContent, kFields };

/// The message of a tensor whose elements stay where they are until it is written. Numbers are written as they are in memory. Not for handles.
class TensorMessage {
 public:
  /// cancelled where the run of `workers`, which must outlive this, is to end.
  static Result<TensorMessage> Make(DType dtype, const Shape& shape, const void* elements, Workers& workers,
                                    StringsAs strings = StringsAs::kContent);
  uint64_t size() const { return head_.size() + content_size_; }
  /// Puts size() bytes, fewer where the run is to end.
  void WriteTo(StringWriter& to) const;

 private:
  TensorMessage() = default;
  void WriteStrings(StringWriter& to) const;

  DType dtype_ = DType::kInvalid;
  StringsAs strings_ = StringsAs::kContent;
  const void* elements_ = nullptr;
  int64_t count_ = 0;
  std::string head_;  // type and shape, and what comes before the content
  uint64_t content_size_ = 0;
};

/// The message as a string within the budget, which may be null.
Result<String> TensorString(DType dtype, const Shape& shape, const void* elements, Workers& workers, const std::shared_ptr<MemoryBudget>& budget);

/// Reads a message of that type, which is untrusted; what it becomes counts in the budget, which may be null. Of fewer numbers or strings than
/// elements the last one is repeated, without any the elements are 0, and those beyond the shape do not count, as TensorFlow does it.
/// invalid_argument where the message is damaged, of another type, or its content is not just the elements of its shape; cancelled where the
/// run is to end.
Result<Tensor> TakeTensor(std::string_view message, DType dtype, Workers& workers, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace weft::blocks::protobuf
