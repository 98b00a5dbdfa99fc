// Symbolic gradients: reverse-mode differentiation as a rewrite of the graph. Each block on a path from an x to a y is asked, last first,
// to build the blocks that turn the gradients of its outputs into those of its inputs.
#include <algorithm>
#include <map>
#include <set>

#include "runtime/plan/graph_builder.h"

namespace weft {
namespace {

struct ByPosition {
  bool operator()(const ValueRef& a, const ValueRef& b) const { return std::pair(a.node, a.output) < std::pair(b.node, b.output); }
};

bool IsDifferentiable(DType type) { return IsFloating(type) || IsComplex(type); }

class Rewrite {
 public:
  Rewrite(GraphBuilder& builder, const std::string& id, int page_block) : builder_(builder), id_(id), page_block_(page_block) {}

  Result<std::vector<ValueRef>> Run(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);

  const Node& node(int i) const { return builder_.graph().nodes()[i]; }
  Result<ValueRef> Add(std::string_view block, std::vector<std::vector<ValueRef>> inputs, std::vector<std::pair<std::string_view, AttrValue>> attrs);
  ValueRef AddConstant(Tensor tensor) {
    return {builder_.AddConstant(Cat(id_, "/constant_", counter_++), page_block_, std::move(tensor)), 0};
  }
  Result<ValueRef> Sum(const std::vector<ValueRef>& terms);
  bool OnPath(int i) const { return on_path_.contains(i); }
  bool Wanted(ValueRef value) const { return wanted_.contains(value) || OnPath(value.node); }
  void Contribute(ValueRef value, ValueRef gradient) { terms_[value].push_back(gradient); }
  const Registry& registry() const { return builder_.graph().registry(); }

 private:
  void FindPath(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);
  Status Differentiate(int node);

  GraphBuilder& builder_;
  const std::string& id_;
  int page_block_;
  int counter_ = 0;
  std::set<int> on_path_;              // nodes that read, over some nodes, an x, and lead to a y
  std::set<ValueRef, ByPosition> wanted_;  // the xs
  std::map<ValueRef, std::vector<ValueRef>, ByPosition> terms_;
};

class Builder final : public GradientBuilder {
 public:
  Builder(Rewrite& rewrite, int node, std::vector<ValueRef> gradients) : rewrite_(rewrite), index_(node), gradients_(std::move(gradients)) {}

  const Status& status() const { return status_; }

  const AttrValue& AttrOf(std::string_view name) const override {
    static const AttrValue kNone;
    int index = node().def->FindAttr(name);
    return index < 0 ? kNone : node().attrs[index];
  }
  DType dtype(GradientValue v) const override {
    if (!v.valid()) return DType::kInvalid;
    const std::vector<DType>& types = rewrite_.node(v.node).output_types;
    return static_cast<size_t>(v.output) < types.size() ? types[static_cast<size_t>(v.output)] : DType::kInvalid;
  }

  GradientValue Add(std::string_view block, const GradientInputs& inputs, const GradientAttrs& attrs) override {
    if (!status_.ok()) return {};
    const BlockDef* def = rewrite_.registry().Find(block);
    if (def == nullptr) return Fail(Unsupported("its gradient needs the block ", block, ", which this registry lacks"));
    std::vector<std::vector<ValueRef>> ports(def->inputs.size());
    for (const auto& [name, values] : inputs) {
      int port = def->FindInput(name);
      if (port < 0) return Fail(Internal("its gradient connects '", name, "', which ", block, " has not"));
      for (GradientValue value : values) {
        if (!value.valid()) return Fail(Internal("its gradient connects nothing to ", block, ".", name));
        ports[port].push_back({value.node, value.output});
      }
    }
    for (size_t p = 0; p < ports.size(); ++p) {
      if (ports[p].empty() && def->inputs[p].list == PortList::kSingle) {
        return Fail(Internal("its gradient leaves ", block, ".", def->inputs[p].name, " unconnected"));
      }
    }
    std::vector<std::pair<std::string_view, AttrValue>> given;
    for (const auto& [name, value] : attrs) {
      if (value.index() != 0) given.emplace_back(name, value);
    }
    auto added = rewrite_.Add(block, std::move(ports), std::move(given));
    if (!added.ok()) return Fail(std::move(added).status());
    return {added->node, added->output};
  }

  GradientValue Constant(Tensor tensor) override {
    ValueRef value = rewrite_.AddConstant(std::move(tensor));
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
    ValueRef input = node().inputs[node().in_first[port] + k];
    if (rewrite_.Wanted(input)) rewrite_.Contribute(input, {gradient.node, gradient.output});
  }

 private:
  static GradientValue Out(ValueRef v) { return {v.node, v.output}; }
  const Node& node() const { return rewrite_.node(index_); }
  GradientValue Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return {};
  }

  Rewrite& rewrite_;
  int index_;
  std::vector<ValueRef> gradients_;
  Status status_;
};

Result<ValueRef> Rewrite::Add(std::string_view block, std::vector<std::vector<ValueRef>> inputs, std::vector<std::pair<std::string_view, AttrValue>> attrs) {
  const BlockDef* def = registry().Find(block);
  if (def == nullptr) return Unsupported("needs the block ", block, ", which this registry lacks");
  WEFT_ASSIGN_OR_RETURN(int added, builder_.AddNode(*def, Cat(id_, "/", block, "_", counter_++), page_block_, std::move(inputs), std::move(attrs)));
  return ValueRef{added, 0};
}

Result<ValueRef> Rewrite::Sum(const std::vector<ValueRef>& terms) {
  if (terms.empty()) return ValueRef{};
  if (terms.size() == 1) return terms[0];
  return Add("AddN", {terms}, {});
}

void Rewrite::FindPath(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  const std::vector<Node>& nodes = builder_.graph().nodes();
  std::vector<char> from_x(nodes.size(), 0), to_y(nodes.size(), 0);
  for (ValueRef x : xs) from_x[x.node] = 1, wanted_.insert(x);
  // Producers have a lower `order` than their readers, so one sweep each way finds all.
  std::vector<int> sorted;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].order >= 0 && !nodes[i].broken) sorted.push_back(static_cast<int>(i));
  }
  std::sort(sorted.begin(), sorted.end(), [&](int a, int b) { return nodes[a].order < nodes[b].order; });
  auto passes = [&](int i) { return nodes[i].def == nullptr || nodes[i].def->structural == Structural::kNone; };
  for (int i : sorted) {
    if (!passes(i)) continue;
    for (ValueRef input : nodes[i].inputs) {
      if (from_x[input.node] && IsDifferentiable(nodes[input.node].output_types[input.output])) from_x[i] = 1;
    }
  }
  for (ValueRef y : ys) to_y[y.node] = 1;
  for (auto it = sorted.rbegin(); it != sorted.rend(); ++it) {
    if (!to_y[*it] || !passes(*it)) continue;
    for (ValueRef input : nodes[*it].inputs) to_y[input.node] = 1;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (from_x[i] && to_y[i]) on_path_.insert(static_cast<int>(i));
  }
}

Status Rewrite::Differentiate(int i) {
  std::vector<ValueRef> gradients(node(i).output_types.size());
  bool any = false;
  for (size_t v = 0; v < gradients.size(); ++v) {
    auto it = terms_.find({i, static_cast<int>(v)});
    if (it == terms_.end() || !IsDifferentiable(node(i).output_types[v])) continue;
    WEFT_ASSIGN_OR_RETURN(gradients[v], Sum(it->second));
    it->second = {gradients[v]};
    any |= gradients[v].valid();
  }
  const BlockDef* def = node(i).def;
  if (!any || def == nullptr || def->structural != Structural::kNone || def->not_differentiable) return {};
  bool reads_path = std::any_of(node(i).inputs.begin(), node(i).inputs.end(), [&](ValueRef v) {
    return Wanted(v) && IsDifferentiable(builder_.graph().TypeOf(v));
  });
  if (!reads_path) return {};
  if (node(i).frame != 0 || def->flow == Flow::kExit) {
    return Unsupported("the block '", node(i).id, "' (", def->name, ") lies on the path and belongs to a loop, and loops have no gradient")
        .WithPort("outputs");
  }
  if (def->gradient == nullptr) {
    return Unsupported("the block '", node(i).id, "' (", def->name, ") lies on the path and has no gradient").WithPort("outputs");
  }
  Builder builder(*this, i, std::move(gradients));
  Status status = def->gradient(builder);
  if (status.ok()) status = builder.status();
  if (!status.ok()) {
    Status placed(status.code(), Cat("the gradient of the block '", node(i).id, "' (", def->name, "): ", status.message()));
    return std::move(placed).WithPort("outputs").WithHint(status.hint()).WithCause(std::move(status).WithBlock(node(i).id));
  }
  return {};
}

Result<std::vector<ValueRef>> Rewrite::Run(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  for (ValueRef y : ys) {
    DType type = builder_.graph().TypeOf(y);
    if (!IsDifferentiable(type)) return InvalidArgument("needs outputs of a floating-point or complex type, found ", type).WithPort("outputs");
    if (node(y.node).frame != 0) {
      return Unsupported("the block '", node(y.node).id, "' belongs to a loop, and loops have no gradient").WithPort("outputs");
    }
  }
  FindPath(ys, xs);
  for (ValueRef y : ys) {
    WEFT_ASSIGN_OR_RETURN(ValueRef ones, Add("OnesLike", {{y}}, {}));
    Contribute(y, ones);
  }
  std::vector<int> path(on_path_.begin(), on_path_.end());
  std::sort(path.begin(), path.end(), [&](int a, int b) { return node(a).order > node(b).order; });
  for (int i : path) WEFT_RETURN_IF_ERROR(Differentiate(i));
  std::vector<ValueRef> gradients;
  for (ValueRef x : xs) {
    auto it = terms_.find(x);
    if (it == terms_.end() || !IsDifferentiable(builder_.graph().TypeOf(x))) {
      gradients.push_back({});
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(ValueRef sum, Sum(it->second));
    it->second = {sum};
    gradients.push_back(sum);
  }
  return gradients;
}

}  // namespace

Result<std::vector<ValueRef>> AddGradients(GraphBuilder& builder, const std::string& id, int page_block, const std::vector<ValueRef>& ys,
                                           const std::vector<ValueRef>& xs) {
  return Rewrite(builder, id, page_block).Run(ys, xs);
}

}  // namespace weft
