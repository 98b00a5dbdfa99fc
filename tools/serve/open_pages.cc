#include "tools/serve/open_pages.h"

#include "tools/serve/runner.h"

namespace weft::serve {

std::shared_ptr<Document> OpenPages::Find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = documents_.find(id);
  if (found == documents_.end()) throw ApiError(404, "not_found", "no page '" + id.substr(0, 100) + "' is open");
  return found->second;
}

std::vector<std::shared_ptr<Document>> OpenPages::All() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Document>> all;
  for (const auto& [id, document] : documents_) all.push_back(document);
  return all;
}

std::shared_ptr<Document> OpenPages::FindPath(const std::string& path) {
  for (const auto& document : All()) {
    if (document->path() == path) return document;
  }
  return nullptr;
}

void OpenPages::NeedRoom() const {
  if (ended_) throw ApiError(503, "resource_exhausted", "the server ends");
  if (documents_.size() < context_.limits.pages) return;
  throw ApiError(429, "resource_exhausted", "there are " + std::to_string(documents_.size()) + " open pages already", "close one");
}

std::pair<std::shared_ptr<Document>, bool> OpenPages::Open(PageSource source) {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    NeedRoom();
    id = "p" + std::to_string(next_++);
  }
  const std::optional<std::string> path = source.path;
  auto document = std::make_shared<Document>(id, rules_, std::move(source), context_);
  {
    // Others may have opened it while it was read.
    const std::lock_guard adding(adding_);
    if (auto there = path ? FindPath(*path) : nullptr) return {std::move(there), false};
    const std::lock_guard lock(mutex_);
    NeedRoom();
    documents_[id] = document;
  }
  TellClients();
  return {std::move(document), true};
}

void OpenPages::Close(const std::shared_ptr<Document>& document, bool discard, const std::string& by) {
  if (!discard && document->dirty()) throw ApiError(409, "failed_precondition", "the page has edits that are not saved", "save it, or discard them: ?discard=1");
  if (!discard && document->runner().busy()) throw ApiError(409, "failed_precondition", "the page runs", "stop it, or close it all the same: ?discard=1");
  {
    const std::lock_guard lock(mutex_);
    if (documents_.erase(document->id()) == 0) throw ApiError(404, "not_found", "the page is closed already");
  }
  document->runner().Close();
  document->DropJournal();
  document->log().Publish({{"type", "page.closed"}, {"by", TextOrNull(by)}});
  TellClients();
}

Json OpenPages::Describe() {
  Json pages = Json::array();
  for (const auto& document : All()) pages.push_back(document->Describe());
  return pages;
}

void OpenPages::TellClients() {
  if (!clients_.All().empty()) clients_.Tell({{"type", "pages"}, {"pages", Describe()}});
}

void OpenPages::End() {
  std::map<std::string, std::shared_ptr<Document>> documents;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    documents.swap(documents_);
  }
  for (const auto& [id, document] : documents) document->runner().Close();
}

}  // namespace weft::serve
