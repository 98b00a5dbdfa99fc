// Writers that are killed: the file before or the next one is there, whole, and nothing beside it that a pattern picks up.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint_v1/checkpoint_writer.h"
#include "tests/kit/sanitized.h"
#include "tests/kit/test_services.h"

namespace weft {
namespace {

using namespace blocks::checkpoint_v1;
namespace fs = std::filesystem;

constexpr int64_t kCount = 100000;

bool SaveNumber(const fs::path& path, float number) {
  Tensor value = Tensor::Allocate(DType::kFloat, Shape{kCount}).value();
  std::fill(value.values<float>().begin(), value.values<float>().end(), number);
  const NamedTensor named{"t", std::move(value)};
  return WriteCheckpoint(path, std::span(&named, 1)).ok();
}

/// The number that the checkpoint is full of.
float SavedNumber(const fs::path& path) {
  auto reader = CheckpointReader::Open({path});
  INFO(ToString(reader.status()));
  REQUIRE(reader.ok());
  auto value = reader->Read("t", TensorSlice::Whole(1), nullptr);
  INFO(ToString(value.status()));
  REQUIRE(value.ok());
  const auto values = value->values<float>();
  CHECK(std::all_of(values.begin(), values.end(), [&](float each) { return each == values[0]; }));
  return values[0];
}

bool WriteNumber(const fs::path& path, float number) {
  auto file = blocks::AtomicFile::Create(path);
  return file.ok() && file->Write(std::string(kCount, static_cast<char>('a' + static_cast<int>(number) % 26))).ok() && file->Commit().ok();
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("Killed at any moment, a writer leaves the file before or the next one, and nothing that a pattern matches", "[files]") {
  const kit::TemporaryFolder folder;
  const kit::TestFiles files(folder.path());
  const fs::path model = fs::canonical(folder.path()) / "model-1", text = fs::canonical(folder.path()) / "text-1";
  REQUIRE(SaveNumber(model, 0));
  REQUIRE(WriteNumber(text, 0));
  std::mt19937 random(11);
  float last = 0;
  int left = 0;
  const int rounds = kit::kSanitized ? 20 : 200;
  for (int round = 0; round < rounds; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (float number = last + 1;; ++number) {
        if (!SaveNumber(model, number) || !WriteNumber(text, number)) _exit(1);
      }
    }
    usleep(std::uniform_int_distribution<useconds_t>(100, 8000)(random));
    kill(child, SIGKILL);
    int how = 0;
    REQUIRE(waitpid(child, &how, 0) == child);
    REQUIRE(WIFSIGNALED(how));
    const float now = SavedNumber(model);
    CHECK(now >= last);
    last = now;
    std::ifstream in(text, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    CHECK(bytes == std::string(kCount, bytes.at(0)));
    for (const char* pattern : {"model-*", "model*", "*-1", "text-?", "*"}) {
      INFO(pattern);
      auto matches = blocks::MatchFiles(files, pattern);
      REQUIRE(matches.ok());
      CHECK(matches->size() == (pattern[0] == '*' ? size_t{2} : size_t{1}));
    }
    const auto entries = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
    CHECK(entries <= 4);  // no more than one unfinished file of each name, however often
    left += entries > 2;
  }
  INFO(left << " times something was left");
  CHECK(last > 0);
  REQUIRE(SaveNumber(model, 1));
  REQUIRE(WriteNumber(text, 1));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}
#endif

}  // namespace
}  // namespace weft
