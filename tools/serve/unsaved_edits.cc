#include "tools/serve/unsaved_edits.h"

namespace weft::serve {

UnsavedEdits::UnsavedEdits(const PageFile& file, const Journals& journals, bool nowhere) : file_(file), journals_(journals), any_(nowhere) {
  if (!nowhere) saved_text_ = file.first_text();
}

void UnsavedEdits::Compare(const std::string& text) {
  any_ = text != saved_text_;
  if (!any_) DropJournal();
}

void UnsavedEdits::Saved(std::string text) {
  saved_text_ = std::move(text);
  any_ = false;
  edits_in_text_ = 0;
  DropJournal();
}

bool UnsavedEdits::Add(const std::string& edits) {
  if (!journal_) StartJournal();
  return journal_ && journal_->Add(edits);
}

std::shared_ptr<Journal> UnsavedEdits::Rewrite(std::string text) {
  if (journal_) journal_->Rewrite(Head(std::move(text), true));
  return journal_;
}

void UnsavedEdits::Recovered(const Recovery& recovery) {
  edits_in_text_ = recovery.edits_in_text;
  if (!saved_text_) StartJournal();
}

void UnsavedEdits::DropJournal() {
  if (journal_) std::exchange(journal_, nullptr)->Drop();
}

void UnsavedEdits::StartJournal() { journal_ = journals_.Start(Head(saved_text_.value_or(file_.first_text()), !saved_text_)); }

JournalHead UnsavedEdits::Head(std::string text, bool unsaved) const {
  return {file_.name(), file_.path(), file_.stamp(), file_.format(), std::move(text), unsaved, edits_in_text_};
}

}  // namespace weft::serve
