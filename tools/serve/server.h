// The server: who may call, which call goes where, and what all calls share.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/serve/client.h"
#include "tools/serve/context.h"
#include "tools/serve/document.h"
#include "tools/serve/folder.h"
#include "tools/serve/http.h"
#include "tools/serve/journal.h"
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

class Server;

/// A call with what is known of it.
struct Called {
  Server& server;
  const Request& request;
  std::vector<std::string> parts;  // what stands for the * of the route
  std::shared_ptr<Client> client;  // of Weft-Client; may be null

  Json Body() const { return ParseObject(request.body); }
  std::string By() const { return client ? client->id() : ""; }
  /// A query parameter; throws 400 where it is missing.
  std::string Need(const char* name) const;
  std::string Get(const char* name, const char* otherwise = "") const;
  bool Flag(const char* name) const;
  int64_t Number(const char* name, int64_t otherwise, int64_t least, int64_t most) const;
  std::optional<uint64_t> IfMatch() const;
  std::shared_ptr<Document> Page() const;
};

/// One call of the protocol.
struct Route {
  const char* method;
  const char* path;  // "/v1/pages/*/undo"
  enum Body { kNone, kJson, kValue, kBytes, kPage } body;
  bool changes;      // refused with --read-only
  Response (*call)(const Called&);
};

/// All routes; each file of calls gives its part.
const std::vector<Route>& Routes();
void AddServerRoutes(std::vector<Route>& routes);
void AddPageRoutes(std::vector<Route>& routes);
void AddValueRoutes(std::vector<Route>& routes);
void AddRunRoutes(std::vector<Route>& routes);

Response JsonResponse(const Json& json, int status = 200);
Response TextResponse(std::string text, std::string type, int status = 200);
Response ErrorResponse(const ApiError& error);
/// 204: done, and nothing to say.
Response EmptyResponse();

class Server : public Service, public std::enable_shared_from_this<Server> {
 public:
  /// Throws ApiError where the engine or the folder cannot be opened.
  explicit Server(ServerOptions options);
  ~Server() override;

  /// Tells the server how it is reached; before Net::Run.
  void Attach(Net& net, const std::string& address);
  const std::string& token() const { return token_; }
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
  const Folder& folder() const { return *folder_; }
  const Journals& journals() const { return journals_; }
  Context& context() { return context_; }
  PageRules rules() const { return {runtime_.get(), folder_.get(), options_.read_only, options_.no_files}; }

  // Pages.
  std::shared_ptr<Document> FindPage(const std::string& id);
  std::shared_ptr<Document> FindPath(const std::string& path);
  std::vector<std::shared_ptr<Document>> Documents();
  std::shared_ptr<Document> Open(PageSource source);
  void ClosePage(const std::shared_ptr<Document>& document, bool discard, const std::string& by);
  /// Tells every client which pages there are.
  void PagesChanged();
  Json PagesJson();

  // Clients.
  std::shared_ptr<Client> FindClient(const std::string& id);
  /// A new client, or the one that comes back. Null where there are too many.
  std::shared_ptr<Client> Welcome(const std::string& resume, bool& resumed);
  std::vector<std::shared_ptr<Client>> Clients();
  uint64_t NextSubscription() { return ++subscriptions_; }

  /// The blocks' JSON, made once: plain and compressed, and its ETag.
  struct Schema {
    Bytes plain, gzip;
    std::string etag;
  };
  const Schema& schema();

 private:
  std::optional<Response> AdmitAny(const RequestHead& head) const;
  bool KnownHost(std::string_view host) const;
  bool RightToken(std::string_view token) const;
  Response Answer(const Request& request);
  Response Static(const Request& request) const;
  Response FromDisk(const std::string& path) const;
  void EverySecond();

  ServerOptions options_;
  std::string token_, instance_, etag_;
  RuntimeHandle runtime_;
  std::unique_ptr<Folder> folder_, editor_;
  const Journals journals_;
  Pool pool_;
  Context context_;
  std::vector<std::string> hosts_;  // as Host headers write them

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Document>> documents_;
  std::map<std::string, std::shared_ptr<Client>> clients_;
  uint64_t next_page_ = 1, next_client_ = 1;
  std::atomic<uint64_t> subscriptions_{0};
  std::once_flag schema_once_;
  Schema schema_;
  bool closed_ = false;
};

/// 128 random bits as hexadecimal digits.
std::string RandomToken();

}  // namespace weft::serve
