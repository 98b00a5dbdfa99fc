// The pages that are open.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/serve/clients.h"
#include "tools/serve/context.h"
#include "tools/serve/document.h"

namespace weft::serve {

/// Functions may be called from any thread.
class OpenPages {
 public:
  OpenPages(PageRules rules, Context& context, Clients& clients) : rules_(rules), context_(context), clients_(clients) {}

  const PageRules& rules() const { return rules_; }
  /// Throws 404.
  std::shared_ptr<Document> Find(const std::string& id);
  /// The page of a file; null where it is not open.
  std::shared_ptr<Document> FindPath(const std::string& path);
  std::vector<std::shared_ptr<Document>> All();
  /// The page, and whether it was opened now: one of a path that is open already is given as it is. Throws 422 for what cannot be read, 429
  /// where there are too many.
  std::pair<std::shared_ptr<Document>, bool> Open(PageSource source);
  /// Throws 409 where that would lose edits or end a run, unless it is to.
  void Close(const std::shared_ptr<Document>& document, bool discard, const std::string& by);
  /// Ends all runs, and opens no page any more; journals of pages with unsaved edits stay.
  void End();
  /// The protocol's Page of each.
  Json Describe();
  /// Sends that to every client: pages were opened, closed or saved, or have unsaved edits now.
  void TellClients();

 private:
  /// With the lock. Throws 429, 503.
  void NeedRoom() const;

  const PageRules rules_;
  Context& context_;
  Clients& clients_;
  std::mutex adding_;  // taken before the next one, and before those of documents: a path is added once
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Document>> documents_;
  uint64_t next_ = 1;
  bool ended_ = false;
};

}  // namespace weft::serve
