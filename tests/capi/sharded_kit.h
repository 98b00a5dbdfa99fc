// Pages cut into shards by the C interface.
#pragma once

#include <filesystem>

#include "tests/capi/capi_kit.h"
#include "tests/kit/handle_calls.h"

namespace weft::test {

using OwnedSharded = kit::Owned<weft_sharded, weft_sharded_close>;

/// loss = mean(x * w), and w -= 0.5 * the gradient of that, which is mean(x).
inline std::vector<std::string> LineBlocks() {
  return {Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Variable("w", Scalar(1)),
          Block("line", "Multiply", {{"x", "x.output"}, {"y", "w.ref"}}),
          Block("loss", "Mean", {{"input", "line.z"}, {"axis", test::Ints({0})}}),
          Block("gradients", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"w.ref\"]"}}),
          Block("train", "ApplyGradientDescent", {{"var", "w.ref"}, {"alpha", Scalar(0.5)}, {"delta", "gradients.grad_outputs[0]"}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"loss.output\", \"line.z\"]"}, {"run_outputs", "[\"train.operation\"]"}})};
}

inline OwnedSharded OpenSharded(weft_page* page, int shards = 2, std::function<void(weft_sharded_options&)> change = {}) {
  OwnedSharded run;
  Problems problems;
  weft_sharded_options options = WEFT_SHARDED_OPTIONS_INIT;
  options.shards = shards;
  if (change) change(options);
  C_OK(problems, weft_sharded_open(page, &options, run.out(), problems.out()));
  return run;
}

inline void FeedX(weft_sharded* run, std::vector<float> values) {
  Problems problems;
  FloatBuffer x(std::move(values));
  const weft_buffer buffer = x.get();
  C_OK(problems, weft_sharded_feed(run, "x.output", &buffer, problems.out()));
}

inline void StepOnce(weft_sharded* run, bool results = true) {
  Problems problems;
  C_OK(problems, weft_sharded_step(run, results ? 1 : 0, problems.out()));
}

inline OwnedView ViewOf(weft_sharded* run, const char* name) {
  OwnedView view;
  Problems problems;
  C_OK(problems, weft_sharded_view(run, name, view.out(), problems.out()));
  return view;
}

inline float W(weft_page* page) {
  OwnedView view;
  Problems problems;
  C_OK(problems, weft_page_get_variable(page, "w", view.out(), problems.out()));
  return FloatsOf(view).at(0);
}

inline weft_sharded_info InfoOf(weft_sharded* run) {
  weft_sharded_info info = WEFT_SHARDED_INFO_INIT;
  REQUIRE(weft_sharded_get_info(run, &info, nullptr) == WEFT_OK);
  return info;
}

/// A folder that goes with the test.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / Cat("weft-sharded-", getpid())) { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path;
};

}  // namespace weft::test
