// Pages of any format, connected, planned and run.
#include "tests/fuzz/run_page.h"
#include "tests/fuzz/targets.h"
#include "weft/page/reader.h"

namespace weft::fuzz {

void RunWeftPage(std::string_view bytes) {
  ReadPageResult read = ReadPage(bytes, {.name = "p.json", .read_file = {}});
  RunPage(std::move(read.page), std::move(read.diagnostics), bytes.size() % 2 == 0);
}

}  // namespace weft::fuzz
