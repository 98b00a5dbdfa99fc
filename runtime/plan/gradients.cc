// Each block on a path from an x to a y is asked, last first, to add the blocks that turn the gradients of its outputs into those of its
// inputs.
#include "runtime/plan/gradients.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/connecting.h"
#include "runtime/plan/gradient_record.h"
#include "weft/block/gradient_source.h"

namespace weft {
namespace {

bool IsDifferentiable(DType type) { return IsFloating(type) || IsComplex(type); }

/// Whether gradients pass the node; else the xs before it are none of what it gives.
bool Passes(const Node& node) { return node.def == nullptr || node.def->structural == Structural::kNone; }

class Rewrite {
 public:
  explicit Rewrite(NodeAdder& adder) : adder_(adder), place_(adder.Scratch()) {}
  ~Rewrite() {
    for (int node : leading_) place_[static_cast<size_t>(node)] = -1;
  }
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;

  Result<std::vector<ValueRef>> Run(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);

  const Node& node(int i) const { return adder_.graph().nodes()[i]; }
  int nodes() const { return static_cast<int>(adder_.graph().nodes().size()); }
  /// `inputs` are in port order; `first` has the first one of each port, and their number.
  Result<ValueRef> Add(std::string_view block, const BlockDef& def, std::span<const ValueRef> inputs, std::span<const uint32_t> first,
                       Reuse::GivenAttrs attrs);
  /// A block that has one input port.
  Result<ValueRef> Add(std::string_view block, std::span<const ValueRef> inputs);
  ValueRef AddConstant(Tensor tensor) { return {adder_.AddConstant(std::move(tensor)), 0}; }
  bool Wanted(ValueRef value) const { return Leads(value) && (on_path_[PlaceOf(value)] || wanted_[IndexOf(value)]); }
  void Contribute(ValueRef value, ValueRef gradient);
  /// A block's own value, or what its gradient added from node `base` on, as one like it has them; false for any other value.
  bool Locate(ValueRef value, int base, GradientRecord::Value& found) const;
  const Registry& registry() const { return adder_.graph().registry(); }
  /// The id of the block that asks for the gradients.
  const std::string& source() const { return adder_.id(); }

  // Of the block that a builder adds; kept for their memory.
  std::vector<ValueRef> inputs;
  std::vector<uint32_t> first;
  std::vector<int> ports;  // by connected input

 private:
  /// A term of the sum that is the gradient of a value, and the one before it.
  struct Term {
    ValueRef gradient;
    int before;
  };

  /// Whether the node is one of those that lead to a y.
  bool Leads(ValueRef value) const { return static_cast<size_t>(value.node) < place_.size() && place_[static_cast<size_t>(value.node)] >= 0; }
  size_t PlaceOf(ValueRef value) const { return static_cast<size_t>(place_[static_cast<size_t>(value.node)]); }
  size_t IndexOf(ValueRef value) const { return first_value_[PlaceOf(value)] + static_cast<size_t>(value.output); }
  Result<ValueRef> GradientOf(ValueRef value);
  void FindLeading(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);
  void FindPath(const std::vector<ValueRef>& xs);
  Status Differentiate(int node);
  bool Describe(int node, ShortList<uint16_t, 12>& values);
  Status Ask(int node);
  Status Add(int node, const GradientRecord& known);

  NodeAdder& adder_;
  std::vector<int>& place_;            // by node: in leading_, or -1
  std::vector<int> leading_;           // nodes that lead to a y and may read an x, producers first: the work is theirs, not the page's
  std::vector<char> on_path_;          // by place: reads, over some nodes, an x
  std::vector<uint32_t> first_value_;  // by place
  std::vector<char> wanted_;           // by value: one of the xs
  std::vector<int> last_term_;         // by value: index into terms_, or -1
  std::vector<Term> terms_;
  std::vector<ValueRef> gradients_;    // of the outputs of the node at hand
  std::vector<ValueRef> own_;          // its inputs and outputs, and those gradients
};

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
  bool InputWanted(int port, int k) const override { return rewrite_.Wanted(node().inputs[node().in_first[port] + k]); }
  void SetInput(int port, int k, GradientValue gradient) override {
    if (!gradient.valid()) return;
    const uint32_t place = node().in_first[port] + static_cast<uint32_t>(k);
    ValueRef input = node().inputs[place];
    if (!rewrite_.Wanted(input)) return;
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

Result<ValueRef> Rewrite::Add(std::string_view block, const BlockDef& def, std::span<const ValueRef> inputs,
                              std::span<const uint32_t> first, Reuse::GivenAttrs attrs) {
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
  int& last = last_term_[IndexOf(value)];
  terms_.push_back({gradient, last});
  last = static_cast<int>(terms_.size()) - 1;
}

// The sum of all that was contributed, which becomes the only term; invalid where there is none.
Result<ValueRef> Rewrite::GradientOf(ValueRef value) {
  int& last = last_term_[IndexOf(value)];
  if (last < 0) return ValueRef{};
  if (terms_[last].before < 0) return terms_[last].gradient;
  std::vector<ValueRef> terms;
  for (int term = last; term >= 0; term = terms_[term].before) terms.push_back(terms_[term].gradient);
  std::reverse(terms.begin(), terms.end());
  WEFT_ASSIGN_OR_RETURN(ValueRef sum, Add("AddN", terms));
  terms_[last] = {sum, -1};
  return sum;
}

// Producers have a lower Node::order than their readers: what comes before all xs reads none.
void Rewrite::FindLeading(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  int first = INT_MAX;
  for (ValueRef x : xs) first = std::min(first, node(x.node).order);
  const auto add = [&](int i) {
    if (node(i).order < first || node(i).order < 0 || node(i).broken || std::exchange(place_[static_cast<size_t>(i)], 0) >= 0) return;
    leading_.push_back(i);
  };
  for (ValueRef y : ys) add(y.node);
  for (size_t next = 0; next < leading_.size(); ++next) {
    CallLimit::Check();
    if (!Passes(node(leading_[next]))) continue;
    for (ValueRef input : node(leading_[next]).inputs) add(input.node);
  }
  std::ranges::sort(leading_, {}, [&](int i) { return node(i).order; });
  uint32_t values = 0;
  for (size_t at = 0; at < leading_.size(); ++at) {
    place_[static_cast<size_t>(leading_[at])] = static_cast<int>(at);
    first_value_.push_back(values);
    values += static_cast<uint32_t>(node(leading_[at]).output_types.size());
  }
  on_path_.assign(leading_.size(), 0);
  wanted_.assign(values, 0);
  last_term_.assign(values, -1);
}

void Rewrite::FindPath(const std::vector<ValueRef>& xs) {
  for (ValueRef x : xs) {
    if (Leads(x)) on_path_[PlaceOf(x)] = wanted_[IndexOf(x)] = 1;
  }
  for (size_t at = 0; at < leading_.size(); ++at) {
    const Node& reader = node(leading_[at]);
    if (!Passes(reader)) continue;
    for (ValueRef input : reader.inputs) {
      if (Leads(input) && on_path_[PlaceOf(input)] && IsDifferentiable(adder_.graph().TypeOf(input))) on_path_[at] = 1;
    }
  }
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
    const bool wanted = values.size() < inputs && Wanted(*own);
    values.push_back(own->valid() ? static_cast<uint16_t>(TypeKey(adder_.graph(), *own) | (wanted ? kWanted : 0)) : kNone);
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
  const bool may_know = !def.gradient_varies && Describe(i, fresh.values);
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
    return Wanted(v) && IsDifferentiable(adder_.graph().TypeOf(v));
  });
  if (!reads_path) return {};
  if (node(i).frame != 0 || def->flow == Flow::kExit) {
    return Unsupported("the block '", node(i).id, "' (", def->name, ") lies on the path and belongs to a loop, and loops have no gradient")
        .WithPort("outputs");
  }
  if (def->gradient == nullptr) {
    return Unsupported("the block '", node(i).id, "' (", def->name, ") lies on the path and has no gradient").WithPort("outputs");
  }
  Status status = Ask(i);
  if (!status.ok()) {
    Status placed(status.code(), Cat("the gradient of the block '", node(i).id, "' (", def->name, "): ", status.message()));
    return std::move(placed).WithPort("outputs").WithHint(status.hint()).WithCause(std::move(status).WithBlock(node(i).id));
  }
  return {};
}

Result<std::vector<ValueRef>> Rewrite::Run(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  for (ValueRef y : ys) {
    DType type = adder_.graph().TypeOf(y);
    if (!IsDifferentiable(type)) return InvalidArgument("needs outputs of a floating-point or complex type, found ", type).WithPort("outputs");
    if (node(y.node).frame != 0) {
      return Unsupported("the block '", node(y.node).id, "' belongs to a loop, and loops have no gradient").WithPort("outputs");
    }
  }
  FindLeading(ys, xs);
  FindPath(xs);
  for (ValueRef y : ys) {
    WEFT_ASSIGN_OR_RETURN(ValueRef ones, Add("OnesLike", {&y, 1}));
    if (Leads(y)) Contribute(y, ones);
  }
  for (size_t at = leading_.size(); at-- > 0;) {
    CallLimit::Check();
    if (on_path_[at]) WEFT_RETURN_IF_ERROR(Differentiate(leading_[at]));
  }
  std::vector<ValueRef> gradients;
  for (ValueRef x : xs) {
    gradients.emplace_back();
    if (!Leads(x) || !IsDifferentiable(adder_.graph().TypeOf(x))) continue;
    WEFT_ASSIGN_OR_RETURN(gradients.back(), GradientOf(x));
  }
  return gradients;
}

}  // namespace

Result<std::vector<ValueRef>> AddGradients(NodeAdder& adder, const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  return Rewrite(adder).Run(ys, xs);
}

}  // namespace weft
