// weft bench --edits: single edits of an open page, each checked and planned for its session, and their inverses.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "tools/cli/bench_edits.h"
#include "tools/cli/common.h"
#include "weft/page/edit.h"

namespace weft::cli {
namespace {

/// Random edits of a page, a function for each kind. Where the page has no block for a kind, that is left out.
class Edits {
 public:
  explicit Edits(const Page& page) {
    for (const PageBlock& block : page.blocks) {
      ids_.push_back(block.id);
      for (const PageInput& input : block.inputs) {
        if (input.list || input.items.empty()) continue;
        if (const Wire* wire = WireOf(input.items[0])) wires_.push_back({{block.id, input.port, -1}, *wire});
        else if (LiteralOf(input.items[0])->tensor.defined()) values_.push_back({{block.id, input.port, -1}, input});
      }
    }
  }

  bool usable() const { return !wires_.empty() && !values_.empty(); }
  Edit Add() {
    PageBlock block;
    block.id = Fresh();
    block.type = "Identity";
    block.inputs.push_back({"input", false, {Any(wires_).from}, false});
    return AddBlock{std::move(block), static_cast<int64_t>(random_() % ids_.size()), LayoutEntry{"", 1, 2}};
  }
  Edit Remove() { return RemoveBlock{Any(wires_).to.block}; }
  Edit Cut() { return Disconnect{Any(wires_).to}; }
  Edit SetValue() {
    auto [to, input] = Any(values_);
    Literal literal = *LiteralOf(input.items[0]);
    if (auto copy = literal.tensor.Clone(); copy.ok()) literal.tensor = std::move(*copy);
    input.items[0] = Boxed<Literal>(std::move(literal));
    return SetInput{to, std::move(input), -1};
  }
  Edit SetSetting() { return SetAttr{Any(values_).to.block, "name", "\"" + Fresh() + "\"", ""}; }
  Edit Rename() { return RenameBlock{Any(ids_), Fresh()}; }
  Edit Move() { return MoveBlock{Any(ids_), LayoutEntry{"", 3, 4}, -1}; }

 private:
  struct Connection {
    Wire to, from;
  };
  struct Value {
    Wire to;
    PageInput input;
  };
  template <class T>
  const T& Any(const std::vector<T>& list) {
    return list[random_() % list.size()];
  }
  std::string Fresh() { return "edited_" + std::to_string(++made_); }

  std::vector<std::string> ids_;
  std::vector<Connection> wires_;
  std::vector<Value> values_;
  std::mt19937 random_{1};
  uint64_t made_ = 0;
};

struct Kind {
  const char* name;
  const char* inverse;
  Edit (Edits::*make)();
};

constexpr Kind kKinds[] = {{"add", "take away", &Edits::Add},
                           {"remove", "put back", &Edits::Remove},
                           {"disconnect", "connect", &Edits::Cut},
                           {"set a value", "set it back", &Edits::SetValue},
                           {"set an attribute", "reset it", &Edits::SetSetting},
                           {"rename", "name back", &Edits::Rename},
                           {"move", "move back", &Edits::Move}};

class Times {
 public:
  void Add(const std::string& kind, double milliseconds) {
    if (!by_kind_.contains(kind)) order_.push_back(kind);
    by_kind_[kind].push_back(milliseconds);
    by_kind_["all"].push_back(milliseconds);
  }
  void Print(const std::string& page, size_t blocks, bool json) {
    order_.push_back("all");
    if (!json) std::printf("%s, %zu blocks\n  %-18s %6s %9s %9s %9s\n", page.c_str(), blocks, "edit", "edits", "median", "99 %", "worst");
    for (const std::string& kind : order_) {
      std::vector<double>& times = by_kind_[kind];
      std::sort(times.begin(), times.end());
      const double median = times[times.size() / 2], most = times[(times.size() * 99 + 99) / 100 - 1];
      if (json) {
        std::cout << nlohmann::ordered_json{{"page", page},
                                            {"blocks", blocks},
                                            {"edit", kind},
                                            {"edits", times.size()},
                                            {"median_ms", median},
                                            {"p99_ms", most},
                                            {"worst_ms", times.back()}}
                         .dump()
                  << "\n";
      } else {
        std::printf("  %-18s %6zu %6.2f ms %6.2f ms %6.2f ms\n", kind.c_str(), times.size(), median, most, times.back());
      }
    }
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> by_kind_;
};

/// Applies the edits, prepares the session for the new revision, and returns the inverse edits.
Result<std::vector<Edit>> Time(const std::shared_ptr<Scope>& scope, Session& session, const std::vector<Edit>& edits, const char* kind,
                               Times& times) {
  const auto start = std::chrono::steady_clock::now();
  Diagnostics found;
  auto undo = scope->Apply(edits, found);
  session.Prepare(found);
  times.Add(kind, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  return undo;
}

Status TimeEdits(const std::shared_ptr<Scope>& scope, int count, Times& times) {
  const Graph& graph = scope->graph();
  Session session(scope, graph.sessions().empty() ? graph.DefaultSession() : graph.sessions()[0]);
  WEFT_RETURN_IF_ERROR(session.Run());
  Edits edits(graph.page());
  if (!edits.usable()) return FailedPrecondition("needs a page with a wire and a value");
  for (int i = 0; i < count; ++i) {
    for (const Kind& kind : kKinds) {
      const Edit edit = (edits.*kind.make)();
      WEFT_ASSIGN_OR_RETURN(const std::vector<Edit> undo, Time(scope, session, {edit}, kind.name, times));
      WEFT_RETURN_IF_ERROR(Time(scope, session, undo, kind.inverse, times).status());
    }
  }
  return session.Run();
}

}  // namespace

int BenchEdits(const BenchOptions& options, int count) {
  const bool json = options.json;
  for (const std::string& path : options.pages) {
    PageOptions page = options.PageAt(path);
    page.threads = 1;
    LoadedPage loaded = Load(page);
    if (loaded.diagnostics.has_errors()) {
      Report(loaded.diagnostics, json);
      return kFailed;
    }
    Times times;
    const std::string name = loaded.page->name;
    loaded.page.reset();  // a page with a single owner is edited in place
    if (Status status = TimeEdits(loaded.scope, count, times); !status.ok()) {
      Report(status, json);
      return kFailed;
    }
    times.Print(name, loaded.scope->graph().page().blocks.size(), json);
  }
  return kOk;
}

}  // namespace weft::cli
