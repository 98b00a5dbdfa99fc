#include "blocks/logging/tensor_text.h"

#include <algorithm>

namespace weft::blocks {
namespace {

class Printer {
 public:
  Printer(const Tensor& tensor, int64_t limit, size_t most) : tensor_(tensor), limit_(limit), most_(most) {}

  std::string Print() && {
    if (tensor_.shape().scalar()) {
      if (limit_ > 0) AddValue();
    } else if (limit_ > 0) {
      PrintAxis(0);
    }
    if (limit_ < tensor_.count() || full_) text_ += "...";
    return std::move(text_);
  }

 private:
  bool ended() const { return next_ >= limit_ || full_; }

  /// The next value; strings without quotes.
  void AddValue() {
    if (tensor_.dtype() == DType::kString) {
      const std::string_view value = tensor_.values<String>()[static_cast<size_t>(next_++)];
      const size_t room = most_ - std::min(most_, text_.size());
      text_.append(value, 0, room);
      full_ = value.size() > room;
    } else {
      text_ += ElementText(tensor_, next_++);
    }
    full_ = full_ || (text_.size() >= most_ && next_ < limit_);
  }
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
      AddValue();
    }
  }

  const Tensor& tensor_;
  int64_t limit_, next_ = 0;
  size_t most_;
  bool full_ = false;  // the text has as many bytes as it may have
  std::string text_;
};

}  // namespace

std::string TensorText(const Tensor& tensor, int64_t limit, size_t most) {
  const int64_t count = tensor.count();
  return Printer(tensor, limit < 0 ? count : std::min(limit, count), most).Print();
}

}  // namespace weft::blocks
