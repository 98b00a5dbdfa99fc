// The calls of the protocol: which there are, and what each is given.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/client.h"
#include "tools/serve/document.h"
#include "tools/serve/responses.h"

namespace weft::serve {

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
  /// Throws 403 with --no-files.
  void NeedFiles() const;
};

/// One call of the protocol.
struct Route {
  const char* method;
  const char* path;  // "/v1/pages/*/undo"
  enum Body { kNone, kJson, kValue, kBytes, kPage } body;
  bool changes;      // refused with --read-only
  Response (*call)(const Called&);
};

/// Each file of calls gives its routes.
void AddServerRoutes(std::vector<Route>& routes);
void AddPageRoutes(std::vector<Route>& routes);
void AddValueRoutes(std::vector<Route>& routes);
void AddRunRoutes(std::vector<Route>& routes);

/// The route of a method and path; null where there is none.
struct FoundRoute {
  const Route* route = nullptr;
  std::vector<std::string> parts;  // what stands for its *
  std::string allowed;             // the methods of the path, where it has others
};
FoundRoute FindRoute(std::string_view method, std::string_view path);

}  // namespace weft::serve
