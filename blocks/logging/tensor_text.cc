#include "blocks/logging/tensor_text.h"

#include <algorithm>

namespace weft::blocks {
namespace {

/// Strings without the quotes.
std::string ValueText(const Tensor& tensor, int64_t index) {
  std::string text = ElementText(tensor, index);
  if (tensor.dtype() == DType::kString && text.size() >= 2) text = text.substr(1, text.size() - 2);
  return text;
}

class Printer {
 public:
  Printer(const Tensor& tensor, int64_t limit) : tensor_(tensor), limit_(limit) {}

  std::string Print() && {
    if (tensor_.shape().scalar()) {
      if (limit_ > 0) text_ = ValueText(tensor_, 0);
    } else if (limit_ > 0) {
      PrintAxis(0);
    }
    if (limit_ < tensor_.count()) text_ += "...";
    return std::move(text_);
  }

 private:
  bool ended() const { return next_ >= limit_; }

  void PrintAxis(int axis) {
    const Shape& shape = tensor_.shape();
    if (axis + 1 == shape.rank()) {
      PrintRow(shape[axis], axis > 0);
      return;
    }
    for (int64_t i = 0; i < shape[axis] && !ended(); ++i) {
      text_ += '[';
      PrintAxis(axis + 1);
      text_ += ']';
    }
  }
  void PrintRow(int64_t size, bool inner) {
    for (int64_t i = 0; i < size; ++i) {
      if (ended()) {
        if (inner) text_ += "...";
        return;
      }
      if (i > 0) text_ += ' ';
      text_ += ValueText(tensor_, next_++);
    }
  }

  const Tensor& tensor_;
  int64_t limit_, next_ = 0;
  std::string text_;
};

}  // namespace

std::string TensorText(const Tensor& tensor, int64_t limit) {
  const int64_t count = tensor.count();
  return Printer(tensor, limit < 0 ? count : std::min(limit, count)).Print();
}

}  // namespace weft::blocks
