// Builder: what a block's gradient function builds with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/gradient_record.h"
#include "runtime/plan/gradient_rewrite.h"
#include "weft/block/gradient_source.h"

namespace weft {

class Builder final : public GradientBuilder, public SourcedGradient {
 public:
  /// `known`, unless it is null, gets what the gradient adds and sets.
  Builder(Rewrite& rewrite, int node, std::span<const ValueRef> gradients, GradientRecord* known)
      : rewrite_(rewrite), index_(node), base_(rewrite.nodes()), gradients_(gradients), known_(known) {}

  const Status& status() const { return status_; }
  /// Whether `known` holds for blocks like this one.
  bool holds() const { return known_ != nullptr && located_; }

  const std::string& source() const override { return rewrite_.source(); }

  const AttrValue& AttrOf(std::string_view name) const override {
    static const AttrValue kNone;
    int index = node().def->FindAttr(name);
    return index < 0 ? kNone : node().attrs[index];
  }
  DType dtype(GradientValue v) const override {
    if (!v.valid()) return DType::kInvalid;
    const auto& types = rewrite_.node(v.node).output_types;
    return static_cast<size_t>(v.output) < types.size() ? types[static_cast<size_t>(v.output)] : DType::kInvalid;
  }

  GradientValue Add(std::string_view block, const GradientInputs& inputs, const GradientAttrs& attrs) override {
    if (!status_.ok()) return {};
    const BlockDef* def = rewrite_.registry().Find(block);
    if (def == nullptr) return Fail(Unsupported("its gradient needs the block ", block, ", which this registry lacks"));
    rewrite_.ports.clear();
    for (const auto& [name, values] : inputs) {
      rewrite_.ports.push_back(def->FindInput(name));
      if (rewrite_.ports.back() < 0) return Fail(Internal("its gradient connects '", name, "', which ", block, " has not"));
    }
    rewrite_.inputs.clear();
    rewrite_.first.assign(1, 0);
    for (size_t p = 0; p < def->inputs.size(); ++p) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (rewrite_.ports[i] != static_cast<int>(p)) continue;
        for (GradientValue value : inputs[i].second) {
          if (!value.valid()) return Fail(Internal("its gradient connects nothing to ", block, ".", inputs[i].first));
          rewrite_.inputs.push_back({value.node, value.output});
        }
      }
      rewrite_.first.push_back(static_cast<uint32_t>(rewrite_.inputs.size()));
      if (rewrite_.first[p] == rewrite_.first[p + 1] && def->inputs[p].list == PortList::kSingle) {
        return Fail(Internal("its gradient leaves ", block, ".", def->inputs[p].name, " unconnected"));
      }
    }
    std::vector<std::pair<std::string_view, AttrValue>> given;
    for (const auto& [name, value] : attrs) {
      if (value.index() != 0) given.emplace_back(name, value);
    }
    auto added = rewrite_.Add(block, *def, rewrite_.inputs, rewrite_.first, given);
    if (!added.ok()) return Fail(std::move(added).status());
    Note(block, added->node, rewrite_.inputs);
    return {added->node, added->output};
  }

  GradientValue Constant(Tensor tensor) override {
    ValueRef value = rewrite_.AddConstant(std::move(tensor));
    Note("", value.node, {});
    return {value.node, value.output};
  }

 protected:
  GradientValue InputValue(int port, int k) const override { return Out(node().inputs[node().in_first[port] + k]); }
  int InputCount(int port) const override { return static_cast<int>(node().in_first[port + 1] - node().in_first[port]); }
  int OutputCount(int port) const override { return static_cast<int>(node().out_first[port + 1] - node().out_first[port]); }
  GradientValue OutputValue(int port, int k) const override { return {index_, static_cast<int>(node().out_first[port]) + k}; }
  GradientValue OutputGradient(int port, int k) const override { return Out(gradients_[node().out_first[port] + k]); }
  bool InputWanted(int port, int k) const override { return rewrite_.path().Wants(node().inputs[node().in_first[port] + k]); }
  void SetInput(int port, int k, GradientValue gradient) override {
    if (!gradient.valid()) return;
    const uint32_t place = node().in_first[port] + static_cast<uint32_t>(k);
    ValueRef input = node().inputs[place];
    if (!rewrite_.path().Wants(input)) return;
    rewrite_.Contribute(input, {gradient.node, gradient.output});
    if (known_ == nullptr) return;
    GradientRecord::Value& value = known_->set.emplace_back(static_cast<int>(place), GradientRecord::Value()).second;
    located_ &= rewrite_.Locate({gradient.node, gradient.output}, base_, value);
  }

 private:
  static GradientValue Out(ValueRef v) { return {v.node, v.output}; }
  const Node& node() const { return rewrite_.node(index_); }
  void Note(std::string_view block, int added, std::span<const ValueRef> inputs) {
    if (known_ == nullptr) return;
    GradientRecord::Added& noted = known_->added.emplace_back();
    noted.block = block;
    noted.node = rewrite_.node(added);
    noted.node.id.clear();
    noted.node.inputs.clear();
    for (ValueRef input : inputs) located_ &= rewrite_.Locate(input, base_, noted.inputs.emplace_back());
  }
  GradientValue Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return {};
  }

  Rewrite& rewrite_;
  int index_;
  int base_;  // the first node that it adds
  std::span<const ValueRef> gradients_;
  GradientRecord* known_;
  bool located_ = true;
  Status status_;
};

}  // namespace weft
