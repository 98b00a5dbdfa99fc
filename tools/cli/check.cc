// weft check, plan, convert: what is known of a page without running it.
#include <filesystem>
#include <iostream>

#include "tools/cli/common.h"
#include "tools/cli/libraries.h"
#include "weft/host/session_choice.h"
#include "weft/page/writer.h"

namespace weft::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> pages, set, allow, write, libraries;
  BlockLists blocks;
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
    LoadedPage loaded = Load(one);
    if (loaded.document != nullptr) loaded.diagnostics = loaded.document->diagnostics();
    faulty += loaded.diagnostics.has_errors();
    if (!options.json && !loaded.diagnostics.has_errors()) {
      std::cout << page << ": " << loaded.page->blocks.size() << " blocks, no errors";
      if (loaded.diagnostics.warnings() > 0) std::cout << ", " << loaded.diagnostics.warnings() << " warnings";
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
  for (SessionSpec& spec : *sessions) {
    std::string id = spec.id;
    Session session(loaded.scope, std::move(spec), options.keep == "asked" ? Keep::kAsked : Keep::kAll);
    session.Prepare(loaded.diagnostics);
    if (session.plan() == nullptr) continue;
    std::cout << "session " << id << "\n" << PrintPlan(graph, *session.plan());
  }
  Report(loaded.diagnostics, options.page.json);
  return loaded.diagnostics.has_errors() ? kFailed : kOk;
}

struct ConvertOptions {
  std::string in, out;
  std::vector<std::string> allow;
  bool json = false;
};

int RunConvert(const ConvertOptions& options) {
  FolderRules rules = FolderRules::OfPage(std::filesystem::path(options.in).parent_path());
  rules.read.insert(rules.read.end(), options.allow.begin(), options.allow.end());
  ReadPageResult read = ReadPageFile(options.in, rules);
  Report(read.diagnostics, options.json);
  if (read.diagnostics.has_errors()) return kFailed;
  std::string text = WritePage(read.page);
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
  Command command = program.Add("check", "Report every fault of pages, without running them",
                                "  weft check graphs/xor.page.json\n  weft check --json *.page.json", options, RunCheck);
  command.Add("pages", options->pages, "Pages to check").Required().Type("PAGE").NotEmpty();
  command.Add("--set", options->set, "Override a literal or an attribute: ID.pin=VALUE").Type("ID.pin=VALUE").Repeated();
  AddFolderOptions(command, options->allow, options->write);
  AddLibraryOption(command, options->libraries);
  AddBlockListOptions(command, options->blocks);
  command.AddFlag("--json", options->json, "Print the findings as JSON");
}

void AddPlan(Program& program) {
  auto options = std::make_shared<PlanOptions>();
  Command command = program.Add("plan", "Print what the sessions of a page would do: steps, places, memory",
                                "  weft plan graphs/xor.page.json\n  weft plan page.json --session run --keep asked", options, RunPlan);
  options->page.AddTo(command, false);
  command.Add("--session", options->session, "Only this ClientSession").Type("ID");
  command.Add("--keep", options->keep, "Which results are kept").OneOf({"all", "asked"}).ShowDefault();
}

void AddConvert(Program& program) {
  auto options = std::make_shared<ConvertOptions>();
  Command command = program.Add("convert", "Write a page of any format as canonical Weft JSON",
                                "  weft convert Xor.svg xor.page.json\n  weft convert page.json - | less", options, RunConvert);
  command.Add("in", options->in, "Page to read").Required().Type("IN").NotEmpty();
  command.Add("out", options->out, "File to write, or - for standard output").Required().Type("OUT");
  command.Add("--allow", options->allow, "Also read values of the page from files in this folder").Type("FOLDER").Repeated();
  command.AddFlag("--json", options->json, "Print findings as JSON");
}

}  // namespace weft::cli
