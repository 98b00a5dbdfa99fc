// Pages cut into shards, and the job of one process, by the C interface. (tests/ranks_test.py has hosts on several processes.)
#include "tests/capi/sharded_kit.h"

#include <atomic>
#include <thread>

using namespace weft;
using namespace weft::test;

TEST_CASE("C: a process that no launcher has started is rank 0 of 1", "[capi]") {
  Problems problems;
  for (const char* messages : {static_cast<const char*>(nullptr), "", "none", "auto"}) {
    weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
    options.messages = messages;
    OwnedRuntime runtime;
    C_OK(problems, weft_runtime_open(&options, runtime.out(), problems.out()));
    weft_job_info info = WEFT_JOB_INFO_INIT;
    C_OK(problems, weft_runtime_get_job(runtime, &info, problems.out()));
    CHECK(info.rank == 0);
    CHECK(info.ranks == 1);
    CHECK(info.library == std::string());
    OwnedStrings names;
    C_OK(problems, weft_runtime_rank_names(runtime, names.out(), problems.out()));
    const char* name = nullptr;
    REQUIRE(weft_strings_get(names, 0, &name, nullptr) == WEFT_OK);
    CHECK(name == std::string("this process"));
    C_OK(problems, weft_runtime_abort_job(runtime, "nobody waits", problems.out()));
    CHECK(weft_runtime_abort_job(runtime, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  }
}

TEST_CASE("C: what is no library of messages is refused", "[capi]") {
  Problems problems;
  OwnedRuntime runtime;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.messages = "/nowhere/libmessages.so";
  CHECK(weft_runtime_open(&options, runtime.out(), problems.out()) == WEFT_NOT_FOUND);
  options.messages = "libm.so.6";
  CHECK(weft_runtime_open(&options, runtime.out(), problems.out()) == WEFT_UNSUPPORTED);
  CHECK(problems.text().find("weft_messages") != std::string::npos);
  options.messages = nullptr;
  options.job_deadline_ns = -1;
  CHECK(weft_runtime_open(&options, runtime.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).port == std::string("job_deadline_ns"));
  // The options of a host that was built before there were jobs.
  options = WEFT_RUNTIME_OPTIONS_INIT;
  options.size = offsetof(weft_runtime_options, messages);
  options.messages = "/nowhere/libmessages.so";
  C_OK(problems, weft_runtime_open(&options, runtime.out(), problems.out()));
}

TEST_CASE("C: a page is trained in shards, with a batch for each step", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  OwnedView view;
  OwnedStrings names;
  OwnedSharded run = OpenSharded(page);
  CHECK(InfoOf(run).shards == 2);
  CHECK(InfoOf(run).shard_count == 2);
  CHECK(weft_sharded_view(run, "loss.output", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  FeedX(run, {1, 2, 3, 4});
  StepOnce(run);
  CHECK(W(page) == -0.25f);
  OwnedView first = ViewOf(run, "loss.output");
  CHECK(FloatsOf(first) == std::vector<float>{2.5f});
  CHECK(FloatsOf(ViewOf(run, "line.z")) == std::vector<float>{1, 2, 3, 4});
  CHECK(FloatsOf(ViewOf(run, "line.result_z[2]")) == std::vector<float>{3});
  CHECK(weft_sharded_view(run, "train.out", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_sharded_view(run, "lin.z", view.out(), problems.out()) == WEFT_NOT_FOUND);

  // Another batch, of another number of rows; then one step without results, which leaves those of the last.
  FeedX(run, {8, 8});
  StepOnce(run);
  CHECK(W(page) == -4.25f);
  CHECK(FloatsOf(ViewOf(run, "line.z")) == std::vector<float>{-2, -2});
  StepOnce(run, false);
  CHECK(W(page) == -8.25f);
  CHECK(FloatsOf(ViewOf(run, "loss.output")) == std::vector<float>{-2});
  CHECK(weft::test::InfoOf(ViewOf(run, "loss.output")).generation == 2);
  CHECK(FloatsOf(first) == std::vector<float>{2.5f});  // views never change
  CHECK(InfoOf(run).steps == 3);

  C_OK(problems, weft_sharded_results(run, names.out(), problems.out()));
  size_t count = 0;
  REQUIRE(weft_strings_count(names, &count) == WEFT_OK);
  CHECK(count == 2);
  weft_sharded_times times = WEFT_SHARDED_TIMES_INIT;
  double computed[2] = {-1, -1};
  C_OK(problems, weft_sharded_progress(run, &times, computed, 2, problems.out()));
  CHECK(times.ranks == 1);
  CHECK(times.slowest == 0);
  CHECK(times.steps == 3);
  CHECK(computed[0] > 0);
  CHECK(computed[1] == -1);
  CHECK(times.step_ms >= computed[0]);
  C_OK(problems, weft_sharded_progress(run, &times, nullptr, 0, problems.out()));

  // Another run of the same page goes on.
  REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
  OwnedSharded next = OpenSharded(page, 2, [](weft_sharded_options& options) { options.reduce = WEFT_SHARDS_SUM; });
  CHECK(InfoOf(next).steps == 3);
  FeedX(next, {1, 1});
  StepOnce(next);
  CHECK(W(page) == -9.25f);  // two gradients of 1 are added
}

TEST_CASE("C: what is fed before the first step decides what may be fed", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  OwnedSharded run = OpenSharded(page);
  FloatBuffer vector({1, 2});
  weft_buffer buffer = vector.get();
  CHECK(weft_sharded_feed(run, "y.output", &buffer, problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_sharded_feed(run, "x.output", nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  buffer.dtype = WEFT_INT32;
  CHECK(weft_sharded_feed(run, "x.output", &buffer, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.text().find("DT_FLOAT") != std::string::npos);
  FeedX(run, {1, 2});
  FeedX(run, {3, 4});
  StepOnce(run);
  CHECK(FloatsOf(ViewOf(run, "line.z")) == std::vector<float>{3, 4});
  buffer = vector.get();
  CHECK(weft_sharded_feed(run, "loss.output", &buffer, problems.out()) == WEFT_FAILED_PRECONDITION);
  const int64_t matrix[] = {1, 2};
  buffer.rank = 2;
  buffer.shape = matrix;
  CHECK(weft_sharded_feed(run, "x.output", &buffer, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.text().find("rank") != std::string::npos);
}

TEST_CASE("C: wrong options, and what cannot be cut, are told with their place", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  OwnedSharded run;
  weft_sharded_options options = WEFT_SHARDED_OPTIONS_INIT;
  options.shards = 0;
  CHECK(weft_sharded_open(page, &options, run.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).port == std::string("shards"));
  options = WEFT_SHARDED_OPTIONS_INIT;
  options.reduce = 2;
  CHECK(weft_sharded_open(page, &options, run.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  options = WEFT_SHARDED_OPTIONS_INIT;
  options.session = "walk";
  CHECK(weft_sharded_open(page, &options, run.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(run == nullptr);

  // Without a value for x; with rows that the shards do not divide. The run is over then.
  run = OpenSharded(page);
  CHECK(weft_sharded_step(run, 1, problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("Placeholder") != std::string::npos);
  CHECK(weft_sharded_step(run, 1, problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("the run is over") != std::string::npos);
  run = OpenSharded(page);
  FeedX(run, {1, 2, 3});
  CHECK(weft_sharded_step(run, 1, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).block == std::string("x"));
  CHECK(InfoOf(run).last_status == WEFT_INVALID_ARGUMENT);
  CHECK(InfoOf(run).all_failed == 1);

  // An output that is named: x is whole then, and there is nothing else.
  const char* const whole[] = {"x.output"};
  run = OpenSharded(page, 2, [&](weft_sharded_options& given) { given.whole = whole, given.whole_count = 1; });
  FeedX(run, {1, 2});
  CHECK(weft_sharded_step(run, 1, problems.out()) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: a page that is edited ends the run of its shards", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  OwnedSharded run = OpenSharded(page);
  FeedX(run, {1, 2});
  StepOnce(run);
  const std::string edit = Cat("[{\"op\": \"add\", \"block\": ", Block("more", "Add", {{"x", "w.ref"}, {"y", "w.ref"}}), "}]");
  C_OK(problems, weft_page_edit(page, edit.c_str(), WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(weft_sharded_step(run, 1, problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("was edited") != std::string::npos);
  run = OpenSharded(page);
  FeedX(run, {1, 2});
  StepOnce(run);
}

TEST_CASE("C: a step is cancelled from another thread, and closing waits for it", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  for (const bool closes : {false, true}) {
    OwnedSharded run = OpenSharded(page);
    FeedX(run, {1, 2});
    StepOnce(run);
    std::atomic<weft_status> ended{WEFT_OK};
    std::atomic<bool> began{false};
    weft_sharded* const steps = run;
    std::thread thread([&] {
      weft_status status = WEFT_OK;
      while ((status = weft_sharded_step(steps, 0, nullptr)) == WEFT_OK) began = true;
      ended = status;
    });
    while (!began) std::this_thread::yield();
    // Meanwhile, reading waits for nothing.
    OwnedStrings where;
    C_OK(problems, weft_sharded_where(run, where.out(), problems.out()));
    CHECK(FloatsOf(ViewOf(run, "line.z")).size() == 2);
    if (closes) {
      REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
      thread.join();
      CHECK((ended == WEFT_CANCELLED || ended == WEFT_FAILED_PRECONDITION));
    } else {
      C_OK(problems, weft_sharded_cancel(run, problems.out()));
      thread.join();
      CHECK(ended == WEFT_CANCELLED);
      CHECK(InfoOf(run).last_status == WEFT_CANCELLED);
      CHECK(InfoOf(run).all_failed == 0);
    }
  }
}

namespace {

struct FromPrint {
  weft_sharded* run = nullptr;
  std::atomic<int> closed{-1}, stepped{-1};
};

}  // namespace

TEST_CASE("C: a callback of a step can neither step nor close its run", "[capi]") {
  FromPrint seen;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.user = &seen;
  options.print = [](void* user, const char*) {
    auto& from = *static_cast<FromPrint*>(user);
    from.stepped = weft_sharded_step(from.run, 0, nullptr);
    from.closed = weft_sharded_close(from.run);
  };
  std::vector<std::string> blocks = LineBlocks();
  blocks.insert(blocks.begin() + 3, Block("told", "Print", {{"input", "line.z"}, {"data", "[\"line.z\"]"}}));
  blocks[4] = Block("loss", "Mean", {{"input", "told.output"}, {"axis", test::Ints({0})}});
  OwnedRuntime runtime = OpenRuntime(1);
  OwnedPage page = LoadPage(runtime, blocks, &options);
  OwnedSharded run = OpenSharded(page);
  seen.run = run;
  FeedX(run, {1, 2});
  StepOnce(run);
  CHECK(seen.stepped == WEFT_FAILED_PRECONDITION);
  CHECK(seen.closed == WEFT_FAILED_PRECONDITION);
  CHECK(InfoOf(run).in_progress == 0);
}
