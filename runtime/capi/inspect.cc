// What an editor shows of a page, and all results of a run at once.
#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/capi/dtypes.h"
#include "runtime/capi/objects.h"
#include "runtime/capi/strides.h"
#include "runtime/page/writer_parts.h"
#include "weft/host/drawing_svg.h"
#include "weft/host/session_choice.h"

using namespace weft;
using namespace weft::capi;

namespace weft::capi {

ValuesObject::ValuesObject(std::vector<Entry> all) : entries(std::move(all)) {
  size_t sizes = 0;
  for (const Entry& entry : entries) sizes += entry.status.ok() ? static_cast<size_t>(entry.value.tensor.shape().rank()) : 0;
  strides.resize(sizes);
  values.reserve(entries.size());
  int64_t* next = strides.data();
  for (const Entry& entry : entries) {
    weft_result value{entry.name.c_str(), CodeOf(entry.status), 0, 0, entry.value.stale || entry.value.outdated, nullptr, nullptr, 0, 0, nullptr, entry.value.run};
    if (entry.status.ok()) {
      const Tensor& tensor = entry.value.tensor;
      const int rank = tensor.shape().rank();
      value.dtype = ToC(tensor.dtype());
      value.rank = rank;
      value.count = tensor.count();
      value.shape = rank > 0 ? tensor.shape().dims().data() : nullptr;
      value.strides = rank > 0 ? next : nullptr;
      RowMajorStrides(tensor.shape(), ElementSize(tensor.dtype()), next);
      next += rank;
      const bool bytes = !IsManaged(tensor.dtype());
      value.bytes = bytes ? tensor.count() * static_cast<int64_t>(ElementSize(tensor.dtype())) : 0;
      value.data = value.bytes > 0 ? tensor.data() : nullptr;
    }
    values.push_back(value);
  }
}

}  // namespace weft::capi

namespace {

/// Of a call that looks at a page.
CallLimit LimitOf(const PageObject& page) { return CallLimit(page.runtime->runtime.CallEnd(), nullptr, page.scope->budget()); }

/// The page's revision now; it stays as it is.
Result<std::shared_ptr<const Graph>> GraphOf(const PageObject& object) { return object.scope->revision()->graph; }

/// A call that gives one text of a page.
template <class Body>
weft_status TextOf(weft_page* page, weft_strings** text, weft_diagnostics** problems, Body&& body) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(text, "json"));
    *text = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(auto graph, GraphOf(*object));
    const CallLimit limit = LimitOf(*object);
    WEFT_ASSIGN_OR_RETURN(std::string written, body(*object, graph));
    return GiveText(std::move(written), text);
  });
}

Result<int> BlockOf(const Graph& graph, const char* id) {
  WEFT_RETURN_IF_ERROR(NeedPointer(id, "block"));
  if (const int block = graph.IndexOf(id); block >= 0) return block;
  return graph.FindNode(id).status().ok() ? Result<int>(NotFound("there is no block '", id, "'")) : graph.FindNode(id);
}

Result<Wire> WireAt(const char* text, std::string_view what) {
  WEFT_RETURN_IF_ERROR(NeedPointer(text, what));
  return ParseWire(text);
}

/// Ports that may be joined with one.
weft_status PortsFor(weft_page* page, const char* port, weft_strings** ports, weft_diagnostics** problems, bool inputs) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(ports, inputs ? "inputs" : "outputs"));
    *ports = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(const Wire wire, WireAt(port, inputs ? "from" : "to"));
    WEFT_ASSIGN_OR_RETURN(auto graph, GraphOf(*object));
    const CallLimit limit = LimitOf(*object);
    Result<std::vector<std::string>> found = std::vector<std::string>();
    object->inspector.WithWires(graph, [&](WireFit& fit) { found = inputs ? fit.InputsFor(wire) : fit.OutputsFor(wire); });
    if (!found.ok()) return std::move(found).status().WithPage(graph->name());
    return GiveTexts(std::move(*found), ports);
  });
}

}  // namespace

weft_status weft_strings_all(const weft_strings* strings, const char* const** texts, size_t* count) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(texts, "texts"));
    *texts = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(strings));
    *texts = object->pointers.data();
    *count = object->pointers.size();
    return {};
  });
}

weft_status weft_page_block_json(weft_page* page, const char* block, weft_strings** json, weft_diagnostics** problems) {
  return TextOf(page, json, problems, [&](PageObject&, const std::shared_ptr<const Graph>& graph) -> Result<std::string> {
    WEFT_ASSIGN_OR_RETURN(const int index, BlockOf(*graph, block));
    std::string text;
    page::AppendBlock(text, graph->page().blocks[static_cast<size_t>(index)]);
    return text;
  });
}

weft_status weft_page_wires_json(weft_page* page, weft_strings** json, weft_diagnostics** problems) {
  return TextOf(page, json, problems, [](PageObject&, const std::shared_ptr<const Graph>& graph) -> Result<std::string> { return WiresJson(graph->page()); });
}

weft_status weft_page_layout_json(weft_page* page, int32_t how, weft_strings** json, weft_diagnostics** problems) {
  return TextOf(page, json, problems, [&](PageObject& object, const std::shared_ptr<const Graph>& graph) -> Result<std::string> {
    if (how != WEFT_LAYOUT_PAGE && how != WEFT_LAYOUT_AUTO) return InvalidArgument("needs WEFT_LAYOUT_PAGE or WEFT_LAYOUT_AUTO, found ", how).WithPort("how");
    if (how == WEFT_LAYOUT_AUTO) return LayoutJson(AutomaticLayout(graph->page(), graph->registry(), TextsOf(*graph, *object.inspector.Of(graph))));
    if (!graph->page().layout_text.empty()) return FailedPrecondition("the page's layout is not {\"ID\": [x, y], ...} throughout");
    return LayoutJson(graph->page().layout);
  });
}

weft_status weft_page_picture(weft_page* page, int32_t how, weft_strings** svg, weft_diagnostics** problems) {
  return TextOf(page, svg, problems, [&](PageObject& object, const std::shared_ptr<const Graph>& graph) -> Result<std::string> {
    if (how != WEFT_LAYOUT_PAGE && how != WEFT_LAYOUT_AUTO) return InvalidArgument("needs WEFT_LAYOUT_PAGE or WEFT_LAYOUT_AUTO, found ", how).WithPort("how");
    Drawing drawing = MakeDrawing(graph->page(), graph->registry(), TextsOf(*graph, *object.inspector.Of(graph)));
    if (drawing.title.empty()) drawing.title = graph->name();
    if (how == WEFT_LAYOUT_PAGE && !graph->page().layout.empty()) LayOutAsPage(drawing, graph->page());
    else LayOutInLayers(drawing);
    return WriteSvg(drawing);
  });
}

weft_status weft_page_port_type(weft_page* page, const char* port, weft_port_type* type, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    weft_port_type given = WEFT_PORT_TYPE_INIT;
    WEFT_RETURN_IF_ERROR(NeedPointer(type, "type"));
    WEFT_RETURN_IF_ERROR(ReadStruct(type, given, "weft_port_type"));
    WEFT_RETURN_IF_ERROR(NeedPointer(port, "port"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(auto graph, GraphOf(*object));
    const CallLimit limit = LimitOf(*object);
    WEFT_ASSIGN_OR_RETURN(const PortType known, object->inspector.Of(graph)->Port(*graph, port));
    weft_port_type filled = given;
    filled.dtype = ToC(known.dtype);
    filled.rank = known.shape.known_rank() ? known.shape.rank() : -1;
    filled.variable = known.variable;
    const size_t room = given.shape == nullptr ? 0 : std::min(given.capacity, static_cast<size_t>(known.shape.rank()));
    for (size_t i = 0; i < room; ++i) given.shape[i] = known.shape.dim(static_cast<int>(i));
    return FillStruct(filled, type, "weft_port_type");
  });
}

weft_status weft_page_types_json(weft_page* page, weft_strings** json, weft_diagnostics** problems) {
  return TextOf(page, json, problems, [](PageObject& object, const std::shared_ptr<const Graph>& graph) -> Result<std::string> {
    return TypesJson(*graph, *object.inspector.Of(graph));
  });
}

weft_status weft_page_why_not(weft_page* page, const char* block, weft_diagnostics** reasons, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(reasons, "reasons"));
    *reasons = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(auto graph, GraphOf(*object));
    WEFT_ASSIGN_OR_RETURN(const int index, BlockOf(*graph, block));
    const CallLimit limit = LimitOf(*object);
    Diagnostics found;
    for (Status& reason : object->inspector.Of(graph)->WhyNot(*graph, index, object->document->diagnostics())) found.Error(std::move(reason));
    return Give(std::make_shared<DiagnosticsObject>(std::move(found)), reasons);
  });
}

weft_status weft_page_plan_json(weft_page* page, const char* session, weft_strings** json, weft_diagnostics** problems) {
  Diagnostics found;
  const weft_status status = TextOf(page, json, problems, [&](PageObject&, const std::shared_ptr<const Graph>& graph) -> Result<std::string> {
    WEFT_ASSIGN_OR_RETURN(const SessionSpec spec, ChooseSession(*graph, {.session = session == nullptr ? "" : session}));
    const Plan plan = MakePlan(*graph, RequestFor(spec, Keep::kAll), found);
    found.SetPhase(Phase::kCompile);
    return found.has_errors() ? std::string() : PlanJson(*graph, plan);
  });
  if (status != WEFT_OK || !found.has_errors()) return status;
  (void)weft_strings_release(*json);
  *json = nullptr;
  return ReportAll(found, problems);
}

weft_status weft_page_check_wire(weft_page* page, const char* from, const char* to, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(const Wire source, WireAt(from, "from"));
    WEFT_ASSIGN_OR_RETURN(const Wire target, WireAt(to, "to"));
    const CallLimit limit = LimitOf(*object);
    return object->inspector.CheckWire(*object->scope, source, target);
  });
}

weft_status weft_page_inputs_for(weft_page* page, const char* from, weft_strings** inputs, weft_diagnostics** problems) {
  return PortsFor(page, from, inputs, problems, true);
}

weft_status weft_page_outputs_for(weft_page* page, const char* to, weft_strings** outputs, weft_diagnostics** problems) {
  return PortsFor(page, to, outputs, problems, false);
}

weft_status weft_session_read_results(weft_session* session, const char* const* names, size_t count, weft_results** results,
                                      weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(results, "results"));
    *results = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    std::vector<std::string> wanted;
    const bool all = names == nullptr;
    if (all) {
      for (auto& [name, value] : object->runner->session().Results()) wanted.push_back(std::move(name));
    } else {
      WEFT_ASSIGN_OR_RETURN(wanted, ReadTexts(names, count, "names"));
    }
    const std::vector<std::string_view> views(wanted.begin(), wanted.end());
    std::vector<Result<ResultValue>> read = object->runner->Read(views);
    std::vector<ValuesObject::Entry> entries;
    entries.reserve(read.size());
    for (size_t i = 0; i < read.size(); ++i) {
      if (all && !read[i].ok()) continue;
      ValuesObject::Entry& entry = entries.emplace_back();
      entry.name = std::move(wanted[i]);
      Result<Tensor> tensor = read[i].ok() ? OwnValue(*object, std::move(read[i]->tensor)) : Result<Tensor>(read[i].status());
      entry.status = tensor.status();
      if (!tensor.ok()) continue;
      entry.value = std::move(*read[i]);
      entry.value.tensor = std::move(*tensor);
    }
    return Give(std::make_shared<ValuesObject>(std::move(entries)), results);
  });
}

weft_status weft_results_all(const weft_results* results, const weft_result** array, size_t* count) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(array, "array"));
    *array = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(results));
    *array = object->values.data();
    *count = object->values.size();
    return {};
  });
}

weft_status weft_results_view(const weft_results* results, size_t index, weft_view** view, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(view, "view"));
    *view = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(results));
    if (index >= object->entries.size()) return OutOfRange("needs an index below ", object->entries.size(), ", found ", index);
    const ValuesObject::Entry& entry = object->entries[index];
    if (!entry.status.ok()) return entry.status;
    return GiveView(entry.value, view);
  });
}

weft_status weft_results_release(weft_results* results) {
  return Guard(nullptr, [&] { return results == nullptr ? Status() : Close(results).status(); });
}
