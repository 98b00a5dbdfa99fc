// weft show: a page as a picture.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "tools/cli/common.h"
#include "tools/cli/drawing.h"

namespace weft::cli {
namespace {

struct ShowOptions {
  PageOptions page;
  std::string out, layout;
};

/// DT_FLOAT as "float".
std::string TypeText(DType type) {
  std::string text = ToString(type);
  if (text.starts_with("DT_")) text.erase(0, 3);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void AddValues(const Graph& graph, const Plan& plan, ValueTexts& values) {
  for (const Slot& slot : plan.slots) {
    if (!slot.value.valid()) continue;
    std::string name = graph.ValueName(slot.value);
    std::string text = Cat(TypeText(slot.dtype), " ", slot.shape_known ? ToString(slot.shape) : "[?]");
    std::string& known = values[name];
    if (known.empty() || known.ends_with("[?]")) known = std::move(text);
  }
}

/// Values that are another's under a second name: elements of lists, outputs by index, gradients.
void AddStructural(const Graph& graph, const Page& page, ValueTexts& values) {
  for (size_t b = 0; b < page.blocks.size(); ++b) {
    const Node& node = graph.node(static_cast<int>(b));
    if (node.def == nullptr || node.broken || node.def->outputs.empty()) continue;
    const std::string& port = node.def->outputs[0].name;
    if (node.constant.defined() && node.output_types.size() == 1) {
      values[Cat(node.id, ".", port)] = Cat(TypeText(node.constant.dtype()), " ", node.constant.shape());
    }
    Structural kind = node.def->structural;
    if (kind != Structural::kGradients && kind != Structural::kList && kind != Structural::kOutput) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k].valid()) continue;
      auto it = values.find(graph.ValueName(node.inputs[k]));
      std::string text = it != values.end() ? it->second : Cat(TypeText(graph.TypeOf(node.inputs[k])), " [?]");
      values[kind == Structural::kOutput ? Cat(node.id, ".", port) : Cat(node.id, ".", port, "[", k, "]")] = std::move(text);
    }
  }
}

/// Types and shapes as the page's sessions see them; of what they leave out, as a run of everything would.
ValueTexts TextsOf(const Graph& graph) {
  ValueTexts values;
  std::vector<PlanRequest> requests;
  for (const SessionSpec& session : graph.sessions()) requests.push_back(RequestFor(graph, session, Keep::kAll));
  SessionSpec all;
  for (size_t b = 0; b < graph.page().blocks.size(); ++b) {
    const Node& node = graph.node(static_cast<int>(b));
    for (size_t o = 0; !node.broken && node.order >= 0 && o < node.output_types.size(); ++o) all.fetches.push_back({"", {static_cast<int>(b), static_cast<int>(o)}});
  }
  requests.push_back(RequestFor(graph, all, Keep::kAll));
  for (const PlanRequest& request : requests) {
    Diagnostics ignored;
    AddValues(graph, MakePlan(graph, request, ignored), values);
  }
  AddStructural(graph, graph.page(), values);
  return values;
}

int RunShow(const ShowOptions& options) {
  LoadedPage loaded = Load(options.page);
  if (!options.page.json || loaded.diagnostics.has_errors()) Report(loaded.diagnostics, options.page.json);
  // A page with faults is drawn, too: the picture shows them. One that could not be read is not.
  if (loaded.page->blocks.empty() && loaded.diagnostics.has_errors()) return kFailed;
  ValueTexts values;
  if (loaded.scope != nullptr) values = TextsOf(loaded.scope->graph());
  Drawing drawing = MakeDrawing(*loaded.page, loaded.runtime->registry(), values);
  if (drawing.title.empty()) drawing.title = std::filesystem::path(options.page.page).stem().string();
  bool as_page = options.layout == "page" || (options.layout.empty() && !loaded.page->layout.empty());
  if (as_page) LayOutAsPage(drawing, *loaded.page);
  else LayOutInLayers(drawing);
  std::string svg = WriteSvg(drawing);
  if (options.out == "-") {
    std::cout << svg << std::flush;
    return std::cout ? kOk : kFailed;
  }
  if (Status status = WriteFile(options.out, svg); !status.ok()) {
    Report(status, options.page.json);
    return kFailed;
  }
  return kOk;
}

}  // namespace

void AddShow(Program& program) {
  auto options = std::make_shared<ShowOptions>();
  Command command = program.Add("show", "Draw a page as an SVG picture",
                                "  weft show graphs/xor.page.json -o xor.svg\n  weft show page.json -o - --layout auto", options, RunShow);
  options->page.AddTo(command, false);
  command.Add("-o,--out", options->out, "File to write, or - for standard output").Required().Type("FILE");
  command.Add("--layout", options->layout, "Where blocks stand: as the page says (default where it does), or in layers")
      .OneOf({"page", "auto"});
}

}  // namespace weft::cli
