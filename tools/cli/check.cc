// weft check, plan, convert: what is known of a page without running it.
#include <iostream>

#include "tools/cli/common.h"
#include "tools/cli/libraries.h"
#include "weft/host/inspect.h"
#include "weft/host/session_choice.h"
#include "weft/plan/partial_shapes.h"

namespace weft::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> pages, set, allow, write, libraries;
  BlockLists blocks;
  int64_t memory = 0;
  bool json = false;
};

int RunCheck(const CheckOptions& options) {
  Diagnostics all;
  size_t faulty = 0;
  for (const std::string& page : options.pages) {
    PageOptions one;
    one.page = page;
    one.set = options.set;
    one.allow = options.allow;
    one.write = options.write;
    one.libraries = options.libraries;
    one.blocks = options.blocks;
    one.memory = options.memory;
    LoadedPage loaded = Load(one);
    if (loaded.document != nullptr) loaded.diagnostics = loaded.document->diagnostics();
    faulty += loaded.diagnostics.has_errors();
    if (!options.json && !loaded.diagnostics.has_errors()) {
      std::cout << Visible(page) << ": " << Counted(loaded.page->blocks.size(), "block") << ", no errors";
      if (loaded.diagnostics.warnings() > 0) std::cout << ", " << Counted(loaded.diagnostics.warnings(), "warning");
      std::cout << "\n";
    }
    all.Append(std::move(loaded.diagnostics));
  }
  Report(all, options.json);
  return faulty == 0 ? kOk : kFailed;
}

struct PlanOptions {
  PageOptions page;
  std::string session;
  std::string keep = "all";
};

struct PlanTexts {
  std::string people, json;
};

/// A session's plan; what is known of shapes that only the run can tell in full stands after its steps.
PlanTexts TextsOfPlan(const Graph& graph, const SessionSpec& spec, const Plan& plan) {
  PartialShapes partial;
  Diagnostics ignored;
  const Plan again = MakePlan(graph, RequestFor(spec, plan.keep), ignored, partial);
  PlanTexts texts;
  std::string shapes;
  for (const auto& [slot, shape] : partial) {
    const std::string name = graph.ValueName(again.slots[slot].value);
    texts.people += Cat(texts.people.empty() ? "known in part: " : ", ", name, " ", shape);
    std::string dims;
    for (int64_t dim : shape.dims()) dims += Cat(dims.empty() ? "" : ", ", dim);
    shapes += Cat(shapes.empty() ? "" : ", ", Quoted(name), ": [", dims, "]");
  }
  texts.people = Cat("session ", spec.id, "\n", PrintPlan(graph, plan), texts.people, texts.people.empty() ? "" : "\n");
  texts.json = Cat("{\"session\": ", Quoted(spec.id), ", \"partial_shapes\": {", shapes, "}, \"plan\": ", PlanJson(graph, plan), "}");
  return texts;
}

int RunPlan(const PlanOptions& options) {
  LoadedPage loaded = Load(options.page);
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, options.page.json);
    return kFailed;
  }
  const Graph& graph = loaded.scope->graph();
  SessionRequest request;
  request.session = options.session;
  auto sessions = ChooseSessions(graph, request);
  if (!sessions.ok()) {
    Report(Status(sessions.status()).WithPage(options.page.page), options.page.json);
    return kFailed;
  }
  std::string text, json;
  for (SessionSpec& spec : *sessions) {
    Session session(loaded.scope, std::move(spec), options.keep == "asked" ? Keep::kAsked : Keep::kAll);
    session.Prepare(loaded.diagnostics);
    if (session.plan() == nullptr) continue;
    const PlanTexts texts = TextsOfPlan(graph, session.spec(), *session.plan());
    text += texts.people;
    json += Cat(json.empty() ? "" : ",\n", texts.json);
  }
  if (!options.page.json) std::cout << Visible(text);
  const bool failed = loaded.diagnostics.has_errors();
  SortByPage(loaded.diagnostics, *loaded.page);
  if (!options.page.json || failed) Report(loaded.diagnostics, options.page.json);
  else std::cout << "{\"sessions\": [\n" << json << "]}\n";
  return failed ? kFailed : kOk;
}

struct ConvertOptions {
  std::string in, out;
  std::vector<std::string> allow, libraries;
  int64_t memory = 0;
  bool json = false;
};

/// Only a page in Weft's format may be written over itself: another one would be gone, and its name be wrong.
Status CheckPlace(const ConvertOptions& options, const Page& page) {
  if (options.in == "-" || page.format == Page::Format::kWeft) return {};
  return CheckIsNot(options.out, options.in, "page");
}

/// Faults of a page that is readable do not keep it from being converted, but they are not silent either.
void NoteFaults(const std::string& page, size_t faults) {
  if (faults == 0) return;
  std::cerr << Visible(page) << ": " << Colored("note:", 36) << " the page has " << faults << (faults == 1 ? " error" : " errors")
            << ", which weft check tells; it is written as it is\n";
}

int RunConvert(const ConvertOptions& options) {
  PageOptions page;
  page.page = options.in;
  page.allow = options.allow;
  page.libraries = options.libraries;
  page.memory = options.memory;
  LoadedPage loaded = Load(page);
  Diagnostics read;  // what keeps the document from being converted, or is odd in it; the rest is the affair of who runs the page
  size_t others = 0;
  for (const Diagnostic& found : loaded.diagnostics.all()) {
    if (loaded.document == nullptr || found.status.phase() == Phase::kLoad) read.Add(found.severity, found.status);
    else others += found.severity == Severity::kError;
  }
  if (Status status = CheckPlace(options, *loaded.page); !status.ok() && !read.has_errors()) read.Error(std::move(status).WithPage(options.in));
  // (On standard output the page stands alone.)
  Report(read, options.json && (read.has_errors() || options.out != "-"));
  if (read.has_errors()) return kFailed;
  if (!options.json) NoteFaults(options.in, others);
  std::string text = loaded.document->Write();
  if (options.out == "-") {
    std::cout << text;
    return kOk;
  }
  if (Status status = WriteFile(options.out, text); !status.ok()) {
    Report(status, options.json);
    return kFailed;
  }
  return kOk;
}

}  // namespace

void AddCheck(Program& program) {
  auto options = std::make_shared<CheckOptions>();
  Command command = program.Add("check", "Report the faults of pages, all at once, without running them",
                                "  weft check graphs/xor.page.json\n  weft check --json *.page.json", options, RunCheck);
  command.Add("pages", options->pages, "Pages to check").Required().Type("PAGE").NotEmpty();
  command.Add("--set", options->set, "Override a literal or an attribute: ID.pin=VALUE").Type("ID.pin=VALUE").Repeated();
  AddFolderOptions(command, options->allow, options->write);
  AddLibraryOption(command, options->libraries);
  AddBlockListOptions(command, options->blocks);
  AddMemoryOption(command, options->memory);
  command.AddFlag("--json", options->json, "Print the findings as JSON");
}

void AddPlan(Program& program) {
  auto options = std::make_shared<PlanOptions>();
  Command command = program.Add("plan", "Print what the sessions of a page would do: steps, places, memory",
                                "  weft plan graphs/xor.page.json\n  weft plan page.json --session run --keep asked\n"
                                "--json gives {\"sessions\": [{\"session\", \"partial_shapes\", \"plan\"}]}, each plan as weft_page_plan_json of weft.h.", options, RunPlan);
  options->page.AddTo(command, false);
  command.Add("--session", options->session, "Only this ClientSession").Type("ID").NotEmpty();
  command.Add("--keep", options->keep, "Which results are kept").OneOf({"all", "asked"}).ShowDefault();
}

void AddConvert(Program& program) {
  auto options = std::make_shared<ConvertOptions>();
  Command command = program.Add("convert", "Write a page of any format as canonical Weft JSON",
                                "  weft convert Xor.svg xor.page.json\n  weft convert page.json - | less", options, RunConvert);
  command.Add("in", options->in, "Page to read, or - for standard input").Required().Type("IN").NotEmpty();
  command.Add("out", options->out, "File to write, or - for standard output").Required().Type("OUT");
  command.Add("--allow", options->allow, "Also read values of the page from files in this folder").Type("FOLDER").Repeated();
  AddLibraryOption(command, options->libraries);
  AddMemoryOption(command, options->memory);
  command.AddFlag("--json", options->json, "Print findings as JSON");
}

}  // namespace weft::cli
