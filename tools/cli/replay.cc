#include "tools/cli/replay.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "weft/base/difference.h"
#include "weft/base/float16.h"
#include "weft/page/literal.h"

namespace weft::cli {
namespace {

using Verdict = ReplayVerdict::Kind;

/// A recorded result with the output it belongs to.
struct Recorded {
  std::string name;
  ValueRef value;
  Tensor tensor;     // in the output's type; undefined where the text is none of that type
  bool text = false;  // six decimals
  bool comparable = true;  // not found to be of another run: good as an input
  std::string fault;  // why there is no tensor
};

class Replay {
 public:
  explicit Replay(std::shared_ptr<Scope> scope) : scope_(std::move(scope)), graph_(scope_->graph()) {
    FindShapes();
    Collect();
  }

  std::vector<ReplayVerdict> Blocks();
  std::vector<ReplayVerdict> Whole();

 private:
  void FindShapes();
  void Collect();
  void SetVariables();
  ReplayVerdict Judge(const Recorded& recorded, const Session& session) const;
  ReplayVerdict JudgeBlock(const Recorded& recorded);
  std::string Explanation(const Recorded& recorded, const Session& session) const;
  bool IsSource(int node) const;
  bool BehindSwitch(int node) const;
  bool CounterMoved(int node) const;
  const Recorded* Find(ValueRef value) const;

  std::shared_ptr<Scope> scope_;
  const Graph& graph_;
  std::map<std::pair<int, int>, Shape> shapes_;  // of outputs whose shape is known without running
  std::vector<Recorded> recorded_;
};

double At(const Tensor& tensor, int64_t i) {
  double value = 0;
  Dispatch(tensor.dtype(), kReals + kQuantized + TypeList<bool>{}, [&]<class T>() { value = static_cast<double>(tensor.values<T>()[static_cast<size_t>(i)]); });
  return value;
}

std::complex<double> ComplexAt(const Tensor& tensor, int64_t i) {
  std::complex<double> value = At(tensor, i);
  Dispatch(tensor.dtype(), kComplexes, [&]<class T>() { value = tensor.values<T>()[static_cast<size_t>(i)]; });
  return value;
}

/// Text results have six decimals, and so had the inputs they are computed from here; binary ones have all digits of a float. Errors
/// of sums go with the largest elements, so `scale` is the largest of the tensor.
bool Close(double got, double expected, double scale, bool text) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (got == expected) return true;
  if (std::isinf(expected)) return false;  // all numbers are within a part of its size
  return std::abs(got - expected) <= (text ? 2e-6 + 5e-5 * std::abs(expected) : 0) + 1e-5 * scale;
}

/// The first element that is not close, or -1.
int64_t FirstDifference(const Tensor& got, const Tensor& expected, bool text) {
  if (got.dtype() == DType::kString) {
    for (int64_t i = 0; i < got.count(); ++i) {
      if (got.values<String>()[static_cast<size_t>(i)] != expected.values<String>()[static_cast<size_t>(i)]) return i;
    }
    return -1;
  }
  // (Doubles would tell the largest integers only from those some way off.)
  if (IsInteger(got.dtype())) {
    return Dispatch(got.dtype(), kIntegers, [&]<class T>() -> int64_t {
      const auto [found, needed] = std::ranges::mismatch(got.values<T>(), expected.values<T>());
      return found == got.values<T>().end() ? -1 : found - got.values<T>().begin();
    });
  }
  const bool rounded = IsFloating(got.dtype()) || IsComplex(got.dtype());
  double scale = 0;
  for (int64_t i = 0; i < expected.count() && rounded; ++i) {
    const double size = std::abs(ComplexAt(expected, i));
    if (std::isfinite(size)) scale = std::max(scale, size);
  }
  for (int64_t i = 0; i < got.count(); ++i) {
    const std::complex<double> found = ComplexAt(got, i), needed = ComplexAt(expected, i);
    const bool close = Close(found.real(), needed.real(), scale, text && rounded) && Close(found.imag(), needed.imag(), scale, text && rounded);
    if (!close) return i;
  }
  return -1;
}

void Replay::FindShapes() {
  SessionSpec all;
  for (size_t i = 0; i < graph_.page().blocks.size(); ++i) {
    const Node& node = graph_.node(static_cast<int>(i));
    if (node.def == nullptr || node.broken || node.target >= 0) continue;
    if (node.def->structural != Structural::kNone && node.variable < 0) continue;
    for (size_t v = 0; v < node.output_types.size(); ++v) all.fetches.push_back({"", {static_cast<int>(i), static_cast<int>(v)}});
  }
  Diagnostics ignored;
  Plan plan = MakePlan(graph_, RequestFor(all, Keep::kAsked), ignored);
  for (const Slot& slot : plan.slots) {
    if (slot.shape_known) shapes_.emplace(std::pair(slot.value.node, slot.value.output), slot.shape);
  }
}

/// The nodes that `index` is computed from, itself included, as far as `pass` lets through.
template <class Pass>
std::vector<int> Ancestors(const Graph& graph, int index, Pass pass) {
  std::vector<int> found, stack = {index};
  std::vector<char> seen(graph.nodes().size(), 0);
  while (!stack.empty()) {
    int i = stack.back();
    stack.pop_back();
    if (seen[i] || !pass(graph.node(i))) continue;
    seen[i] = 1;
    found.push_back(i);
    for (ValueRef input : graph.node(i).inputs) {
      if (input.valid()) stack.push_back(input.node);
    }
  }
  return found;
}

/// Whether a T can hold the number, though it may round it. Of 64-bit integers, whose largest is no double, for numbers below 2^63.
template <class T>
bool InRange(double value) {
  if (!std::isfinite(value)) return !std::numeric_limits<T>::is_integer;
  return value >= static_cast<double>(std::numeric_limits<T>::lowest()) && value <= static_cast<double>(std::numeric_limits<T>::max());
}

/// Numbers of another type than the output's: enuSpace writes flags and bytes as what its pin says. Undefined where that loses something.
Tensor Converted(const Tensor& from, DType type) {
  auto numeric = [](DType t) { return IsFloating(t) || IsInteger(t) || t == DType::kBool; };
  if (!numeric(from.dtype()) || !numeric(type)) return {};
  auto to = Tensor::Allocate(type, from.shape());
  if (!to.ok()) return {};
  for (int64_t i = 0; i < from.count(); ++i) {
    double value = At(from, i);
    if (!IsFloating(type) && (value != std::floor(value) || std::abs(value) > 9e15)) return {};
    const bool held = Dispatch(type, kReals + TypeList<bool>{}, [&]<class T>() {
      if (!InRange<T>(value)) return false;
      to->values<T>()[static_cast<size_t>(i)] = static_cast<T>(value);
      return true;
    });
    if (!held) return {};
  }
  return std::move(*to);
}

/// Whether every number has six decimals at most, as text results have. Floats of more than about 2 are so far from each other that any of
/// them is next to such a number: they tell nothing, and where there are no others that do, the numbers are taken for whole floats.
bool HasSixDecimals(const Tensor& tensor) {
  constexpr double kSpacing = 1.2e-7;  // of floats, by their size
  bool told = false, too_large = false;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const std::complex<double> number = ComplexAt(tensor, i);
    for (const double part : {number.real(), number.imag()}) {
      const double scaled = std::abs(part) * 1e6, spacing = kSpacing * scaled;
      if (part == 0 || !std::isfinite(part)) continue;
      if (spacing <= 0.25 && std::abs(scaled - std::round(scaled)) > spacing) return false;
      (spacing <= 0.25 ? told : too_large) = true;
    }
  }
  return told || !too_large;
}

void Replay::Collect() {
  for (const RecordedResult& result : graph_.page().recorded) {
    Recorded recorded;
    recorded.name = Cat(result.block, ".", result.port, result.index >= 0 ? Cat("[", result.index, "]") : "");
    auto value = graph_.FindValue(recorded.name);
    if (!value.ok()) continue;
    recorded.value = *value;
    DType type = graph_.TypeOf(*value);
    if (result.value.form == Literal::Form::kText) {
      recorded.text = true;
      auto tensor = ParseTextLiteral(result.value.text, type, result.value.shape);
      if (!tensor.ok()) tensor = ParseTextLiteral(result.value.text, type, std::nullopt);
      if (tensor.ok()) recorded.tensor = std::move(*tensor);
      else recorded.fault = Cat("the recorded text is no ", type, ": ", tensor.status().message());
    } else if (result.value.tensor.dtype() == type) {
      recorded.tensor = result.value.tensor;
    } else {
      recorded.tensor = Converted(result.value.tensor, type);
    }
    if (recorded.tensor.defined()) {
      recorded.text = recorded.text || HasSixDecimals(recorded.tensor);
    } else if (recorded.fault.empty()) {
      recorded.fault = Cat("the record holds ", result.value.tensor.dtype(), ", the output is ", type);
    }
    // Recorded shapes may be stale; the element count is what counts.
    auto shape = shapes_.find({value->node, value->output});
    if (recorded.tensor.defined() && shape != shapes_.end() && shape->second.count() == recorded.tensor.count()) {
      recorded.tensor = recorded.tensor.Reshaped(shape->second);
    }
    recorded_.push_back(std::move(recorded));
  }
}

const Recorded* Replay::Find(ValueRef value) const {
  for (const Recorded& recorded : recorded_) {
    if (recorded.value == value) return &recorded;
  }
  return nullptr;
}

void Replay::SetVariables() {
  for (int node : graph_.variables()) {
    const Recorded* recorded = Find({node, 0});
    if (recorded != nullptr && recorded->tensor.defined()) (void)scope_->SetVariable(graph_.node(node).id, recorded->tensor).ok();
  }
}

// Blocks whose values come from outside the page: state, files, feeds.
bool Replay::IsSource(int index) const {
  const Node& node = graph_.node(index);
  if (node.variable >= 0 || node.constant.defined()) return true;
  return node.def != nullptr && (node.def->stateful || (node.inputs.empty() && node.def->structural == Structural::kNone));
}

bool Replay::BehindSwitch(int index) const {
  for (int i : Ancestors(graph_, index, [](const Node&) { return true; })) {
    if (graph_.node(i).def != nullptr && graph_.node(i).def->flow == Flow::kSwitch) return true;
  }
  return false;
}

// A counter (an Assign of an Add of the same integer Variable) may have been recorded after its update, or, where the update lies behind
// a Switch, at an older run; then what reads the Variable does not go with its recorded value.
bool Replay::CounterMoved(int index) const {
  std::vector<int> ancestors = Ancestors(graph_, index, [](const Node&) { return true; });
  for (const Node& node : graph_.nodes()) {
    if (node.def == nullptr || node.def->updates.empty() || node.broken || node.inputs.empty()) continue;
    int variable = graph_.VariableOf(node.inputs[node.in_first[node.def->updates[0]]]);
    if (variable < 0 || !IsInteger(graph_.node(variable).output_types[0])) continue;
    if (std::find(ancestors.begin(), ancestors.end(), variable) == ancestors.end()) continue;
    for (size_t v = 1; v < node.inputs.size(); ++v) {
      std::vector<int> from = Ancestors(graph_, node.inputs[v].node, [](const Node&) { return true; });
      if (std::find(from.begin(), from.end(), variable) != from.end()) return true;
    }
  }
  return false;
}

std::string Replay::Explanation(const Recorded& recorded, const Session& session) const {
  const Node& node = graph_.node(recorded.value.node);
  // The two outputs of the loss may be stored under each other's name.
  if (node.def->name == "SoftmaxCrossEntropyWithLogits") {
    auto other = session.Get(ValueRef{recorded.value.node, 1 - recorded.value.output});
    if (other.ok() && other->tensor.count() == recorded.tensor.count() && FirstDifference(other->tensor, recorded.tensor, recorded.text) < 0) {
      return "loss and backprop are stored under each other's name";
    }
    bool zeros = true;
    for (int64_t i = 0; i < recorded.tensor.count(); ++i) zeros &= ComplexAt(recorded.tensor, i) == 0.0;
    if (zeros) return "the last run did not store it: every element of the record is 0";
  }
  if (CounterMoved(recorded.value.node)) return "it follows a counter that was recorded after its update, or at an older run";
  for (ValueRef input : node.inputs) {
    const Recorded* from = Find(input);
    const bool single = from != nullptr && from->tensor.defined() && from->tensor.count() == 1 && !IsManaged(from->tensor.dtype());
    if (single && ComplexAt(from->tensor, 0) == 0.0 && IsSource(input.node) && !graph_.node(input.node).constant.defined()) {
      return Cat("its input ", from->name, " holds a single 0, as what the last run did not store does");
    }
  }
  if (BehindSwitch(recorded.value.node)) return "it lies behind a Switch, so the last run may not have stored it: it may be an older run's";
  return "";
}

ReplayVerdict Replay::Judge(const Recorded& recorded, const Session& session) const {
  ReplayVerdict verdict{recorded.name, Verdict::kUndetermined, ""};
  auto result = session.Get(recorded.value);
  if (!result.ok()) {
    verdict.reason = Cat("it could not be computed: ", result.status().message());
    return verdict;
  }
  const Tensor& got = result->tensor;
  if (got.count() != recorded.tensor.count()) {
    verdict.reason = Cat("the record holds ", recorded.tensor.count(), " elements, the block gives ", got.count(), ": the last run did not store it");
    // The two outputs of a loss differ in size when they are swapped.
    if (std::string known = Explanation(recorded, session); known.starts_with("loss and")) verdict.reason = known;
    return verdict;
  }
  int64_t different = FirstDifference(got, recorded.tensor, recorded.text);
  if (different < 0) {
    verdict.kind = Verdict::kAgree;
    return verdict;
  }
  verdict.reason = Explanation(recorded, session);
  if (verdict.reason.empty()) {
    verdict.kind = Verdict::kDiffer;
    const auto [is, record] = DifferentElements(got, recorded.tensor, different);
    verdict.reason = Cat("element ", different, " is ", is, ", the record says ", record);
  }
  return verdict;
}

ReplayVerdict Replay::JudgeBlock(const Recorded& recorded) {
  ReplayVerdict verdict{recorded.name, Verdict::kUndetermined, ""};
  SessionSpec spec;
  spec.id = recorded.name;
  const Node& node = graph_.node(recorded.value.node);
  for (size_t v = 0; v < node.output_types.size(); ++v) spec.fetches.push_back({"", {recorded.value.node, static_cast<int>(v)}});
  spec.by_name = false;  // a dead output is no failure here
  for (const Recorded& other : recorded_) {
    if (other.value.node == recorded.value.node || !other.tensor.defined() || graph_.node(other.value.node).variable >= 0) continue;
    const Node& producer = graph_.node(other.value.node);
    if (producer.constant.defined() || graph_.VariableOf(other.value) >= 0 || !other.comparable) continue;
    auto shape = shapes_.find({other.value.node, other.value.output});
    // What the last run did not store is no input either.
    if (shape != shapes_.end() && !(shape->second == other.tensor.shape())) continue;
    spec.feeds.push_back({other.value, other.tensor});
  }
  Session session(scope_, std::move(spec), Keep::kAsked);
  SetVariables();
  if (Status status = session.Run(); !status.ok()) {
    verdict.reason = Cat("it could not be computed: ", ToString(status));
    return verdict;
  }
  return Judge(recorded, session);
}

// What turns out not to be of the last run is no input for others; so those are judged again, until no record falls out.
std::vector<ReplayVerdict> Replay::Blocks() {
  std::vector<ReplayVerdict> verdicts;
  for (const Recorded& recorded : recorded_) {
    const Node& node = graph_.node(recorded.value.node);
    if (!recorded.tensor.defined()) {
      verdicts.push_back({recorded.name, Verdict::kUndetermined, recorded.fault});
    } else if (node.variable >= 0) {
      verdicts.push_back({recorded.name, Verdict::kUndetermined, "a Variable: its recorded value is an input"});
    } else if (IsSource(recorded.value.node) && !node.constant.defined() && node.def->name != "Restore") {
      verdicts.push_back({recorded.name, Verdict::kUndetermined, "a source: its recorded value is an input"});
    } else {
      verdicts.push_back(JudgeBlock(recorded));
    }
  }
  bool again = true;
  for (int round = 0; again && round < 8; ++round) {
    again = false;
    for (size_t i = 0; i < recorded_.size(); ++i) {
      if (verdicts[i].kind == Verdict::kAgree || !recorded_[i].tensor.defined() || IsSource(recorded_[i].value.node) ||
          !recorded_[i].comparable)
        continue;
      recorded_[i].comparable = false;
      again = true;
    }
    for (size_t i = 0; again && i < recorded_.size(); ++i) {
      if (recorded_[i].comparable || IsSource(recorded_[i].value.node)) continue;
      ReplayVerdict verdict = JudgeBlock(recorded_[i]);
      if (verdict.kind == Verdict::kAgree) verdicts[i] = std::move(verdict);
    }
  }
  return verdicts;
}

std::vector<ReplayVerdict> Replay::Whole() {
  SessionSpec spec;
  spec.id = "whole";
  for (const Recorded& recorded : recorded_) spec.fetches.push_back({recorded.name, recorded.value});
  spec.by_name = false;
  for (const SessionSpec& own : graph_.sessions()) {
    spec.run.insert(spec.run.end(), own.run.begin(), own.run.end());
  }
  Session session(scope_, std::move(spec), Keep::kAsked);
  SetVariables();
  Status status = session.Run();
  std::vector<ReplayVerdict> verdicts;
  for (const Recorded& recorded : recorded_) {
    if (!status.ok()) verdicts.push_back({recorded.name, Verdict::kUndetermined, Cat("the page could not be run: ", ToString(status))});
    else if (!recorded.tensor.defined()) verdicts.push_back({recorded.name, Verdict::kUndetermined, recorded.fault});
    else verdicts.push_back(Judge(recorded, session));
  }
  return verdicts;
}

const char* VerdictName(Verdict kind) { return kind == Verdict::kAgree ? "agree" : kind == Verdict::kDiffer ? "differ" : "undetermined"; }

struct ReplayOptions {
  PageOptions page;
  bool whole = false;
};

int RunReplay(const ReplayOptions& options) {
  PageOptions page = options.page;
  page.stall_limit_ms = 0;  // one session runs at a time: what it waits for never comes
  LoadedPage loaded = Load(page);
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, options.page.json);
    return kFailed;
  }
  if (loaded.page->recorded.empty()) {
    Report(FailedPrecondition("the page has no recorded results").WithHint("replay needs a design page (.svg) that was saved after a run").WithPage(options.page.page),
           options.page.json);
    return kFailed;
  }
  std::vector<ReplayVerdict> verdicts = options.whole ? ReplayWhole(loaded.scope) : ReplayBlocks(loaded.scope);
  int counts[3] = {0, 0, 0};
  auto results = nlohmann::ordered_json::array();
  for (const ReplayVerdict& verdict : verdicts) {
    ++counts[static_cast<int>(verdict.kind)];
    results.push_back({{"result", verdict.result}, {"verdict", VerdictName(verdict.kind)}, {"reason", verdict.reason}});
    if (options.page.json || verdict.kind == Verdict::kAgree) continue;
    std::cout << Colored(VerdictName(verdict.kind), verdict.kind == Verdict::kDiffer ? 31 : 33, 1) << "  " << Visible(verdict.result)
              << "  " << Visible(verdict.reason) << "\n";
  }
  if (options.page.json) {
    std::cout << nlohmann::ordered_json{{"page", loaded.page->name}, {"results", results}}.dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  } else {
    std::cout << counts[0] << " agree, " << counts[1] << " differ, " << counts[2] << " undetermined\n";
  }
  return counts[1] == 0 ? kOk : kFailed;
}

}  // namespace

std::vector<ReplayVerdict> ReplayBlocks(const std::shared_ptr<Scope>& scope) { return Replay(scope).Blocks(); }
std::vector<ReplayVerdict> ReplayWhole(const std::shared_ptr<Scope>& scope) { return Replay(scope).Whole(); }

void AddReplay(Program& program) {
  auto options = std::make_shared<ReplayOptions>();
  Command command = program.Add("replay", "Compute a page that was saved after a run again, and compare with what it recorded",
                                "  weft replay Xor.svg\n  weft replay Xor.svg --whole\n  weft replay page.svg --json", options, RunReplay);
  options->page.AddTo(command, true);
  command.AddFlag("--whole", options->whole, "Run the page once from its recorded Variables, rather than block by block");
}

}  // namespace weft::cli
