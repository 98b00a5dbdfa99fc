// Pages written in a test as short texts, opened and run.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "weft/exec/session.h"
#include "weft/page/reader.h"

namespace weft::test {

using Clock = std::chrono::steady_clock;

inline double MillisecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

/// A literal: {"dtype", "shape", "values"}.
inline std::string Literal(std::string_view dtype, const std::vector<int64_t>& shape, const std::vector<double>& values) {
  std::string text = Cat("{\"dtype\": \"", dtype, "\", \"shape\": [");
  for (size_t i = 0; i < shape.size(); ++i) text += Cat(i ? ", " : "", shape[i]);
  text += "], \"values\": [";
  for (size_t i = 0; i < values.size(); ++i) text += Cat(i ? ", " : "", values[i]);
  return text + "]}";
}
inline std::string Scalar(double value) { return Literal("DT_FLOAT", {}, {value}); }
inline std::string Vector(const std::vector<double>& values) { return Literal("DT_FLOAT", {static_cast<int64_t>(values.size())}, values); }
inline std::string Ints(const std::vector<double>& values) { return Literal("DT_INT32", {static_cast<int64_t>(values.size())}, values); }
inline std::string Bool(bool value) { return Cat("{\"dtype\": \"DT_BOOL\", \"shape\": [], \"values\": [", value ? "true" : "false", "]}"); }

/// One block. Inputs are wires, or JSON where they start with a bracket.
inline std::string Block(std::string_view id, std::string_view type, const std::vector<std::pair<std::string, std::string>>& inputs,
                         std::string_view attrs = "") {
  std::string text = Cat("{\"id\": \"", id, "\", \"block\": \"", type, "\"");
  if (!attrs.empty()) text += Cat(", \"attrs\": \"", attrs, "\"");
  text += ", \"inputs\": {";
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [port, value] = inputs[i];
    bool json = value.starts_with('{') || value.starts_with('[');
    text += Cat(i ? ", " : "", "\"", port, "\": ", json ? "" : "\"", value, json ? "" : "\"");
  }
  return text + "}}";
}
/// A page of these blocks, as text.
inline std::string PageOf(const std::vector<std::string>& blocks) {
  std::string text = "{\"weft\": 1, \"page\": \"p\", \"blocks\": [";
  for (size_t i = 0; i < blocks.size(); ++i) text += Cat(i ? ",\n" : "", blocks[i]);
  return text + "]}";
}
inline std::string Variable(std::string_view id, const std::string& initial) { return Block(id, "Variable", {{"initvalues", initial}}); }

/// Runs of one session that wait for so long what nobody gives fail.
inline ScopeOptions StallAfter(int64_t limit_ms) {
  ScopeOptions options;
  options.stall_limit_ms = limit_ms;
  return options;
}

/// An open page of blocks of the catalog and, where there are some, of a test.
class TestPage {
 public:
  explicit TestPage(const std::vector<std::string>& blocks, RuntimeOptions options = {.threads = 2, .memory_limit = 0}, ScopeOptions scope_options = {},
                    std::vector<BlockDef> toys = {})
      : runtime_(MakeCatalog(), options) {
    for (BlockDef& toy : toys) REQUIRE(runtime_.AddBlock(std::move(toy)).ok());
    ReadPageResult read = ReadPage(PageOf(blocks), {.name = "p", .read_file = {}});
    scope_ = Scope::Open(runtime_, std::make_shared<Page>(std::move(read.page)), "p", std::move(scope_options), read.diagnostics);
    for (const Diagnostic& diagnostic : read.diagnostics.all()) {
      if (diagnostic.severity == Severity::kError) errors_.push_back(ToString(diagnostic));
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }
  Runtime& runtime() { return runtime_; }
  const std::shared_ptr<Scope>& scope() const { return scope_; }
  const Graph& graph() const { return scope_->graph(); }

  /// A session that fetches wires and runs blocks. The test fails where a name is wrong.
  std::unique_ptr<Session> Open(const std::vector<std::string>& fetches, const std::vector<std::string>& run = {}, Keep keep = Keep::kAll) const {
    for (const std::string& error : errors_) FAIL_CHECK(error);
    SessionSpec spec;
    spec.id = "test";
    for (const std::string& wire : fetches) {
      auto value = graph().FindValue(wire);
      INFO(wire << ": " << ToString(value.status()));
      REQUIRE(value.ok());
      spec.fetches.push_back({wire, *value});
    }
    for (const std::string& id : run) spec.run.push_back(graph().FindNode(id).value());
    return std::make_unique<Session>(scope_, std::move(spec), keep);
  }

  Status Feed(Session& session, std::string_view wire, Tensor tensor) const { return session.Feed(graph().FindValue(wire).value(), std::move(tensor)); }

  std::vector<float> Var(std::string_view id) const {
    auto value = scope_->GetVariable(id);
    INFO(ToString(value.status()));
    REQUIRE(value.ok());
    auto values = value->values<float>();
    return {values.begin(), values.end()};
  }

 private:
  Runtime runtime_;
  std::shared_ptr<Scope> scope_;
  std::vector<std::string> errors_;
};

inline void RunOk(Session& session, const RunOptions& options = {}) {
  Status status = session.Run(options);
  INFO(ToString(status));
  REQUIRE(status.ok());
}

template <class T = float>
std::vector<T> Values(const Tensor& tensor) {
  return {tensor.values<T>().begin(), tensor.values<T>().end()};
}
/// A result's elements; the test fails where there is none.
template <class T = float>
std::vector<T> Get(const Session& session, std::string_view name) {
  auto result = session.Get(name);
  INFO(name << ": " << ToString(result.status()));
  REQUIRE(result.ok());
  REQUIRE(result->tensor.dtype() == kDTypeOf<T>);
  return Values<T>(result->tensor);
}

using Floats = std::vector<float>;

}  // namespace weft::test
