// What an editor shows of a page before it runs, whether it can run or not: types and shapes of ports, why a block is not planned, the plan.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/block/services.h"
#include "weft/host/layout.h"
#include "weft/plan/wire_fit.h"
#include "weft/state/scope.h"

namespace weft {

/// What is known of a port before a run.
struct PortType {
  DType dtype = DType::kInvalid;  // not known, or no tensor
  PartialShape shape;
  bool variable = false;  // stands for a variable, or a handle of one
};

/// Types and shapes of all values of a page. Plans its sessions, and then all of it: takes about as long as to open a session. Plain data
/// that may be read from any thread; the functions take the graph that it was made of.
class Inspection {
 public:
  explicit Inspection(const Graph& graph);

  /// Of "ID.port" or "ID.port[2]": an output, or what an input has. Nothing is known of what depends on a fault. not_found, with a
  /// suggestion, for what is not there.
  Result<PortType> Port(const Graph& graph, std::string_view name) const;
  PortType Of(const Graph& graph, ValueRef value) const;
  /// Of the outputs of a block: elements of lists one by one, each by its name. No more than kMostOutputs: a list may have a million, whose
  /// names would take more memory than the page.
  static constexpr size_t kMostOutputs = 1000;
  void ForOutputs(const Graph& graph, int block, FunctionRef<void(const std::string& name, const PortType& type)> each) const;
  /// Why a block is not planned: its faults or, where it has none, those of the nearest blocks that it depends on and that have some.
  /// Empty where it can run. `page` are findings of the page that this does not know: those of its reader.
  std::vector<Status> WhyNot(const Graph& graph, int block, const Diagnostics& page) const;

 private:
  void TakeShapes(const Graph& graph, const PlanRequest& request);
  Result<PortType> Output(const Graph& graph, const Wire& wire) const;

  std::vector<uint32_t> first_;  // by node: its first value
  std::vector<PartialShape> shapes_;
  Diagnostics found_;  // of planning
};

/// Keeps what was worked out for the page's last revision that was asked for. Thread-safe.
class Inspector {
 public:
  std::shared_ptr<const Inspection> Of(const std::shared_ptr<const Graph>& graph);
  /// Calls use(fit), one caller at a time.
  void WithWires(const std::shared_ptr<const Graph>& graph, FunctionRef<void(WireFit& fit)> use);
  /// Whether a wire would fit: what EditMode::kTry says of it and, where that waits for other inputs of the block, WireFit.
  Status CheckWire(Scope& scope, const Wire& from, const Wire& to);

 private:
  std::mutex mutex_;  // of the first two
  std::weak_ptr<const Graph> graph_;  // does not keep a revision that was edited
  std::shared_ptr<const Inspection> inspection_;
  std::mutex wires_mutex_;  // of the others
  std::weak_ptr<const Graph> wires_graph_;
  std::unique_ptr<WireFit> wires_;
};

/// "float [4,2]", "int32 [?]"; for drawings.
std::string ShortText(const PortType& type);
/// Of all outputs, by their names.
ValueTexts TextsOf(const Graph& graph, const Inspection& inspection);

/// {"dtype": "DT_FLOAT", "shape": [2, -1], "variable": true}; without what is not known.
std::string TypeJson(const PortType& type);
/// All outputs by their names, as an object, one a line.
std::string TypesJson(const Graph& graph, const Inspection& inspection);
/// A plan's steps, one a line, and its memory: see weft_page_plan_json.
std::string PlanJson(const Graph& graph, const Plan& plan);
/// [["a.z", "y.x"], ["b.z", "sum.inputs[1]"]], one a line.
std::string WiresJson(const Page& page);
/// {"a": [40, 80]}.
std::string LayoutJson(const std::vector<LayoutEntry>& layout);

}  // namespace weft
