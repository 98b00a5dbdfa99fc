// TensorArray: tensors by index, written and read by the blocks of one run.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "weft/base/tensor.h"
#include "weft/base/workers.h"
#include "weft/block/run_resource.h"

namespace weft::blocks {

struct TensorArraySpec {
  DType dtype = DType::kInvalid;
  PartialShape element_shape;
  bool dynamic_size = false;      // a write behind the end makes the array longer
  bool clear_after_read = true;   // an element is read once, and its memory given back
  bool identical_shapes = false;  // all elements have the shape of the first
};

/// Thread-safe. An element takes memory from when it is written; all of it counts in the budget. An element is written once, and not after
/// it was read; those of a gradient are sums of all that was written. Failures say what was needed and found; those that are a value's or
/// the array's fault name its port, those of an index none.
class TensorArray final : public RunResource {
 public:
  static constexpr std::string_view kKind = "TensorArray";

  TensorArray(TensorArraySpec spec, int64_t size, std::shared_ptr<MemoryBudget> budget)
      : budget_(std::move(budget)), spec_(std::move(spec)), size_(size), charge_(budget_) {}
  std::string_view kind() const override { return kKind; }

  DType dtype() const { return spec_.dtype; }
  Result<int64_t> size() const;
  /// Elements must have this shape, too. invalid_argument where they cannot.
  Status NarrowShape(const PartialShape& shape);
  /// That of every element, as far as it is known.
  PartialShape element_shape() const;
  /// An array that grows has so many elements from now on, or more. invalid_argument where one that does not has fewer.
  Status Extend(int64_t size);
  /// Copies the value.
  Status Write(int64_t index, const Tensor& value, Workers& workers);
  /// Zeros for an element of a known shape that was not written.
  Result<Tensor> Read(int64_t index, Workers& workers);
  /// Gives back the elements; the array is of no use from then on.
  void Close();
  void EndRun() noexcept override;

  /// The array that sums the gradients of the elements for `source`, made at the first call. This one does not grow any more.
  Result<std::shared_ptr<TensorArray>> Gradient(const std::string& source, const Workers& workers);

 private:
  struct Element {
    Tensor tensor;  // undefined: zeros
    Shape shape;
    bool written = false, read = false, cleared = false;
  };

  Status CheckOpen() const;
  Status CheckIndex(int64_t index) const;
  Result<Element*> Touch(int64_t index);
  Status MarkWritten(Element& element, const Shape& shape);
  Status TakeShapes(const TensorArray& from, const Workers& workers);

  const std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  TensorArraySpec spec_;  // dtype and clear_after_read never change
  int64_t size_;
  bool closed_ = false;
  bool sums_ = false;     // a gradient
  bool summed_ = false;   // some element was written more than once
  std::unordered_map<int64_t, Element> elements_;  // those that were written
  MemoryCharge charge_;                            // of their entries
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;  // by source
};

}  // namespace weft::blocks
