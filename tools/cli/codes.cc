// weft codes: the numbers of the C interface, with their names and meanings.
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "weft.h"

namespace weft::cli {
namespace {

struct CodesOptions {
  bool json = false;
};

int RunCodes(const CodesOptions& options) {
  if (options.json) {
    std::cout << weft_codes_json();
    return kOk;
  }
  const auto codes = nlohmann::ordered_json::parse(weft_codes_json());
  for (const auto& [list, entries] : codes.items()) {
    std::cout << list << "\n";
    for (const auto& entry : entries) {
      std::cout << "  " << entry["number"] << "  " << entry["name"].get<std::string>() << ": " << entry["means"].get<std::string>() << "\n";
    }
  }
  return kOk;
}

}  // namespace

void AddCodes(Program& program) {
  auto options = std::make_shared<CodesOptions>();
  Command command = program.Add("codes", "Numbers of errors, phases, states and events, and what they mean",
                                "  weft codes\n  weft codes --json > codes.json", options, RunCodes);
  command.AddFlag("--json", options->json, "Print them as JSON, for programs that translate them");
}

}  // namespace weft::cli
