#include "tools/serve/server.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>

#include "tools/serve/assets.h"
#include "tools/serve/runner.h"
#include "tools/serve/socket.h"

namespace weft::serve {
namespace {

constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// What the * of the pattern stand for; nothing where the path is another.
std::optional<std::vector<std::string>> Match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> parts;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = pattern.substr(0, pattern.find('/')), given = path.substr(0, path.find('/'));
    if (wanted == "*" && !given.empty()) parts.emplace_back(given);
    else if (wanted != given) return std::nullopt;
    const bool more = wanted.size() < pattern.size();
    if (more != (given.size() < path.size())) return std::nullopt;
    if (!more) break;
    pattern.remove_prefix(wanted.size() + 1);
    path.remove_prefix(given.size() + 1);
  }
  return parts;
}

/// The route of a method and path. `allowed` gets the methods of the path.
const Route* FindRoute(std::string_view method, std::string_view path, std::vector<std::string>& parts, std::string& allowed) {
  for (const Route& route : Routes()) {
    auto matched = Match(route.path, path);
    if (!matched) continue;
    if (method == route.method || (method == "HEAD" && std::string_view(route.method) == "GET")) {
      parts = std::move(*matched);
      return &route;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return nullptr;
}

std::string_view MediaTypeOf(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (!header.empty() && header.back() == ' ') header.remove_suffix(1);
  return header;
}

bool BodyTypeFits(Route::Body body, const std::string& type) {
  if (type == "application/json") return body != Route::kBytes;
  if (type == "application/x-npy") return body == Route::kValue;
  return type == "application/octet-stream" && body == Route::kBytes;
}

RuntimeHandle OpenRuntime(const ServerOptions& options) {
  static constexpr const char* kFileBlocks[] = {"io_ops", "Abort"};
  weft_runtime_options runtime_options = WEFT_RUNTIME_OPTIONS_INIT;
  runtime_options.threads = options.threads;
  runtime_options.memory_limit = options.memory;
  runtime_options.page_memory_limit = options.page_memory;
  runtime_options.call_deadline_ns = options.limits.call_seconds * 1000000000;
  if (options.no_files) {
    runtime_options.refused_blocks = kFileBlocks;
    runtime_options.refused_block_count = std::size(kFileBlocks);
  }
  RuntimeHandle runtime;
  Call([&](weft_diagnostics** problems) { return weft_runtime_open(&runtime_options, runtime.out(), problems); });
  return runtime;
}

}  // namespace

std::string RandomToken() {
  unsigned char bytes[16];
  size_t have = 0;
  while (have < sizeof bytes) {
    const ssize_t count = ::getrandom(bytes + have, sizeof bytes - have, 0);
    if (count < 0 && errno != EINTR) throw ApiError(500, "internal", "the system has no random numbers");
    if (count > 0) have += static_cast<size_t>(count);
  }
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Response JsonResponse(const Json& json, int status) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(Dump(json));
  return response;
}

Response TextResponse(std::string text, std::string type, int status) {
  Response response;
  response.status = status;
  response.type = std::move(type);
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

Response ErrorResponse(const ApiError& error) {
  Json body = {{"error", error.diagnostic()}};
  if (error.revision) body["revision"] = *error.revision;
  Response response = JsonResponse(body, error.http());
  if (error.http() == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.http() == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response EmptyResponse() {
  Response response;
  response.status = 204;
  return response;
}

const std::vector<Route>& Routes() {
  static const std::vector<Route> routes = [] {
    std::vector<Route> all;
    AddServerRoutes(all);
    AddPageRoutes(all);
    AddValueRoutes(all);
    AddRunRoutes(all);
    return all;
  }();
  return routes;
}

Server::Server(ServerOptions options)
    : options_(std::move(options)), token_(RandomToken()), instance_(RandomToken().substr(0, 16)), runtime_(OpenRuntime(options_)),
      folder_(std::make_unique<Folder>(runtime_.get(), options_.folder, options_.read_only)), journals_(options_.journal_folder),
      pool_(options_.limits.threads, options_.limits.calls_waiting),
      context_{options_.limits, journals_, [this](std::function<void()> task) { return pool_.Add(std::move(task)); }, nullptr} {
  if (!options_.editor_folder.empty()) editor_ = std::make_unique<Folder>(runtime_.get(), options_.editor_folder, true);
}

Server::~Server() { Close(); }

void Server::Attach(Net& net, const std::string& address) {
  context_.net = &net;
  const std::string port = ":" + std::to_string(net.port());
  std::vector<std::string> names = options_.host_names;
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) names.push_back(name);
  if (address != "0.0.0.0" && address != "::") names.push_back(address.find(':') == std::string::npos ? address : "[" + address + "]");
  const std::string implied = options_.tls ? ":443" : ":80";
  for (const std::string& name : names) {
    hosts_.push_back(LowerCase(name) + port);
    if (port == implied) hosts_.push_back(LowerCase(name));
  }
  // What the first client asks for at once.
  pool_.Add([self = shared_from_this()] { self->schema(); });
  net.Every(std::chrono::seconds(1), [self = weak_from_this()] {
    const auto server = self.lock();
    if (server) server->pool_.Add([server] { server->EverySecond(); });
  });
}

void Server::Close() {
  std::map<std::string, std::shared_ptr<Document>> documents;
  std::map<std::string, std::shared_ptr<Client>> clients;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    documents.swap(documents_);
    clients.swap(clients_);
  }
  for (const auto& [id, client] : clients) {
    client->Send({{"type", "bye"}, {"reason", "the server ends"}});
    client->Close(1001, "the server ends");
  }
  for (const auto& [id, document] : documents) document->runner().Close();
  pool_.Stop();
}

// ---- who may call ----------------------------------------------------------------------------------------------------------

bool Server::KnownHost(std::string_view host) const { return std::find(hosts_.begin(), hosts_.end(), LowerCase(host)) != hosts_.end(); }

/// Takes as long for a wrong token as for the right one.
bool Server::RightToken(std::string_view token) const {
  unsigned different = token.size() == token_.size() ? 0 : 1;
  for (size_t i = 0; i < token_.size(); ++i) different |= static_cast<unsigned char>(i < token.size() ? token[i] : '\0') ^ static_cast<unsigned char>(token_[i]);
  return different == 0;
}

std::optional<Response> Server::AdmitAny(const RequestHead& head) const {
  if (!KnownHost(head.Header("host"))) {
    return ErrorResponse(ApiError(421, "permission_denied", "this server is not called '" + std::string(head.Header("host").substr(0, 100)) + "'",
                                  "use the printed address, or start it with --host-name"));
  }
  if (head.headers.contains("origin")) {
    const std::string scheme = options_.tls ? "https://" : "http://";
    const std::string_view origin = head.Header("origin");
    if (origin.substr(0, scheme.size()) != scheme || !KnownHost(origin.substr(scheme.size()))) {
      return ErrorResponse(ApiError(403, "permission_denied", "calls from pages of other origins are refused"));
    }
  }
  return std::nullopt;
}

std::optional<Response> Server::Admit(const RequestHead& head, uint64_t& body_limit) {
  body_limit = 0;
  if (auto refusal = AdmitAny(head)) return refusal;
  if (head.path.rfind("/v1/", 0) != 0 && head.path != "/v1") {
    if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
    return ErrorResponse(ApiError(405, "invalid_argument", "only GET is known here"));
  }
  const std::string_view given = head.Header("authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (given.substr(0, kBearer.size()) != kBearer || !RightToken(given.substr(kBearer.size()))) {
    return ErrorResponse(ApiError(401, "permission_denied", given.empty() ? "the token is missing" : "the token is wrong",
                                  "the address that the server printed at its start has it; a server that was started anew has another one"));
  }
  std::vector<std::string> parts;
  std::string allowed;
  const Route* route = FindRoute(head.method, head.path, parts, allowed);
  if (route == nullptr) {
    if (allowed.empty()) return ErrorResponse(ApiError(404, "not_found", "there is no '" + head.path.substr(0, 200) + "'"));
    Response refusal = ErrorResponse(ApiError(405, "invalid_argument", head.method.substr(0, 20) + " is not known here", allowed));
    refusal.headers.emplace_back("Allow", allowed);
    return refusal;
  }
  if (route->changes && options_.read_only) {
    return ErrorResponse(ApiError(403, "permission_denied", "the server was started with --read-only"));
  }
  if (route->body != Route::kNone) {
    const std::string type = LowerCase(MediaTypeOf(head.Header("content-type")));
    if (!BodyTypeFits(route->body, type)) {
      return ErrorResponse(ApiError(415, "invalid_argument", "the body is of type '" + type.substr(0, 100) + "'",
                                    route->body == Route::kBytes ? "Content-Type: application/octet-stream" : "Content-Type: application/json"));
    }
  }
  body_limit = route->body == Route::kPage || route->body == Route::kBytes || route->body == Route::kValue ? limits().page_bytes : limits().body_bytes;
  if (route->body == Route::kNone) body_limit = 4096;  // none is needed; one that comes is read and left
  return std::nullopt;
}

std::optional<Response> Server::AdmitSocket(const RequestHead& head) {
  if (auto refusal = AdmitAny(head)) return refusal;
  if (head.path != "/v1/ws") return ErrorResponse(ApiError(404, "not_found", "WebSockets are at /v1/ws"));
  bool known = false, token = false;
  std::string_view protocols = head.Header("sec-websocket-protocol");
  while (!protocols.empty()) {
    std::string_view protocol = protocols.substr(0, protocols.find(','));
    protocols.remove_prefix(std::min(protocol.size() + 1, protocols.size()));
    while (!protocol.empty() && protocol.front() == ' ') protocol.remove_prefix(1);
    while (!protocol.empty() && protocol.back() == ' ') protocol.remove_suffix(1);
    constexpr std::string_view kToken = "weft.token.";
    known = known || protocol == "weft.v1";
    token = token || (protocol.substr(0, kToken.size()) == kToken && RightToken(protocol.substr(kToken.size())));
  }
  if (!token) return ErrorResponse(ApiError(401, "permission_denied", "the token is missing or wrong", "the subprotocols weft.v1 and weft.token.TOKEN"));
  if (!known) return ErrorResponse(ApiError(400, "invalid_argument", "the subprotocol weft.v1 is missing"));
  return std::nullopt;
}

std::shared_ptr<SocketHandler> Server::OpenSocket(std::shared_ptr<Socket> socket) { return MakeSession(shared_from_this(), std::move(socket)); }

// ---- answers ---------------------------------------------------------------------------------------------------------------

void Server::Handle(Request request, Reply reply) {
  if (request.path.rfind("/v1/", 0) != 0 && request.path != "/v1") return reply(Static(request));
  auto shared = std::make_shared<Request>(std::move(request));
  const bool taken = pool_.Add([self = shared_from_this(), shared, reply] { reply(self->Answer(*shared)); });
  if (!taken) reply(ErrorResponse(ApiError(503, "resource_exhausted", "too many calls wait already", "try again in a second")));
}

Response Server::Answer(const Request& request) {
  try {
    std::vector<std::string> parts;
    std::string allowed;
    const Route* route = FindRoute(request.method, request.path, parts, allowed);
    if (route == nullptr) throw ApiError(404, "not_found", "there is no '" + request.path + "'");
    const std::string client(request.Header("weft-client"));
    return route->call(Called{*this, request, std::move(parts), client.empty() ? nullptr : FindClient(client)});
  } catch (const ApiError& error) {
    return ErrorResponse(error);
  } catch (const std::bad_alloc&) {
    return ErrorResponse(ApiError(503, "resource_exhausted", "there is too little memory for this"));
  } catch (const std::exception& error) {
    return ErrorResponse(ApiError(500, "internal", error.what()));
  }
}

Response Server::FromDisk(const std::string& path) const {
  try {
    Response response = TextResponse(editor_->Read(path.substr(1), limits().page_bytes), MediaType(path));
    response.headers.emplace_back("Cache-Control", "no-cache");
    return response;
  } catch (const ApiError& error) {
    return ErrorResponse(error);
  }
}

Response Server::Static(const Request& request) const {
  const std::string path = request.path == "/" ? "/index.html" : request.path;
  const Asset* asset = editor_ ? nullptr : FindAsset("editor" + path);
  if (asset == nullptr && !editor_ && path == "/index.html") asset = FindAsset("no_editor.html");
  Response response;
  if (editor_) {
    response = FromDisk(path);
  } else if (asset == nullptr) {
    response = ErrorResponse(ApiError(404, "not_found", "there is no '" + path.substr(0, 200) + "'"));
  } else {
    const std::string etag = std::string("\"") + asset->hash + "\"";
    response.type = MediaType(asset->path);
    response.headers.emplace_back("ETag", etag);
    // Names with a hash in them never change their bytes.
    const bool hashed = std::string_view(asset->path).find("/assets/") != std::string_view::npos;
    response.headers.emplace_back("Cache-Control", hashed ? "private, max-age=31536000, immutable" : "no-cache");
    if (request.Header("if-none-match") == etag) {
      response.status = 304;
    } else if (asset->gzip && request.Header("accept-encoding").find("gzip") != std::string_view::npos) {
      response.headers.emplace_back("Content-Encoding", "gzip");
      response.body = std::make_shared<const std::string>(reinterpret_cast<const char*>(asset->data), asset->size);
    } else {
      response.body = std::make_shared<const std::string>(Plain(*asset));
    }
    if (asset->gzip) response.headers.emplace_back("Vary", "Accept-Encoding");
  }
  response.headers.emplace_back("Content-Security-Policy", kContentSecurityPolicy);
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Permissions-Policy", "camera=(), microphone=(), geolocation=()");
  return response;
}

const Server::Schema& Server::schema() {
  std::call_once(schema_once_, [this] {
    std::string json = TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_blocks_json(runtime(), text, problems); });
    schema_.etag = "\"" + TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_blocks_hash(runtime(), text, problems); }) + "\"";
    schema_.gzip = std::make_shared<const std::string>(Gzip(json));
    schema_.plain = std::make_shared<const std::string>(std::move(json));
  });
  return schema_;
}

// ---- pages and clients -----------------------------------------------------------------------------------------------------

std::shared_ptr<Document> Server::FindPage(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = documents_.find(id);
  if (found == documents_.end()) throw ApiError(404, "not_found", "no page '" + id.substr(0, 100) + "' is open");
  return found->second;
}

std::vector<std::shared_ptr<Document>> Server::Documents() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Document>> all;
  for (const auto& [id, document] : documents_) all.push_back(document);
  return all;
}

std::shared_ptr<Document> Server::FindPath(const std::string& path) {
  for (const auto& document : Documents()) {
    if (document->path() == path) return document;
  }
  return nullptr;
}

std::shared_ptr<Document> Server::Open(PageSource source) {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw ApiError(503, "resource_exhausted", "the server ends");
    if (documents_.size() >= limits().pages) {
      throw ApiError(429, "resource_exhausted", "there are " + std::to_string(documents_.size()) + " open pages already", "close one");
    }
    id = "p" + std::to_string(next_page_++);
  }
  auto document = std::make_shared<Document>(id, rules(), std::move(source), context_);
  {
    const std::lock_guard lock(mutex_);
    documents_[id] = document;
  }
  PagesChanged();
  return document;
}

void Server::ClosePage(const std::shared_ptr<Document>& document, bool discard, const std::string& by) {
  if (!discard && document->dirty()) throw ApiError(409, "failed_precondition", "the page has edits that are not saved", "save it, or discard them: ?discard=1");
  if (!discard && document->runner().busy()) throw ApiError(409, "failed_precondition", "the page runs", "stop it, or close it all the same: ?discard=1");
  {
    const std::lock_guard lock(mutex_);
    if (documents_.erase(document->id()) == 0) throw ApiError(404, "not_found", "the page is closed already");
  }
  document->runner().Close();
  document->DropJournal();
  document->log().Publish({{"type", "page.closed"}, {"by", by.empty() ? Json(nullptr) : Json(by)}});
  PagesChanged();
}

Json Server::PagesJson() {
  Json pages = Json::array();
  for (const auto& document : Documents()) pages.push_back(document->Describe());
  return pages;
}

void Server::PagesChanged() {
  const auto clients = Clients();
  if (clients.empty()) return;
  const Json message = {{"type", "pages"}, {"pages", PagesJson()}};
  const auto text = std::make_shared<const std::string>(Dump(message));
  for (const auto& client : clients) client->SendText(text);
}

std::shared_ptr<Client> Server::FindClient(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second;
}

std::shared_ptr<Client> Server::Welcome(const std::string& resume, bool& resumed) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(resume);
  resumed = found != clients_.end();
  if (resumed) return found->second;
  // Those that are gone, and whose lease lasts, take no place.
  const auto connected = std::count_if(clients_.begin(), clients_.end(), [](const auto& entry) { return entry.second->connected(); });
  if (closed_ || static_cast<size_t>(connected) >= limits().clients || clients_.size() >= limits().clients_known) return nullptr;
  const std::string id = "c" + std::to_string(next_client_++);
  return clients_[id] = std::make_shared<Client>(id, limits());
}

std::vector<std::shared_ptr<Client>> Server::Clients() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Client>> all;
  for (const auto& [id, client] : clients_) all.push_back(client);
  return all;
}

/// Leases that are over, and files that changed on disk.
void Server::EverySecond() {
  const auto documents = Documents();
  for (const auto& client : Clients()) {
    if (client->gone_for() < std::chrono::seconds(limits().lease_seconds)) continue;
    {
      const std::lock_guard lock(mutex_);
      clients_.erase(client->id());
    }
    for (const auto& document : documents) document->runner().Release(*client);
  }
  for (const auto& document : documents) document->LookAtDisk();
}

}  // namespace weft::serve
