#include "tools/serve/edit_labels.h"

namespace weft::serve {
namespace {

/// The engine keeps so many edits; labels of older ones go with them.
void KeepLast(std::vector<std::string>& labels, size_t count) {
  if (labels.size() > count) labels.erase(labels.begin(), labels.end() - static_cast<std::ptrdiff_t>(count));
}

Json LastOf(const std::vector<std::string>& labels) { return labels.empty() ? Json(nullptr) : TextOrNull(labels.back()); }

}  // namespace

void EditLabels::Add(std::string label) {
  undo_.push_back(std::move(label));
  redo_.clear();
}

std::string EditLabels::Move(bool redo) {
  std::vector<std::string>& from = redo ? redo_ : undo_;
  std::string label;
  if (!from.empty()) {
    label = std::move(from.back());
    from.pop_back();
  }
  (redo ? undo_ : redo_).push_back(label);
  return label;
}

void EditLabels::Put(Json& object) {
  size_t undo = 0, redo = 0;
  weft_page_history(page_, &undo, &redo, nullptr);
  KeepLast(undo_, undo);
  KeepLast(redo_, redo);
  object["undo"] = undo;
  object["redo"] = redo;
  object["undo_label"] = LastOf(undo_);
  object["redo_label"] = LastOf(redo_);
}

}  // namespace weft::serve
