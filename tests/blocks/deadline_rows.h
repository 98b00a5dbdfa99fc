// Runs of single blocks that are left at a deadline: what the tests of that share.
#pragma once

#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "tests/kit/sanitized.h"
#include "tests/kit/test_services.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/file_sandbox.h"

namespace weft::test::deadline {

using std::chrono::milliseconds;
using Make = std::function<Tensor()>;

inline constexpr int64_t kMillion = 1'000'000;

inline constexpr milliseconds kDeadline{50};
inline constexpr double kLatest = kit::kThreadSanitized ? 2000 : kit::kSanitized ? 300 : 100;  // milliseconds after it
inline constexpr int kTries = 3;  // others may keep the machine busy

/// Every element is `value`.
template <class T>
Make Filled(std::vector<int64_t> dims, T value = T{}, DType dtype = kDTypeOf<T>) {
  return [=] {
    Tensor tensor = Tensor::Allocate(dtype, Shape(std::span<const int64_t>(dims))).value();
    std::fill_n(static_cast<T*>(tensor.data()), tensor.count(), value);
    return tensor;
  };
}

/// Integers with all their digits.
inline std::string Whole(std::string_view dtype, const std::vector<int64_t>& values, bool scalar = false) {
  std::string text = Cat("{\"dtype\": \"", dtype, "\", \"shape\": [");
  if (!scalar) text += Cat(values.size());
  text += "], \"values\": [";
  for (size_t i = 0; i < values.size(); ++i) text += Cat(i == 0 ? "" : ", ", values[i]);
  return text + "]}";
}
inline std::string Int(int64_t value) { return Whole("DT_INT32", {value}, true); }
inline std::string Sizes(const std::vector<int64_t>& values) { return Whole("DT_INT32", values); }
inline std::string Longs(const std::vector<int64_t>& values) { return Whole("DT_INT64", values); }
inline std::string Text(std::string_view text, std::string_view shape = "") {
  return Cat(R"({"dtype": "DT_STRING", "shape": [)", shape, R"(], "values": [")", text, "\"]}");
}

/// An input that is large, or one written in the page.
struct Input {
  std::string port;
  Make make;
  std::string written;
  int list = 0;  // how often it is an element of the port's list; 0: no list

  Input(std::string name, Make tensor, int in_list = 0) : port(std::move(name)), make(std::move(tensor)), list(in_list) {}
  Input(std::string name, std::string text) : port(std::move(name)), written(std::move(text)) {}
};

struct Row {
  std::string block, attrs;
  std::vector<Input> inputs;
  std::vector<std::string> others = {};  // blocks beside it
  std::vector<std::string> before = {};  // which of them are run first, for as long as they take
};

/// The page of a row: its large inputs are placeholders, to be fed.
inline std::vector<std::string> PageOf(const Row& row, const std::vector<std::pair<std::string, Tensor>>& large) {
  std::vector<std::string> blocks = row.others;
  for (const auto& [id, tensor] : large) blocks.push_back(Block(id, "Placeholder", {}, Cat("dtype_ = ", tensor.dtype(), ";")));
  std::vector<std::pair<std::string, std::string>> inputs;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Input& input = row.inputs[i];
    const std::string wire = Cat("x", i, ".output");
    std::string list;
    for (int k = 0; k < input.list; ++k) list += Cat(k == 0 ? "[\"" : "\", \"", wire, k + 1 == input.list ? "\"]" : "");
    if (!input.make) inputs.emplace_back(input.port, input.written);
    else inputs.emplace_back(input.port, input.list > 0 ? list : wire);
  }
  blocks.push_back(Block("b", row.block, inputs, row.attrs));
  return blocks;
}

/// Of all threads of the process.
inline double ProcessorMilliseconds() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// While it stands, the process is given small pages of memory alone, as on a machine that is short of large ones: to touch new memory takes
/// several times as long.
class SmallPages {
 public:
  SmallPages() { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
  ~SmallPages() { prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;
};

struct LeftRun {
  Status status;
  double late = 0;  // milliseconds
};

/// A run of the row's block until `limit`. Each time a page of its own: what one run has made would be used again.
inline LeftRun RunUntil(milliseconds limit, const Row& row, const std::vector<std::pair<std::string, Tensor>>& large, const ScopeOptions& options) {
  TestPage page(PageOf(row, large), {.threads = 1, .memory_limit = 0}, options);
  if (!row.before.empty()) RunOk(*page.Open({}, row.before));
  const auto session = page.Open({}, {"b"});
  for (const auto& [id, tensor] : large) REQUIRE(page.Feed(*session, id + ".output", tensor).ok());
  const SmallPages small_pages;
  const double worked = ProcessorMilliseconds();
  const auto deadline = Clock::now() + limit;
  Status status = session->Run({.observer = nullptr, .deadline = deadline});
  // On a busy machine others' work is not the block's: what it worked itself counts.
  const double late = std::min(MillisecondsSince(deadline), ProcessorMilliseconds() - worked - static_cast<double>(limit.count()));
  return {std::move(status), late};
}

inline void CheckRow(const Row& row, const std::filesystem::path& folder) {
  INFO(row.block << " " << row.attrs << (row.others.empty() ? "" : " with " + row.others.back()));
  std::vector<std::pair<std::string, Tensor>> large;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    if (row.inputs[i].make) large.emplace_back(Cat("x", i), row.inputs[i].make());
  }
  ScopeOptions options;
  if (!folder.empty()) options.files = std::make_shared<FileSandbox>(FolderRules{folder, {}, {folder}});
  milliseconds limit = kDeadline;
  LeftRun run;
  for (;; limit /= 2) {  // a fast machine may be done by then
    run = RunUntil(limit, row, large, options);
    for (int tries = 1; tries < kTries && run.late > kLatest; ++tries) run = RunUntil(limit, row, large, options);
    CHECK(run.late <= kLatest);
    if (!run.status.ok() || limit <= milliseconds(1)) break;
  }
  INFO(ToString(run.status));
  REQUIRE(run.status.code() == Code::kCancelled);
  CHECK_THAT(run.status.message(), Catch::Contains("deadline passed"));  // that of the run, or of the planning of its step
}

inline void CheckRows(const std::vector<Row>& rows, const std::filesystem::path& folder = {}) {
  for (const Row& row : rows) CheckRow(row, folder);
}

}  // namespace weft::test::deadline
