// weft show: a page as a picture.
#include <filesystem>
#include <iostream>

#include "tools/cli/common.h"
#include "weft/host/drawing_svg.h"
#include "weft/host/inspect.h"

namespace weft::cli {
namespace {

struct ShowOptions {
  PageOptions page;
  std::string out, layout;
};

int RunShow(const ShowOptions& options) {
  if (Status status = CheckIsNot(options.out, options.page.page, "page"); !status.ok()) {
    Report(status, options.page.json);
    return kFailed;
  }
  LoadedPage loaded = Load(options.page);
  if (!options.page.json || loaded.diagnostics.has_errors()) Report(loaded.diagnostics, options.page.json);
  // A page with faults is drawn, too: the picture shows them. One that could not be read is not.
  if (loaded.page->blocks.empty() && loaded.diagnostics.has_errors()) return kFailed;
  ValueTexts values;
  if (loaded.scope != nullptr) values = TextsOf(loaded.scope->graph(), Inspection(loaded.scope->graph()));
  Drawing drawing = MakeDrawing(*loaded.page, loaded.runtime->registry(), values);
  if (drawing.title.empty()) drawing.title = std::filesystem::path(options.page.page).stem().string();
  bool as_page = options.layout == "page" || (options.layout.empty() && !loaded.page->layout.empty());
  if (as_page) LayOutAsPage(drawing, *loaded.page);
  else LayOutInLayers(drawing);
  std::string svg = WriteSvg(drawing);
  if (options.out == "-") {
    std::cout << svg << std::flush;
    return std::cout && !loaded.diagnostics.has_errors() ? kOk : kFailed;
  }
  if (Status status = WriteFile(options.out, svg); !status.ok()) {
    Report(status, options.page.json);
    return kFailed;
  }
  return loaded.diagnostics.has_errors() ? kFailed : kOk;
}

}  // namespace

void AddShow(Program& program) {
  auto options = std::make_shared<ShowOptions>();
  Command command = program.Add("show", "Draw a page as an SVG picture",
                                "  weft show graphs/xor.page.json -o xor.svg\n  weft show page.json -o - --layout auto\n"
                                "A page with errors is drawn, too, as far as it can be read; the status is 1 then.", options, RunShow);
  options->page.AddTo(command, false);
  command.Add("-o,--out", options->out, "File to write (.svg), or - for standard output").Required().Type("FILE").NoOtherPicture();
  command.Add("--layout", options->layout, "Where blocks stand: as the page says (default where it does), or in layers")
      .OneOf({"page", "auto"});
}

}  // namespace weft::cli
