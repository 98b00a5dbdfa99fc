// The state of pages cut into shards: snapshots, their folders, random streams.
#include "tests/capi/sharded_kit.h"

#include <fstream>

using namespace weft;
using namespace weft::test;

namespace {

/// That of LineBlocks, with noise on x that each shard draws for itself.
std::vector<std::string> NoisyBlocks() {
  std::vector<std::string> blocks = LineBlocks();
  blocks[2] = Block("line", "Multiply", {{"x", "noisy.z"}, {"y", "w.ref"}});
  blocks.insert(blocks.begin() + 2, {Block("shape", "Shape", {{"input", "x.output"}}),
                                     Block("noise", "RandomUniform", {{"shape", "shape.output"}}, "dtype = DT_FLOAT; seed = 5; seed2 = 6;"),
                                     Block("noisy", "Add", {{"x", "x.output"}, {"y", "noise.output"}})});
  return blocks;
}

/// What a step has in line.z.
std::vector<float> Drawn(weft_sharded* run) {
  FeedX(run, {1, 2, 3, 4});
  StepOnce(run);
  return FloatsOf(ViewOf(run, "line.z"));
}

weft_status SaveNewest(weft_sharded* run, const std::filesystem::path& folder, Problems& problems) {
  return weft_sharded_save_newest(run, folder.c_str(), problems.out());
}

}  // namespace

TEST_CASE("C: a run in shards goes on from a snapshot, with the same bits", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  const Folder folder;
  const std::string path = folder.path.string(), file = path + ".weft";
  const auto train = [](weft_sharded* run, int from, int to) {
    for (int i = from; i < to; ++i) {
      FeedX(run, {static_cast<float>(i), 0.5f});
      StepOnce(run, false);
    }
  };
  OwnedPage page = LoadPage(runtime, LineBlocks());
  OwnedSharded run = OpenSharded(page);
  OwnedStrings taken;
  C_OK(problems, weft_sharded_resume(run, path.c_str(), taken.out(), problems.out()));
  const char* text = nullptr;
  REQUIRE(weft_strings_get(taken, 0, &text, nullptr) == WEFT_OK);
  CHECK(text == std::string());
  train(run, 0, 5);
  C_OK(problems, weft_sharded_save_newest(run, path.c_str(), problems.out()));
  C_OK(problems, weft_sharded_save(run, file.c_str(), problems.out()));
  train(run, 5, 9);
  C_OK(problems, weft_sharded_save_newest(run, path.c_str(), problems.out()));
  CHECK(weft_sharded_load(run, file.c_str(), problems.out()) == WEFT_FAILED_PRECONDITION);
  std::ofstream(folder.path / "step-000000000009.weft") << "torn";

  // The newest is damaged: that before it is taken, when no other run has the folder.
  CHECK(weft_sharded_resume(OpenSharded(LoadPage(runtime, LineBlocks())), path.c_str(), nullptr, problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("in use by process") != std::string::npos);
  run = OwnedSharded();
  OwnedPage other = LoadPage(runtime, LineBlocks());
  OwnedSharded resumed = OpenSharded(other);
  OwnedStrings path_taken;
  C_OK(problems, weft_sharded_resume(resumed, path.c_str(), path_taken.out(), problems.out()));
  REQUIRE(weft_strings_get(path_taken, 0, &text, nullptr) == WEFT_OK);
  CHECK(std::string(text).ends_with("step-000000000005.weft"));
  CHECK(InfoOf(resumed).steps == 5);
  train(resumed, 5, 9);
  CHECK(W(other) == W(page));

  // A run that has nothing to do with the folder does not take its snapshots away; one of other shards does not take the file.
  OwnedPage third = LoadPage(runtime, LineBlocks());
  OwnedSharded stranger = OpenSharded(third, 1);
  CHECK(weft_sharded_save_newest(stranger, path.c_str(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("in use by process") != std::string::npos);
  resumed = OwnedSharded();
  FeedX(stranger, {1, 2});
  CHECK(weft_sharded_save_newest(stranger, path.c_str(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("earlier run") != std::string::npos);
  CHECK(weft_sharded_load(stranger, file.c_str(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.text().find("of a run with 2 shards, found 1") != std::string::npos);
  CHECK(W(third) == 1);
  CHECK(InfoOf(stranger).steps == 0);
  CHECK(weft_sharded_load(stranger, (path + "/none").c_str(), problems.out()) == WEFT_NOT_FOUND);
  std::filesystem::remove(file);
}

TEST_CASE("C: a run saves only to folders without the snapshots of others", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  const Folder folder;
  const std::filesystem::path own = folder.path / "own", others = folder.path / "others", foreign = others / "step-000000005000.weft";
  std::filesystem::create_directories(others);
  std::ofstream(foreign) << "of another run";
  OwnedSharded run = OpenSharded(page);
  // None of them can be taken, so the folder is not the run's.
  CHECK(weft_sharded_resume(run, others.c_str(), nullptr, problems.out()) == WEFT_DATA_LOSS);
  FeedX(run, {1, 2});
  StepOnce(run);
  CHECK(SaveNewest(run, others, problems) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("earlier run") != std::string::npos);
  C_OK(problems, SaveNewest(run, own, problems));
  StepOnce(run);
  CHECK(SaveNewest(run, others, problems) == WEFT_FAILED_PRECONDITION);
  CHECK(std::filesystem::exists(foreign));
  // That by another name is the same folder.
  C_OK(problems, SaveNewest(run, folder.path / "others/../own", problems));
  CHECK(std::filesystem::exists(own / "step-000000000002.weft"));
  std::filesystem::rename(own, folder.path / "moved");
  std::filesystem::create_directories(own);
  StepOnce(run);
  CHECK(SaveNewest(run, own, problems) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: a page has one run in shards at a time", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, LineBlocks());
  Problems problems;
  OwnedSharded run = OpenSharded(page), second;
  CHECK(weft_sharded_open(page, nullptr, second.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(problems.text().find("close that run first") != std::string::npos);
  FeedX(run, {1, 2, 3});
  CHECK(weft_sharded_step(run, 0, problems.out()) == WEFT_INVALID_ARGUMENT);
  second = OpenSharded(page);  // the first is over
  REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
  CHECK(weft_sharded_open(page, nullptr, run.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  FeedX(second, {1, 2});
  StepOnce(second);
}

TEST_CASE("C: shards of another number draw from the beginning", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, NoisyBlocks()), fresh = LoadPage(runtime, NoisyBlocks());
  OwnedSharded run = OpenSharded(page, 4);
  const std::vector<float> first = Drawn(run);
  REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
  run = OpenSharded(page, 4);
  CHECK(Drawn(run) != first);  // the same ones go on
  REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
  run = OpenSharded(page, 2);
  CHECK(InfoOf(run).steps == 0);
  FloatBuffer one({1});
  Problems problems;
  const weft_buffer w = one.get();
  C_OK(problems, weft_page_set_variable(page, "w", &w, problems.out()));
  CHECK(Drawn(run) == Drawn(OpenSharded(fresh, 2)));
}

TEST_CASE("C: a page that is restored without its shards' streams draws from the beginning, and is saved", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, NoisyBlocks());
  Problems problems;
  const Folder folder;
  std::filesystem::create_directories(folder.path);
  const std::string file = folder.path / "new.weft", saved = folder.path / "saved.weft";
  OwnedSharded run = OpenSharded(page);
  REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
  C_OK(problems, weft_page_save_state(page, file.c_str(), nullptr, nullptr, problems.out()));
  run = OpenSharded(page);
  const std::vector<float> first = Drawn(run);
  REQUIRE(weft_sharded_close(run.release()) == WEFT_OK);
  C_OK(problems, weft_page_restore_state(page, file.c_str(), nullptr, nullptr, problems.out()));
  run = OpenSharded(page);
  C_OK(problems, weft_sharded_save(run, saved.c_str(), problems.out()));
  CHECK(Drawn(run) == first);
}
