#include "tools/serve/document.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "tools/serve/runner.h"

namespace weft::serve {
namespace {

std::string FormatOf(const std::string& bytes) {
  const std::string head = bytes.substr(0, 4096);
  if (head.find("<svg") != std::string::npos || head.find("<?xml") != std::string::npos) return "enuspace_svg";
  return head.find("\"weft\"") != std::string::npos ? "weft" : "enuspace_json";
}

/// A list of texts of the engine's JSON.
std::vector<std::string> Ids(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? std::vector<std::string>() : found->get<std::vector<std::string>>();
}

/// Everything of a page's text but its blocks and their places.
Json KeysOf(const std::string& text) {
  Json keys = Json::object();
  const ObjectText page(text);
  for (const ObjectText::Member& member : page.members()) {
    if (member.key != "\"blocks\"" && member.key != "\"layout\"") keys[KeyOf(member)] = ValueOf(member);
  }
  return keys;
}

std::string TitleOf(const Json& keys) { return keys.contains("page") && keys["page"].is_string() ? keys["page"].get<std::string>() : ""; }

int CountOf(const Json& diagnostics, const char* severity) {
  return static_cast<int>(std::count_if(diagnostics.begin(), diagnostics.end(), [&](const Json& item) { return item["severity"] == severity; }));
}

}  // namespace

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

Document::Document(std::string id, PageRules rules, PageSource source, Context& context)
    : id_(std::move(id)), rules_(rules), context_(context), limits_(context.limits), log_(id_, limits_) {
  page_ = LoadPage(rules_, source);
  NeedReadable(page_.get());
  name_ = source.name;
  path_ = source.path;
  format_ = source.format.empty() ? FormatOf(source.bytes) : source.format;
  original_is_file_ = source.format.empty() || source.format == "weft";
  original_ = std::move(source.bytes);
  original_text_ = TextNow();
  if (!source.dirty) saved_text_ = original_text_;
  stamp_ = source.stamp;
  title_ = TitleOf(KeysOf(original_text_));
  disk_ = path_ ? "same" : "none";
  dirty_ = source.dirty;
  runner_ = std::make_shared<Runner>(*this, context_);
}

Document::~Document() { runner_->Close(); }

std::string Document::TextNow() const {
  return TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_page_write(page_.get(), text, problems); });
}

uint64_t Document::RevisionNow() const {
  uint64_t edits = 0;
  weft_page_edits(page_.get(), &edits, nullptr);
  return edits + 1;
}

std::string Document::name() const {
  const std::lock_guard lock(mutex_);
  return name_;
}

std::optional<std::string> Document::path() const {
  const std::lock_guard lock(mutex_);
  return path_;
}

uint64_t Document::revision() const { return RevisionNow(); }

bool Document::dirty() {
  const std::lock_guard lock(mutex_);
  return dirty_;
}

void Document::CheckMatch(std::optional<uint64_t> if_match) const {
  if (!if_match || *if_match == RevisionNow()) return;
  ApiError error(409, "aborted", "the page is at revision " + std::to_string(RevisionNow()) + ", not " + std::to_string(*if_match),
                 "fetch the page again, then edit it");
  error.revision = RevisionNow();
  throw error;
}

void Document::PutHistory(Json& object) {
  size_t undo = 0, redo = 0;
  weft_page_history(page_.get(), &undo, &redo, nullptr);
  object["undo"] = undo;
  object["redo"] = redo;
  // The engine keeps so many; labels of older edits go with them.
  if (undo_labels_.size() > undo) undo_labels_.erase(undo_labels_.begin(), undo_labels_.end() - static_cast<long>(undo));
  if (redo_labels_.size() > redo) redo_labels_.erase(redo_labels_.begin(), redo_labels_.end() - static_cast<long>(redo));
  const auto label = [](size_t count, const std::vector<std::string>& labels) {
    return count == 0 || labels.empty() || labels.back().empty() ? Json(nullptr) : Json(labels.back());
  };
  object["undo_label"] = label(undo, undo_labels_);
  object["redo_label"] = label(redo, redo_labels_);
  object["dirty"] = dirty_;
}

Json Document::Describe() {
  Json page = {{"id", id_}, {"clients", log_.subscribers().size()}, {"seq", log_.seq()}, {"run", runner_->runs()->Latest()}};
  const std::lock_guard lock(mutex_);
  if (!types_) Check();
  page["name"] = name_;
  page["title"] = title_;
  page["path"] = path_ ? Json(*path_) : Json(nullptr);
  page["format"] = format_;
  page["revision"] = RevisionNow();
  page["on_disk"] = disk_;
  PutHistory(page);
  StringsHandle ids;
  size_t count = 0;
  if (weft_page_blocks(page_.get(), ids.out(), nullptr) == WEFT_OK) weft_strings_count(ids.get(), &count);
  page["blocks"] = count;
  page["errors"] = errors_;
  page["warnings"] = warnings_;
  page["sessions"] = TextsFrom([&](weft_strings** list, weft_diagnostics** problems) { return weft_page_sessions(page_.get(), list, problems); });
  return page;
}

std::string Document::Text(uint64_t* revision) {
  const std::lock_guard lock(mutex_);
  if (revision != nullptr) *revision = RevisionNow();
  std::string text = TextNow();
  return Untouched(text) ? original_ : text;
}

/// Types and findings as they are now, of types only those that are others than at the last call; at the first, none.
Json Document::Check() {
  auto types = std::make_unique<const ObjectText>(
      TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_types_json(page_.get(), json, problems); }));
  DiagnosticsHandle found;
  Call([&](weft_diagnostics** problems) { return weft_page_diagnostics(page_.get(), found.out(), problems); });
  diagnostics_ = DiagnosticsJson(found.get());
  errors_ = CountOf(diagnostics_, "error");
  warnings_ = CountOf(diagnostics_, "warning");
  Difference difference;
  if (types_) difference = DifferenceOf(*types_, *types);
  types_ = std::move(types);
  return {{"revision", RevisionNow()}, {"types", std::move(difference.set)}, {"types_removed", std::move(difference.gone)}, {"diagnostics", diagnostics_},
          {"errors", errors_}, {"warnings", warnings_}};
}

Json Document::Diagnostics() {
  const std::lock_guard lock(mutex_);
  if (!types_) Check();
  return {{"revision", RevisionNow()}, {"diagnostics", diagnostics_}};
}

std::string Document::View() {
  Json page = Describe();
  Json breakpoints = runner_->breakpoints()->All();
  const std::lock_guard lock(mutex_);
  const auto text = [&](auto function) { return TextFrom(function); };
  weft_page* handle = page_.get();
  // Numbered events after this are not in the view; those before are.
  std::string view = "{\"seq\":" + std::to_string(log_.seq()) + ",\"revision\":" + std::to_string(RevisionNow());
  page["revision"] = RevisionNow();
  view += ",\"page\":" + Dump(page) + ",\"breakpoints\":" + Dump(breakpoints) + ",\"keys\":" + Dump(KeysOf(TextNow())) + ",\"blocks\":[";
  StringsHandle ids;
  Call([&](weft_diagnostics** problems) { return weft_page_blocks(handle, ids.out(), problems); });
  const char* const* names = nullptr;
  size_t count = 0;
  weft_strings_all(ids.get(), &names, &count);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) view += ',';
    view += text([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_block_json(handle, names[i], json, problems); });
  }
  view += "],\"wires\":" + text([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_wires_json(handle, json, problems); });
  StringsHandle layout;
  const bool placed = weft_page_layout_json(handle, WEFT_LAYOUT_PAGE, layout.out(), nullptr) == WEFT_OK;
  const std::string places = placed ? TextOf(layout) : "{}";
  view += ",\"layout\":" + places;
  if (places.find('"') == std::string::npos && count > 0) {
    view += ",\"auto_layout\":" +
            text([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_layout_json(handle, WEFT_LAYOUT_AUTO, json, problems); });
  }
  if (!types_) Check();
  return view + ",\"types\":" + types_->text() + ",\"diagnostics\":" + Dump(diagnostics_) + "}";
}

Json Document::Edit(const EditRequest& request) {
  const std::lock_guard lock(mutex_);
  CheckMatch(request.if_match);
  if (!types_ && request.mode != WEFT_EDIT_TRY) Check();
  const uint64_t before = RevisionNow();
  if (request.edits == "[]") return Unchanged(request);
  StringsHandle texts;
  Call([&](weft_diagnostics** problems) { return weft_page_edit(page_.get(), request.edits.c_str(), request.mode, texts.out(), problems); }, Refusal::kEngine);
  if (request.mode == WEFT_EDIT_TRY) return {{"revision", before}, {"before", before}, {"cause", "try"}};
  if (RevisionNow() != before) {
    undo_labels_.push_back(request.label);
    redo_labels_.clear();
    Note(request.edits);
  }
  Json change = Changed(TextOf(texts, 1), request);
  change["before"] = before;
  return change;
}

/// A Change in which nothing changes: no step of undo, no event.
Json Document::Unchanged(const EditRequest& request) {
  const uint64_t revision = RevisionNow();
  Json change = {{"revision", revision}, {"before", revision}, {"cause", request.cause}, {"label", nullptr}, {"by", nullptr}};
  for (const char* name : {"added", "removed", "changed", "renamed", "moved", "keys", "blocks"}) change[name] = Json::array();
  for (const char* name : {"wires", "layout", "page_keys"}) change[name] = Json::object();
  PutHistory(change);
  change["checked"] = {{"revision", revision}, {"types", Json::object()}, {"types_removed", Json::array()}, {"diagnostics", diagnostics_}, {"errors", errors_}, {"warnings", warnings_}};
  return change;
}

Json Document::Undo(bool redo, const std::string& by, std::optional<uint64_t> if_match) {
  const std::lock_guard lock(mutex_);
  CheckMatch(if_match);
  if (!types_) Check();
  StringsHandle texts;
  Call([&](weft_diagnostics** problems) {
    return redo ? weft_page_redo(page_.get(), texts.out(), problems) : weft_page_undo(page_.get(), texts.out(), problems);
  });
  EditRequest request;
  std::vector<std::string>& from = redo ? redo_labels_ : undo_labels_;
  std::vector<std::string>& to = redo ? undo_labels_ : redo_labels_;
  if (!from.empty()) {
    request.label = from.back();
    from.pop_back();
  }
  to.push_back(request.label);
  request.by = by;
  request.cause = redo ? "redo" : "undo";
  Note(TextOf(texts, 0));
  return Changed(TextOf(texts, 1), request);
}

Json Document::Changed(const std::string& difference, const EditRequest& request) {
  const Json diff = Json::parse(difference, nullptr, false);
  const uint64_t revision = RevisionNow();
  Json change = {{"revision", revision}, {"before", revision - 1}, {"cause", request.cause}, {"label", request.label.empty() ? Json(nullptr) : Json(request.label)},
                 {"by", request.by.empty() ? Json(nullptr) : Json(request.by)}};
  for (const char* name : {"added", "removed", "changed", "renamed", "moved", "keys"}) change[name] = diff.contains(name) ? diff[name] : Json::array();
  std::vector<std::string> ids = Ids(diff, "added");
  for (const std::string& id : Ids(diff, "changed")) ids.push_back(id);
  for (const Json& pair : change["renamed"]) ids.push_back(pair[1].get<std::string>());
  const std::string text = TextNow();
  dirty_ = text != saved_text_;
  if (!dirty_) ForgetUnsaved();
  PutBlocks(ids, change);
  PutLayout(diff, change);
  PutKeys(diff, text, change);
  PutHistory(change);
  if (Dump(change).size() > limits_.change_bytes) {
    for (const char* name : {"blocks", "wires", "layout"}) change.erase(name);
    change["view"] = true;
  }
  log_.Publish({{"type", "page.changed"}, {"change", change}});
  runner_->Edited(change["renamed"]);
  Json checked = Check();
  log_.Publish({{"type", "page.checked"}, {"checked", checked}});
  change["checked"] = std::move(checked);
  return change;
}

void Document::PutBlocks(const std::vector<std::string>& ids, Json& change) {
  Json blocks = Json::array(), wires = Json::object();
  if (!ids.empty()) {
    const std::unordered_set<std::string_view> wanted(ids.begin(), ids.end());
    StringsHandle all;
    Call([&](weft_diagnostics** problems) { return weft_page_blocks(page_.get(), all.out(), problems); });
    const char* const* names = nullptr;
    size_t count = 0;
    weft_strings_all(all.get(), &names, &count);
    for (size_t place = 0; place < count; ++place) {
      if (!wanted.contains(names[place])) continue;
      const std::string text =
          TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_block_json(page_.get(), names[place], json, problems); });
      Json block = Json::parse(text, nullptr, false);
      wires[names[place]] = WiresInto(block);
      blocks.push_back({{"place", place}, {"block", std::move(block)}});
    }
  }
  change["blocks"] = std::move(blocks);
  change["wires"] = std::move(wires);
}

void Document::PutLayout(const Json& difference, Json& change) {
  const std::vector<std::string> keys = Ids(difference, "keys"), added = Ids(difference, "added");
  std::vector<std::string> moved = Ids(difference, "moved");
  for (std::string& id : Ids(difference, "removed")) moved.push_back(std::move(id));
  const bool all = std::find(keys.begin(), keys.end(), "layout") != keys.end();
  Json entries = Json::object();
  if (all || !moved.empty() || !added.empty()) {
    StringsHandle text;
    const bool placed = weft_page_layout_json(page_.get(), WEFT_LAYOUT_PAGE, text.out(), nullptr) == WEFT_OK;
    const ObjectText layout(placed ? TextOf(text) : "{}");
    std::unordered_set<std::string> wanted(added.begin(), added.end());
    for (const std::string& id : moved) {
      wanted.insert(id);
      if (!all) entries[id] = nullptr;  // placed no more, unless it is in the layout
    }
    for (const ObjectText::Member& member : layout.members()) {
      const std::string id = KeyOf(member);
      if (all || wanted.contains(id)) entries[id] = ValueOf(member);
    }
  }
  change["layout"] = std::move(entries);
  if (all) change["layout_all"] = true;
}

void Document::PutKeys(const Json& difference, const std::string& text, Json& change) {
  Json entries = Json::object();
  if (const std::vector<std::string> keys = Ids(difference, "keys"); !keys.empty()) {
    const Json now = KeysOf(text);
    title_ = TitleOf(now);
    for (const std::string& key : keys) {
      if (key != "layout") entries[key] = now.contains(key) ? now[key] : Json(nullptr);
    }
  }
  change["page_keys"] = std::move(entries);
}

}  // namespace weft::serve
