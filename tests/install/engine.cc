// A program by the C++ interface of an installed Weft: runs a page and prints one result.
#include <iostream>

#include "weft/exec/session.h"
#include "weft/page/reader.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  weft::Runtime runtime(weft::MakeCatalog());
  weft::ReadPageResult read = weft::ReadPageFile(argv[1]);
  auto page = std::make_shared<weft::Page>(std::move(read.page));
  auto scope = weft::Scope::Open(runtime, page, argv[1], {}, read.diagnostics);
  if (!read.diagnostics.FirstError().ok() || scope->graph().sessions().empty()) return 1;
  weft::Session session(scope, scope->graph().sessions()[0]);
  if (!session.Run().ok()) return 1;
  auto result = session.Get(argv[2]);
  if (!result.ok()) return 1;
  std::cout << ToString(result->tensor) << "\n";
}
