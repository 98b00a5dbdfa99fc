// TrialInputs: what a block says of inputs in other shapes than theirs, by its own Plan.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/base/call_limit.h"
#include "runtime/plan/partial_shapes.h"

namespace weft {

class TrialInputs {
 public:
  TrialInputs(const Node& node, std::span<const InputInfo> given)
      : node_(node), given_(given.begin(), given.end()), infos_(given_), shapes_(given.size()) {}
  TrialInputs(const Node& node, std::span<const PartialInput> given) : TrialInputs(node, InfosOf(given)) {}
  TrialInputs(const TrialInputs&) = delete;
  TrialInputs& operator=(const TrialInputs&) = delete;

  std::span<const InputInfo> infos() const { return infos_; }
  /// The elements that are known of the input are those of the shape that they have, and not known of another.
  void Set(size_t value, Shape shape) {
    shapes_[value] = std::move(shape);
    infos_[value].shape = &shapes_[value];
    const Tensor* elements = given_[value].value;
    infos_[value].value = elements != nullptr && elements->shape() == shapes_[value] ? elements : nullptr;
  }
  /// All inputs; false where they have no such shapes, of too many elements.
  bool Set(std::span<const std::vector<int64_t>> dims) {
    for (size_t value = 0; value < dims.size(); ++value) {
      auto shape = Shape::Make(dims[value]);
      if (!shape.ok()) return false;
      Set(value, std::move(*shape));
    }
    return true;
  }
  /// The shape and elements that were given.
  void Reset(size_t value) { infos_[value] = given_[value]; }
  Status Plan(PlannedShapes& planned) const {
    CallLimit::Check();
    return PlanNode(node_, infos_, planned).status();
  }

 private:
  static std::vector<InputInfo> InfosOf(std::span<const PartialInput> inputs) {
    std::vector<InputInfo> infos;
    for (const PartialInput& input : inputs) infos.push_back(input.info);
    return infos;
  }

  const Node& node_;
  const std::vector<InputInfo> given_;
  std::vector<InputInfo> infos_;
  std::vector<Shape> shapes_;  // of those that were set
};

}  // namespace weft
