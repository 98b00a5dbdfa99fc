// Files that the program `weft` writes, with calls of the system that fail: the file before or the new one, whole; an error that names the file and
// the reason; nothing left behind that a pattern matches.
#include <cerrno>
#include <cstring>

#include "tests/faults/call_fault.h"
#include "tests/faults/fault_kit.h"
#include "tests/kit/program.h"

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

/// A command, whose last argument is the file, and what it writes.
struct Written {
  std::vector<std::string> arguments;
  fs::path file;
  std::string after;
};
constexpr std::string_view kBefore = "what was there before";

/// Runs `weft` with one call for a file in the folder that fails; false where there were not so many of that kind.
bool TryProgram(const Written& written, Call call, uint64_t number, int error) {
  INFO(written.file.filename() << ": " << NameOf(call) << " " << number << " fails: " << (error == kShort ? "short" : std::strerror(error)));
  const kit::TemporaryFolder notes;
  const fs::path note = notes.path() / "happened", folder = written.file.parent_path();
  kit::WriteBytes(written.file, kBefore);
  kit::ProgramOptions options;
  options.environment = {std::string("LD_PRELOAD=") + WEFT_FAULT_LIBRARY, "WEFT_FAULT_HAPPENED=" + note.string(), "WEFT_FAULT_BELOW=" + folder.string(),
                         "WEFT_FAULT=" + std::to_string(static_cast<int>(call)) + " " + std::to_string(number) + " " + std::to_string(error)};
  const kit::ProgramResult result = kit::RunWeft(written.arguments, options);
  const bool happened = fs::exists(note);
  INFO(result.err);
  CHECK((result.status == 0 || result.status == 1));
  if (!happened || error == EINTR || error == kShort) CHECK(result.status == 0);
  const std::string now = kit::FileBytes(written.file);
  CHECK((now == written.after || (result.status != 0 && now == kBefore)));
  if (result.status != 0) CHECK_THAT(result.err, Catch::Contains(written.file.filename().string()) && Catch::Contains(std::strerror(error)));
  for (const std::string& name : Names(folder)) CHECK((IsHidden(name) || name == written.file.filename()));
  return happened;
}

TEST_CASE("Result files of the program, whose calls fail", "[files]") {
  const fs::path graphs = fs::path(WEFT_SOURCE_DIR) / "graphs";
  const std::string page = (graphs / "bias_add_grad.page.json").string(), trained = (graphs / "xor.page.json").string();
  const std::vector<std::string> results = {"run", page, "--results"}, plot = {"run", trained, "--steps", "3", "--plot", "loss.output", "--plot-file"};
  const std::vector<std::string> state = {"run", trained, "--steps", "3", "--save-state"};
  const std::pair<const char*, const std::vector<std::string>&> files[] = {
      {"out.npz", results}, {"out.json", results}, {"out.svg", plot}, {"out.png", plot}, {"state", state}};
  for (const auto& [name, arguments] : files) {
    const Folder own;
    Written written{arguments, own.at / name, ""};
    written.arguments.push_back(written.file.string());
    const kit::ProgramResult first = kit::RunWeft(written.arguments);
    INFO(first.err);
    REQUIRE(first.status == 0);
    written.after = kit::FileBytes(written.file);
    REQUIRE(!written.after.empty());
    int failed = 0;
    for (const Call call : kFileCalls) {
      for (const int error : {ENOSPC, EIO, EINTR, kShort}) {
        if (error == kShort && call != Call::kRead && call != Call::kWrite) continue;
        if (error == EINTR && !MayBeInterrupted(call)) continue;
        INFO(name << ", " << NameOf(call));
        uint64_t number = 1;
        while (number < kMostCalls && TryProgram(written, call, number, error)) ++number;
        CHECK(number < kMostCalls);
        failed += static_cast<int>(number) - 1;
      }
    }
    CHECK(failed > 20);
  }
}

}  // namespace
}  // namespace weft::faults
