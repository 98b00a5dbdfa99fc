// The document's side of its file: saving, other texts, recovery.
#include <algorithm>
#include <map>
#include <set>

#include "tools/serve/document.h"
#include "tools/serve/runner.h"

namespace weft::serve {
namespace {

void AddWires(const std::string& id, const std::string& port, const Json& value, Json& wires) {
  if (value.is_string()) {
    wires.push_back(Json::array({value, id + "." + port}));
  } else if (value.is_array()) {
    for (size_t k = 0; k < value.size(); ++k) {
      if (value[k].is_string()) wires.push_back(Json::array({value[k], id + "." + port + "[" + std::to_string(k) + "]"}));
    }
  }
}

std::map<std::string, size_t> PlacesOf(const Json& blocks) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < blocks.size(); ++i) places[blocks[i].value("id", "")] = i;
  return places;
}

}  // namespace

Json WiresInto(const Json& block) {
  Json wires = Json::array();
  const auto inputs = block.find("inputs");
  if (inputs == block.end() || !inputs->is_object()) return wires;
  for (const auto& [port, value] : inputs->items()) AddWires(block.value("id", ""), port, value, wires);
  return wires;
}

Json EditsBetween(const std::string& from, const std::string& to) {
  const Json before = Json::parse(from, nullptr, false), after = Json::parse(to, nullptr, false);
  Json edits = Json::array();
  const Json none = Json::array();
  const Json& old_blocks = before.contains("blocks") ? before["blocks"] : none;
  const Json& new_blocks = after.contains("blocks") ? after["blocks"] : none;
  const auto new_places = PlacesOf(new_blocks);
  // What stays where it is among those that both have is left alone; the rest is taken out and put back.
  std::set<std::string> stays;
  size_t next = 0;
  for (const Json& block : old_blocks) {
    const std::string id = block.value("id", "");
    const auto place = new_places.find(id);
    if (place != new_places.end() && place->second >= next && new_blocks[place->second] == block) {
      stays.insert(id);
      next = place->second + 1;
    } else {
      edits.push_back({{"op", "remove"}, {"block", id}, {"keep_wires", true}, {"keep_layout", true}});
    }
  }
  for (size_t place = 0; place < new_blocks.size(); ++place) {
    const std::string id = new_blocks[place].value("id", "");
    if (!stays.contains(id)) edits.push_back({{"op", "add"}, {"block", new_blocks[place]}, {"place", place}});
  }
  for (const auto& [key, value] : after.items()) {
    if (key != "blocks" && key != "weft" && (!before.contains(key) || before[key] != value)) edits.push_back({{"op", "set"}, {"key", key}, {"value", value}});
  }
  for (const auto& [key, value] : before.items()) {
    if (key != "blocks" && key != "weft" && !after.contains(key)) edits.push_back({{"op", "set"}, {"key", key}, {"value", nullptr}});
  }
  return edits;
}

void NeedReadable(weft_page* page) {
  DiagnosticsHandle found;
  StringsHandle ids;
  size_t blocks = 0;
  Call([&](weft_diagnostics** problems) { return weft_page_diagnostics(page, found.out(), problems); });
  Call([&](weft_diagnostics** problems) { return weft_page_blocks(page, ids.out(), problems); });
  weft_strings_count(ids.get(), &blocks);
  for (Json& finding : DiagnosticsJson(found.get())) {
    // Of a text that is none, the fault has no place, or nothing was found.
    const bool whole = blocks == 0 || finding.value("pointer", "").empty();
    if (finding["severity"] == "error" && finding.value("phase", "") == "load" && whole) throw ApiError(422, finding);
  }
}

Json Document::Replace(const std::string& text, const EditRequest& request) {
  PageSource source;
  source.name = name();
  source.path = path();
  source.bytes = text;
  // The engine reads the text first: what cannot be read changes nothing.
  const PageHandle other = LoadPage(rules_, source);
  NeedReadable(other.get());
  const std::string wanted = TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_write(other.get(), json, problems); });
  EditRequest edit = request;
  {
    const std::lock_guard lock(mutex_);
    CheckMatch(request.if_match);
    edit.if_match = RevisionNow();
    edit.edits = Dump(EditsBetween(TextNow(), wanted));
  }
  if (edit.label.empty()) edit.label = "Replace the page";
  return Edit(edit);
}

Json Document::Reload(const EditRequest& request) {
  const std::optional<std::string> file = path();
  if (!file) throw ApiError(409, "failed_precondition", "the page was never saved: there is no file to read again");
  const std::string stamp = rules_.folder->Stamp(*file);
  const std::string bytes = rules_.folder->Read(*file, limits_.page_bytes);
  Json change = Replace(bytes, request);
  {
    const std::lock_guard lock(mutex_);
    stamp_ = stamp;
    disk_ = "same";
    original_ = bytes;
    original_is_file_ = true;
    original_text_ = TextNow();
    saved_text_ = original_text_;
    dirty_ = false;
    edits_in_text_ = 0;
    ForgetUnsaved();
  }
  change["dirty"] = false;
  log_.Publish({{"type", "page.saved"}, {"by", request.by.empty() ? Json(nullptr) : Json(request.by)}, {"document", Describe()}});
  return change;
}

std::string Document::DiskState() const {
  if (!path_) return "none";
  const std::string now = rules_.folder->Stamp(*path_);
  return now.empty() ? "missing" : now == stamp_ ? "same" : "changed";
}

void Document::LookAtDisk() {
  std::string state;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    state = DiskState();
    if (state == disk_) return;
    disk_ = state;
  }
  log_.Publish({{"type", "page.disk"}, {"on_disk", state}});
}

void Document::Save(std::optional<std::string> path, bool overwrite, bool force, const std::string& by) {
  {
    const std::lock_guard lock(mutex_);
    if (path) path = Folder::Checked(*path);
    const bool same = !path || path == path_;
    if (!path && !path_) throw ApiError(409, "failed_precondition", "the page has no file yet", "give a path");
    const std::string text = TextNow();
    const bool untouched = Untouched(text);
    if (same && format_ != "weft" && !untouched) {
      throw ApiError(409, "failed_precondition", "'" + *path_ + "' is a page of enuSpace, which is not written", "save it under a name that ends in .page.json");
    }
    if (same && !force && DiskState() == "changed") {
      throw ApiError(409, "aborted", "'" + *path_ + "' has changed on disk since it was read", "load it again, or save with force");
    }
    const std::string target = path.value_or(path_.value_or(""));
    // A page of enuSpace that is saved elsewhere becomes a Weft page, unless its bytes stay what the name says.
    const bool keeps_bytes = untouched && (format_ == "weft" || same);
    rules_.folder->Write(target, keeps_bytes ? original_ : text, same || overwrite);
    if (!keeps_bytes) {
      original_ = original_text_ = text;
      original_is_file_ = true;
      format_ = "weft";
    }
    path_ = target;
    if (!same) name_ = target;
    saved_text_ = text;
    edits_in_text_ = 0;
    stamp_ = rules_.folder->Stamp(target);
    disk_ = "same";
    dirty_ = false;
    ForgetUnsaved();
  }
  log_.Publish({{"type", "page.saved"}, {"by", by.empty() ? Json(nullptr) : Json(by)}, {"document", Describe()}});
}

JournalHead Document::Head(std::string text, bool unsaved) const { return {name_, path_, stamp_, format_, std::move(text), unsaved, edits_in_text_}; }

void Document::StartJournal() { journal_ = context_.journals.Start(Head(saved_text_.value_or(original_text_), !saved_text_)); }

void Document::ForgetUnsaved() {
  if (journal_) std::exchange(journal_, nullptr)->Drop();
}

/// The journal's new file begins with the page as it is now; the old one is to be replaced by it.
std::shared_ptr<Journal> Document::RewriteJournal() {
  if (journal_) journal_->Rewrite(Head(TextNow(), true));
  return journal_;
}

/// Writes the edits to the journal, which begins with the first since the page was saved.
void Document::Note(const std::string& edits) {
  if (!journal_) StartJournal();
  if (!journal_ || !journal_->Add(edits)) return;
  // The disk takes time that nobody should wait for.
  const bool later = context_.work([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    std::unique_lock lock(self->mutex_);
    const auto journal = self->RewriteJournal();
    lock.unlock();
    if (journal) journal->Replace();
  });
  if (!later) RewriteJournal()->Replace();
}

void Document::Recover(const Recovery& recovery) {
  {
    // What is in no file is in a journal again before the one that it came from goes.
    const std::lock_guard lock(mutex_);
    edits_in_text_ = recovery.edits_in_text;
    if (!saved_text_) StartJournal();
  }
  for (const std::string& text : recovery.edits) {
    EditRequest request;
    request.edits = text;
    request.label = "Recovered edit";
    try {
      Edit(request);
    } catch (const ApiError&) {
      return;
    }
  }
}

void Document::DropJournal() {
  const std::lock_guard lock(mutex_);
  ForgetUnsaved();
}

}  // namespace weft::serve
