// The server: what all calls share, and how they get their answers.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tools/serve/admission.h"
#include "tools/serve/block_schema.h"
#include "tools/serve/clients.h"
#include "tools/serve/context.h"
#include "tools/serve/editor_files.h"
#include "tools/serve/folder.h"
#include "tools/serve/http.h"
#include "tools/serve/journal.h"
#include "tools/serve/open_pages.h"
#include "tools/serve/pool.h"

namespace weft::serve {

struct ServerOptions {
  std::string folder;                   // its real place
  std::string open;                     // a page in it that the editor opens; may be empty
  std::vector<std::string> host_names;  // names by which the server may be called besides
  std::string journal_folder;
  std::string editor_folder;            // the editor's files on the disk, in place of those in the program; may be empty
  bool read_only = false, no_files = false, tls = false;
  int threads = 0;
  int64_t memory = 0, page_memory = 0;
  Limits limits;
};

class Server : public Service, public std::enable_shared_from_this<Server> {
 public:
  /// Throws ApiError where the engine or the folder cannot be opened.
  explicit Server(ServerOptions options);
  ~Server() override;

  /// Tells the server how it is reached; before Net::Run.
  void Attach(Net& net, const std::string& address);
  const std::string& token() const { return admission_.token(); }
  /// Ends runs and clients; journals of pages with unsaved edits stay.
  void Close();

  std::optional<Response> Admit(const RequestHead& head, uint64_t& body_limit) override;
  void Handle(Request request, Reply reply) override;
  std::optional<Response> AdmitSocket(const RequestHead& head) override;
  std::shared_ptr<SocketHandler> OpenSocket(std::shared_ptr<Socket> socket) override;

  const ServerOptions& options() const { return options_; }
  const Limits& limits() const { return options_.limits; }
  const std::string& instance() const { return instance_; }
  weft_runtime* runtime() const { return runtime_.get(); }
  const Folder& folder() const { return folder_; }
  const Journals& journals() const { return journals_; }
  Context& context() { return context_; }
  OpenPages& pages() { return pages_; }
  Clients& clients() { return clients_; }
  const BlockSchema::Content& schema() { return schema_.Get(); }

 private:
  Response Answer(const Request& request);
  void EverySecond();

  const ServerOptions options_;
  const std::string instance_;
  const RuntimeHandle runtime_;
  const Folder folder_;
  const EditorFiles editor_;
  const Journals journals_;
  Admission admission_;
  BlockSchema schema_;
  Pool pool_;
  Context context_;
  Clients clients_;
  OpenPages pages_;
  std::atomic<bool> closed_{false};
};

}  // namespace weft::serve
