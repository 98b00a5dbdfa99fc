// A program by the C++ interface of an installed Weft: runs a page and prints one result.
#include <iostream>

#include "weft/exec/session.h"
#include "weft/host/document.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto runtime = std::make_shared<weft::Runtime>(weft::MakeCatalog());
  auto document = weft::Document::OpenFile(runtime, argv[1]);
  if (document->diagnostics().has_errors() || document->scope()->graph().sessions().empty()) return 1;
  weft::Session session(document->scope(), document->scope()->graph().sessions()[0]);
  if (!session.Run().ok()) return 1;
  auto result = session.Get(argv[2]);
  if (!result.ok()) return 1;
  std::cout << ToString(result->tensor) << "\n";
}
