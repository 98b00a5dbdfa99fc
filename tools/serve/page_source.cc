#include "tools/serve/page_source.h"

#include <filesystem>

namespace weft::serve {

PageHandle LoadPage(const PageRules& rules, const PageSource& source) {
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  const char* root = rules.folder->path().c_str();
  const std::string parent = std::filesystem::path(rules.folder->path() + "/" + source.path.value_or("page")).parent_path().string();
  options.keep_faulty = 1;
  options.name = source.name.c_str();
  options.stall_limit_ms = 0;
  options.print = [](void*, const char*) {};  // prints come as events of sessions
  if (!rules.no_files) {
    options.folder = parent.c_str();
    options.allowed_folders = &root;
    options.allowed_count = 1;
    options.write_folders = &root;
    options.write_count = rules.read_only ? 0 : 1;
  }
  PageHandle page;
  Call([&](weft_diagnostics** problems) { return weft_page_load(rules.runtime, source.bytes.data(), source.bytes.size(), &options, page.out(), problems); },
       Refusal::kEngine);
  return page;
}

PageHandle LoadReadablePage(const PageRules& rules, const PageSource& source) {
  PageHandle page = LoadPage(rules, source);
  DiagnosticsHandle found;
  StringsHandle ids;
  size_t blocks = 0;
  Call([&](weft_diagnostics** problems) { return weft_page_diagnostics(page.get(), found.out(), problems); });
  Call([&](weft_diagnostics** problems) { return weft_page_blocks(page.get(), ids.out(), problems); });
  weft_strings_count(ids.get(), &blocks);
  for (Json& finding : DiagnosticsJson(found.get())) {
    // Of a text that is none, the fault has no place, or nothing was found.
    const bool whole = blocks == 0 || finding.value("pointer", "").empty();
    if (finding["severity"] == "error" && finding.value("phase", "") == "load" && whole) throw ApiError(422, finding);
  }
  return page;
}

std::string PageText(weft_page* page) {
  return TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_page_write(page, text, problems); });
}

uint64_t RevisionOf(weft_page* page) {
  uint64_t edits = 0;
  weft_page_edits(page, &edits, nullptr);
  return edits + 1;
}

}  // namespace weft::serve
