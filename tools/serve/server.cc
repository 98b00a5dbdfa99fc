#include "tools/serve/server.h"

#include "tools/serve/random.h"
#include "tools/serve/routes.h"
#include "tools/serve/runner.h"
#include "tools/serve/socket.h"

namespace weft::serve {
namespace {

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

Server::Server(ServerOptions options)
    : options_(std::move(options)), instance_(RandomDigits(8)), runtime_(OpenRuntime(options_)),
      folder_(runtime_.get(), options_.folder, options_.read_only), editor_(runtime_.get(), options_.editor_folder, options_.limits),
      journals_(options_.journal_folder), admission_({options_.host_names, options_.read_only, options_.tls}, options_.limits), schema_(runtime_.get()),
      pool_(options_.limits.threads, options_.limits.calls_waiting),
      context_{options_.limits, journals_, [this](std::function<void()> task) { return pool_.Add(std::move(task)); }, nullptr},
      clients_(options_.limits), pages_({runtime_.get(), &folder_, options_.read_only, options_.no_files}, context_, clients_) {}

Server::~Server() { Close(); }

void Server::Attach(Net& net, const std::string& address) {
  context_.net = &net;
  admission_.Listen(address, net.port());
  // What the first client asks for at once.
  pool_.Add([self = shared_from_this()] { self->schema(); });
  net.Every(std::chrono::seconds(1), [self = weak_from_this()] {
    const auto server = self.lock();
    if (server) server->pool_.Add([server] { server->EverySecond(); });
  });
}

void Server::Close() {
  if (closed_.exchange(true)) return;
  clients_.End();
  pages_.End();
  pool_.Stop();
}

std::optional<Response> Server::Admit(const RequestHead& head, uint64_t& body_limit) { return admission_.Refuse(head, body_limit); }

std::optional<Response> Server::AdmitSocket(const RequestHead& head) { return admission_.RefuseSocket(head); }

std::shared_ptr<SocketHandler> Server::OpenSocket(std::shared_ptr<Socket> socket) { return MakeSession(shared_from_this(), std::move(socket)); }

void Server::Handle(Request request, Reply reply) {
  if (!IsCall(request.path)) return reply(editor_.Answer(request));
  auto shared = std::make_shared<Request>(std::move(request));
  const bool taken = pool_.Add([self = shared_from_this(), shared, reply] { reply(self->Answer(*shared)); });
  if (!taken) reply(ErrorResponse(ApiError(503, "resource_exhausted", "too many calls wait already", "try again in a second")));
}

Response Server::Answer(const Request& request) {
  try {
    FoundRoute found = FindRoute(request.method, request.path);
    if (found.route == nullptr) throw ApiError(404, "not_found", "there is no '" + request.path + "'");
    const std::string client(request.Header("weft-client"));
    return found.route->call(Called{*this, request, std::move(found.parts), client.empty() ? nullptr : clients_.Find(client)});
  } catch (const ApiError& error) {
    return ErrorResponse(error);
  } catch (const std::bad_alloc&) {
    return ErrorResponse(ApiError(503, "resource_exhausted", "there is too little memory for this"));
  } catch (const std::exception& error) {
    return ErrorResponse(ApiError(500, "internal", error.what()));
  }
}

/// Leases that are over, and files that changed on disk.
void Server::EverySecond() {
  const auto documents = pages_.All();
  for (const auto& client : clients_.TakeGone()) {
    for (const auto& document : documents) document->runner().Release(*client);
  }
  for (const auto& document : documents) document->LookAtDisk();
}

}  // namespace weft::serve
