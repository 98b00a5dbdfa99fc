// Each block on a path from an x to a y is asked, last first, to add the blocks that turn the gradients of its outputs into those of its
// inputs.
#include "runtime/plan/gradients.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "runtime/base/call_limit.h"
#include "runtime/plan/connecting.h"
#include "runtime/plan/gradient_builder.h"
#include "runtime/plan/loop_gradients.h"
#include "runtime/plan/step_order.h"

namespace weft {
// In the gradient of a loop, with the values that an iteration had.
Result<ValueRef> Rewrite::Add(std::string_view block, const BlockDef& def, std::span<const ValueRef> inputs,
                              std::span<const uint32_t> first, Reuse::GivenAttrs attrs) {
  adder_.set_frame(0);
  std::vector<ValueRef> local;
  if (loop_ != nullptr) {
    for (ValueRef input : inputs) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef brought, loop_->Local(input));
      local.push_back(brought);
    }
    inputs = local;
    adder_.set_frame(loop_->gradient_frame());
  }
  WEFT_ASSIGN_OR_RETURN(int added, adder_.Add(block, def, inputs, first, attrs));
  return ValueRef{added, 0};
}

Result<ValueRef> Rewrite::Add(std::string_view block, std::span<const ValueRef> inputs) {
  const BlockDef* def = registry().Find(block);
  if (def == nullptr) return Unsupported("needs the block ", block, ", which this registry lacks");
  const uint32_t first[] = {0, static_cast<uint32_t>(inputs.size())};
  return Add(block, *def, inputs, first, {});
}

void Rewrite::Contribute(ValueRef value, ValueRef gradient) {
  if (loop_ != nullptr && !loop_->Makes(value)) return loop_->AddOutside(value, gradient);
  int& last = last_term_[path_.IndexOf(value)];
  terms_.push_back({gradient, last});
  last = static_cast<int>(terms_.size()) - 1;
}

Result<ValueRef> Rewrite::GradientOf(ValueRef value) {
  int& last = last_term_[path_.IndexOf(value)];
  if (last < 0) return ValueRef{};
  if (terms_[last].before < 0) return terms_[last].gradient;
  std::vector<ValueRef> terms;
  for (int term = last; term >= 0; term = terms_[term].before) terms.push_back(terms_[term].gradient);
  std::reverse(terms.begin(), terms.end());
  const bool may_be_dead = loop_ != nullptr ? loop_->conditional() : path_.MayHaveDeadTerm(value);
  WEFT_ASSIGN_OR_RETURN(ValueRef sum, Sum(terms, may_be_dead));
  terms_[last] = {sum, -1};
  return sum;
}

Result<ValueRef> Rewrite::Sum(const std::vector<ValueRef>& terms, bool may_be_dead) {
  if (terms.size() == 1) return terms[0];
  if (!may_be_dead) return Add("AddN", terms);
  const BlockDef* add = registry().Find("AddV2");
  if (add == nullptr) return Unsupported("needs the block AddV2, which this registry lacks");
  ValueRef sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    const ValueRef two[] = {sum, terms[i]};
    WEFT_ASSIGN_OR_RETURN(const ValueRef both, Add("AddV2", *add, two, PortTable::Single(2).table(), {}));
    const ValueRef some[] = {both, sum, terms[i]};
    WEFT_ASSIGN_OR_RETURN(sum, Add("Merge", some));
  }
  return sum;
}

bool Rewrite::conditional() const { return loop_ != nullptr ? loop_->conditional() : path_.conditional(); }

const std::set<int>& Rewrite::updated_in_loops() {
  if (updated_in_loops_) return *updated_in_loops_;
  std::set<int>& updated = updated_in_loops_.emplace();
  std::unordered_set<int> roots;  // many updates may go through one RefSelect of many variables
  for (int i = 0; i < nodes(); ++i) {
    CallLimit::Check();
    if (node(i).def == nullptr || node(i).broken || node(i).frame == 0 || node(i).order < 0) continue;  // or not connected yet
    for (int port : node(i).def->updates) {
      for (uint32_t v = node(i).in_first[port]; v < node(i).in_first[port + 1]; ++v) {
        const ValueRef root = graph().ReferenceRoot(node(i).inputs[v]);
        if (!root.valid() || !roots.insert(root.node).second) continue;
        for (int variable : graph().VariablesOf(root)) updated.insert(node(variable).variable);
      }
    }
  }
  return updated;
}

// Fills in own_, and what identifies blocks like this one; false where that is not enough: it has many values, or one of them twice.
bool Rewrite::Describe(int i, ShortList<uint16_t, 12>& values) {
  constexpr size_t kMostValues = 16;
  constexpr uint16_t kWanted = 1 << 15, kNone = 0xFFFF;
  const size_t inputs = node(i).inputs.size();
  if (inputs + 2 * gradients_.size() > kMostValues) return false;
  own_.assign(node(i).inputs.begin(), node(i).inputs.end());
  for (size_t v = 0; v < gradients_.size(); ++v) own_.push_back({i, static_cast<int>(v)});
  own_.insert(own_.end(), gradients_.begin(), gradients_.end());
  for (auto own = own_.begin(); own != own_.end(); ++own) {
    if (own->valid() && std::find(own_.begin(), own, *own) != own) return false;
    const bool wanted = values.size() < inputs && path_.Wants(*own);
    values.push_back(own->valid() ? static_cast<uint16_t>(TypeKey(graph(), *own) | (wanted ? kWanted : 0)) : kNone);
  }
  return true;
}

bool Rewrite::Locate(ValueRef value, int base, GradientRecord::Value& found) const {
  if (value.node >= base) {
    found = {value.node - base, value.output};
    return true;
  }
  const auto own = std::find(own_.begin(), own_.end(), value);
  found = {-1, static_cast<int>(own - own_.begin())};
  return own != own_.end();
}

// What the gradient of a block like this one added.
Status Rewrite::Add(int i, const GradientRecord& known) {
  const int base = nodes();
  adder_.set_frame(0);
  const auto find = [&](const GradientRecord::Value& value) {
    return value.added < 0 ? own_[static_cast<size_t>(value.index)] : ValueRef{base + value.added, value.index};
  };
  for (const GradientRecord::Added& added : known.added) {
    if (added.block.empty()) {
      AddConstant(added.node.constant);
      continue;
    }
    inputs.clear();
    for (const GradientRecord::Value& value : added.inputs) inputs.push_back(find(value));
    WEFT_RETURN_IF_ERROR(adder_.AddLike(added.block, added.node, inputs).status());
  }
  for (const auto& [input, gradient] : known.set) Contribute(node(i).inputs[static_cast<size_t>(input)], find(gradient));
  return {};
}

// Has the block add its gradient; what one like it added is done again without asking.
Status Rewrite::Ask(int i) {
  const BlockDef& def = *node(i).def;
  GradientRecord fresh;
  const bool may_know = loop_ == nullptr && !def.gradient_varies && Describe(i, fresh.values);
  if (may_know) {
    const GradientRecord* known = adder_.reuse().FindGradient(node(i), fresh.values);
    if (known != nullptr) return Add(i, *known);
  }
  Builder builder(*this, i, gradients_, may_know ? &fresh : nullptr);
  WEFT_RETURN_IF_ERROR(def.gradient(builder));
  WEFT_RETURN_IF_ERROR(Status(builder.status()));
  if (builder.holds()) adder_.reuse().KeepGradient(node(i), std::move(fresh));
  return {};
}

Status Rewrite::Differentiate(int i) {
  gradients_.assign(node(i).output_types.size(), {});
  bool any = false;
  for (size_t v = 0; v < gradients_.size(); ++v) {
    if (!IsDifferentiable(node(i).output_types[v])) continue;
    WEFT_ASSIGN_OR_RETURN(gradients_[v], GradientOf({i, static_cast<int>(v)}));
    any |= gradients_[v].valid();
  }
  const BlockDef* def = node(i).def;
  if (!any || def == nullptr || def->structural != Structural::kNone || def->not_differentiable) return {};
  bool reads_path = std::any_of(node(i).inputs.begin(), node(i).inputs.end(), [&](ValueRef v) {
    return path_.Wants(v) && IsDifferentiable(graph().TypeOf(v));
  });
  if (!reads_path) return {};
  if (def->gradient == nullptr) {
    return Unsupported("the block '", node(i).id, "' (", def->name, ") lies on the path and has no gradient").WithPort("outputs");
  }
  asked_[path_.IndexOf({i, 0})] = 1;
  Status status = Ask(i);
  if (!status.ok()) {
    Status placed(status.code(), Cat("the gradient of the block '", node(i).id, "' (", def->name, "): ", status.message()));
    return std::move(placed).WithPort("outputs").WithHint(status.hint()).WithCause(std::move(status).WithBlock(node(i).id));
  }
  return {};
}

Result<std::vector<ValueRef>> Rewrite::Run(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  WEFT_RETURN_IF_ERROR(path_.Find(ys, xs));
  last_term_.assign(path_.values(), -1);
  asked_.assign(path_.values(), 0);
  for (ValueRef y : ys) {
    WEFT_ASSIGN_OR_RETURN(ValueRef ones, Add("OnesLike", {&y, 1}));
    if (path_.Leads(y)) Contribute(y, ones);
  }
  WEFT_RETURN_IF_ERROR(path_.has_loops() ? DifferentiateWithLoops() : DifferentiateAll());
  std::vector<ValueRef> gradients;
  for (ValueRef x : xs) {
    gradients.emplace_back();
    if (!path_.Leads(x) || !IsDifferentiable(graph().TypeOf(x))) continue;
    WEFT_ASSIGN_OR_RETURN(gradients.back(), GradientOf(x));
    // As in TensorFlow: the ys need none of an output beside one that they need.
    if (!gradients.back().valid() && asked_[path_.IndexOf({x.node, 0})] != 0 && !path_.has_loops()) {
      WEFT_ASSIGN_OR_RETURN(gradients.back(), Add("ZerosLike", {&x, 1}));
    }
  }
  return gradients;
}

Status Rewrite::DifferentiateAll() {
  for (int i : std::views::reverse(path_.leading())) {
    CallLimit::Check();
    if (path_.Has(i)) WEFT_RETURN_IF_ERROR(Differentiate(i));
  }
  return {};
}

// A loop is differentiated when all that reads its results is, and before all that it reads.
Status Rewrite::DifferentiateWithLoops() {
  for (const std::vector<int>& unit : path_.LastFirst(0, path_.leading())) {
    CallLimit::Check();
    const int frame = FrameWithin(graph(), unit[0], 0);
    if (frame != 0) WEFT_RETURN_IF_ERROR(LoopGradient(*this, frame, unit).Run());
    else if (path_.Has(unit[0])) WEFT_RETURN_IF_ERROR(Differentiate(unit[0]));
  }
  return {};
}

Result<std::vector<ValueRef>> AddGradients(NodeAdder& adder, const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  return Rewrite(adder).Run(ys, xs);
}

}  // namespace weft
