#include "tools/serve/document.h"

#include "tools/serve/page_json.h"
#include "tools/serve/runner.h"

namespace weft::serve {
namespace {

std::string TitleOf(const Json& keys) { return keys.contains("page") && keys["page"].is_string() ? keys["page"].get<std::string>() : ""; }

}  // namespace

Document::Document(std::string id, PageRules rules, PageSource source, Context& context)
    : id_(std::move(id)), rules_(rules), context_(context), limits_(context.limits), log_(id_, limits_), page_(LoadReadablePage(rules, source)),
      file_(*rules.folder, source, PageText(page_.get())), unsaved_(file_, context.journals, source.dirty), labels_(page_.get()), check_(page_.get()),
      title_(TitleOf(KeysOf(file_.first_text()))) {
  runner_ = std::make_shared<Runner>(*this, context_);
}

Document::~Document() { runner_->Close(); }

std::string Document::name() const {
  const std::lock_guard lock(mutex_);
  return file_.name();
}

std::optional<std::string> Document::path() const {
  const std::lock_guard lock(mutex_);
  return file_.path();
}

uint64_t Document::revision() const { return RevisionOf(page_.get()); }

bool Document::dirty() {
  const std::lock_guard lock(mutex_);
  return unsaved_.any();
}

void Document::CheckMatch(std::optional<uint64_t> if_match) const {
  const uint64_t now = revision();
  if (!if_match || *if_match == now) return;
  ApiError error(409, "aborted", "the page is at revision " + std::to_string(now) + ", not " + std::to_string(*if_match), "fetch the page again, then edit it");
  error.revision = now;
  throw error;
}

void Document::PutState(Json& object) {
  labels_.Put(object);
  object["dirty"] = unsaved_.any();
}

Json Document::Describe() {
  const std::lock_guard lock(mutex_);
  return Description();
}

Json Document::Description() {
  // Its number first: what is told meanwhile is told after it.
  const uint64_t seq = log_.seq();
  Json page = {{"id", id_}, {"clients", log_.subscribers().size()}, {"seq", seq}, {"run", runner_->runs()->Latest()}};
  check_.Need();
  page["name"] = file_.name();
  page["title"] = title_;
  page["path"] = file_.path() ? Json(*file_.path()) : Json(nullptr);
  page["format"] = file_.format();
  page["revision"] = revision();
  page["on_disk"] = file_.on_disk();
  PutState(page);
  StringsHandle ids;
  size_t count = 0;
  if (weft_page_blocks(page_.get(), ids.out(), nullptr) == WEFT_OK) weft_strings_count(ids.get(), &count);
  page["blocks"] = count;
  page["errors"] = check_.errors();
  page["warnings"] = check_.warnings();
  page["sessions"] = TextsFrom([&](weft_strings** list, weft_diagnostics** problems) { return weft_page_sessions(page_.get(), list, problems); });
  return page;
}

std::string Document::Text(uint64_t* revision) {
  const std::lock_guard lock(mutex_);
  if (revision != nullptr) *revision = this->revision();
  return file_.BytesFor(PageText(page_.get()));
}

Json Document::Diagnostics() {
  const std::lock_guard lock(mutex_);
  check_.Need();
  return {{"revision", revision()}, {"diagnostics", check_.diagnostics()}};
}

std::string Document::View() {
  const std::lock_guard lock(mutex_);
  const Json page = Description();
  const Json breakpoints = runner_->breakpoints()->All();
  // Events up to `seq` are in the view. Of later ones none of an edit is; those of runs and breakpoints may be.
  return "{\"seq\":" + Dump(page["seq"]) + ",\"revision\":" + std::to_string(revision()) + ",\"page\":" + Dump(page) +
         ",\"breakpoints\":" + Dump(breakpoints) + "," + ViewOf(page_.get()) + ",\"types\":" + check_.types() +
         ",\"diagnostics\":" + Dump(check_.diagnostics()) + "}";
}

Json Document::Edit(const EditRequest& request) {
  const std::lock_guard lock(mutex_);
  return Make(request);
}

Json Document::Make(const EditRequest& request) {
  CheckMatch(request.if_match);
  if (request.mode != WEFT_EDIT_TRY) check_.Need();
  const uint64_t before = revision();
  if (request.edits == "[]") return Unchanged(request);
  StringsHandle texts;
  Call([&](weft_diagnostics** problems) { return weft_page_edit(page_.get(), request.edits.c_str(), request.mode, texts.out(), problems); }, Refusal::kEngine);
  if (request.mode == WEFT_EDIT_TRY) return {{"revision", before}, {"before", before}, {"cause", "try"}};
  if (revision() != before) {
    labels_.Add(request.label);
    Note(request.edits);
  }
  Json change = Changed(TextOf(texts, 1), request);
  change["before"] = before;
  return change;
}

/// A Change in which nothing changes: no step of undo, no event.
Json Document::Unchanged(const EditRequest& request) {
  Json change = NoChange(page_.get());
  change["cause"] = request.cause;
  change["label"] = change["by"] = nullptr;
  PutState(change);
  change["checked"] = check_.Unchanged();
  return change;
}

Json Document::Undo(bool redo, const std::string& by, std::optional<uint64_t> if_match) {
  const std::lock_guard lock(mutex_);
  CheckMatch(if_match);
  check_.Need();
  StringsHandle texts;
  Call([&](weft_diagnostics** problems) {
    return redo ? weft_page_redo(page_.get(), texts.out(), problems) : weft_page_undo(page_.get(), texts.out(), problems);
  });
  EditRequest request;
  request.label = labels_.Move(redo);
  request.by = by;
  request.cause = redo ? "redo" : "undo";
  Note(TextOf(texts, 0));
  return Changed(TextOf(texts, 1), request);
}

Json Document::Changed(const std::string& difference, const EditRequest& request) {
  const std::string text = PageText(page_.get());
  unsaved_.Compare(text);
  Json change = ChangeOf(page_.get(), difference, text);
  change["cause"] = request.cause;
  change["label"] = TextOrNull(request.label);
  change["by"] = TextOrNull(request.by);
  if (change["page_keys"].contains("page")) title_ = TitleOf(change["page_keys"]);
  PutState(change);
  if (Dump(change).size() > limits_.change_bytes) {
    for (const char* name : {"blocks", "wires", "layout"}) change.erase(name);
    change["view"] = true;
  }
  log_.Publish({{"type", "page.changed"}, {"change", change}});
  runner_->Edited(change["renamed"]);
  Json checked = check_.Renew();
  log_.Publish({{"type", "page.checked"}, {"checked", checked}});
  change["checked"] = std::move(checked);
  return change;
}

/// Writes the edits to the journal.
void Document::Note(const std::string& edits) {
  if (!unsaved_.Add(edits)) return;
  // The disk takes time that nobody should wait for.
  const bool later = context_.work([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    std::unique_lock lock(self->mutex_);
    const auto journal = self->unsaved_.Rewrite(PageText(self->page_.get()));
    lock.unlock();
    if (journal) journal->Replace();
  });
  if (!later) unsaved_.Rewrite(PageText(page_.get()))->Replace();
}

namespace {

/// A text of the page as the engine writes it: what cannot be read changes nothing.
std::string AsWritten(const PageRules& rules, const std::string& name, const std::optional<std::string>& path, const std::string& text) {
  PageSource source;
  source.name = name;
  source.path = path;
  source.bytes = text;
  return PageText(LoadReadablePage(rules, source).get());
}

/// The edits from one text to another, as they were asked for.
EditRequest Between(const std::string& before, const std::string& wanted, const EditRequest& request) {
  EditRequest edit = request;
  edit.edits = Dump(EditsBetween(before, wanted));
  if (edit.label.empty()) edit.label = "Replace the page";
  return edit;
}

}  // namespace

Json Document::Replace(const std::string& text, const EditRequest& request) {
  const std::string wanted = AsWritten(rules_, name(), path(), text);
  const std::lock_guard lock(mutex_);
  return Make(Between(PageText(page_.get()), wanted, request));
}

Json Document::Reload(const EditRequest& request) {
  const std::optional<std::string> file = path();
  if (!file) throw ApiError(409, "failed_precondition", "the page was never saved: there is no file to read again");
  const std::string stamp = rules_.folder->Stamp(*file);
  const std::string bytes = rules_.folder->Read(*file, limits_.page_bytes);
  const std::string wanted = AsWritten(rules_, name(), file, bytes);
  Json change;
  {
    const std::lock_guard lock(mutex_);
    change = Make(Between(PageText(page_.get()), wanted, request));
    const std::string text = PageText(page_.get());
    file_.TakeOver(bytes, stamp, text);
    unsaved_.Saved(text);
  }
  change["dirty"] = false;
  PublishSaved(request.by);
  return change;
}

void Document::Save(const std::optional<std::string>& path, bool overwrite, bool force, const std::string& by) {
  {
    const std::lock_guard lock(mutex_);
    const std::string text = PageText(page_.get());
    file_.Save(text, path, overwrite, force);
    unsaved_.Saved(text);
  }
  PublishSaved(by);
}

void Document::PublishSaved(const std::string& by) { log_.Publish({{"type", "page.saved"}, {"by", TextOrNull(by)}, {"document", Describe()}}); }

void Document::LookAtDisk() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !file_.Look()) return;
  const std::string state = file_.on_disk();
  lock.unlock();
  log_.Publish({{"type", "page.disk"}, {"on_disk", state}});
}

size_t Document::Recover(const Recovery& recovery) {
  {
    // What is in no file is in a journal again before the one that it came from goes.
    const std::lock_guard lock(mutex_);
    unsaved_.Recovered(recovery);
  }
  size_t made = 0;
  try {
    for (; made < recovery.edits.size(); ++made) {
      EditRequest request;
      request.edits = recovery.edits[made];
      request.label = "Recovered edit";
      Edit(request);
    }
  } catch (const ApiError&) {
    // Those that follow build on this one.
  }
  return recovery.edits.size() - made;
}

void Document::DropJournal() {
  const std::lock_guard lock(mutex_);
  unsaved_.DropJournal();
}

}  // namespace weft::serve
