// weft serve, weft edit.
#include "tools/cli/command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "tools/serve/net.h"
#include "tools/serve/server.h"

extern char** environ;

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kDone = 0, kFailure = 1, kUsage = 2, kInterrupted = 130;

struct ServeOptions {
  std::string path = ".", listen = "127.0.0.1", cert, key, editor;
  std::vector<std::string> host_names;
  int port = 0, threads = 0;
  int64_t memory = 0, page_memory = 0;
  bool read_only = false, no_files = false, no_browser = false, no_journal = false, edits = false;
};

int Complain(const ServeOptions& options, const std::string& message, int status) {
  std::cerr << "weft " << (options.edits ? "edit" : "serve") << ": error: " << message << "\n";
  return status;
}

/// Where journals are kept: among the user's state, by the served folder, so that the folder itself stays as it is.
std::string JournalFolder(const std::string& folder) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::string base;
  if (state != nullptr && *state == '/') base = state;
  else if (home != nullptr && *home == '/') base = std::string(home) + "/.local/state";
  else return folder + "/.weft/journal";
  uint64_t hash = 14695981039346656037u;
  for (char c : folder) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return base + "/weft/journal/" + digits;
}

/// A path in a fragment.
std::string Escaped(const std::string& text) {
  std::string out;
  for (unsigned char c : text) {
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/' || c == '~') out += static_cast<char>(c);
    else {
      out += '%';
      out += "0123456789ABCDEF"[c >> 4];
      out += "0123456789ABCDEF"[c & 15];
    }
  }
  return out;
}

/// Has the desktop open the address. It stands in the arguments of that program for a moment, as with every program that does so.
void OpenBrowser(const std::string& address) {
  const char* browser = std::getenv("BROWSER");
  if (browser == nullptr || *browser == '\0') {
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
    browser = "xdg-open";
  }
  std::string program = std::string(browser).substr(0, std::string(browser).find(':'));
  std::string argument = address;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  posix_spawnp(&process, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
}

bool IsLoopback(const std::string& address) { return address.rfind("127.", 0) == 0 || address == "::1"; }

/// The folder that is served and the page in it, of the path that was given. Throws std::runtime_error.
void ChooseFolder(const ServeOptions& options, serve::ServerOptions& server) {
  std::error_code error;
  const fs::path place = fs::canonical(options.path, error);
  if (error) throw std::runtime_error("'" + options.path + "': " + error.message());
  if (fs::is_directory(place)) {
    server.folder = place.string();
    return;
  }
  if (!options.edits) throw std::runtime_error("'" + options.path + "' is no folder; weft edit opens a page");
  server.folder = place.parent_path().string();
  server.open = place.filename().string();
}

void Print(const ServeOptions& options, const serve::ServerOptions& server, const std::string& address) {
  if (!IsLoopback(options.listen) && options.cert.empty()) {
    std::cerr << "weft: warning: whoever sees the traffic of " << options.listen << " can read the token and do all that this server does; --cert and --key encrypt it\n";
  }
  if (options.host_names.empty() && (options.listen == "0.0.0.0" || options.listen == "::")) {
    std::cerr << "weft: note: other machines reach it by the names that --host-name gives; there is none\n";
  }
  std::cerr << (options.edits ? "Editing " : "Serving ") << server.folder << (server.open.empty() ? "" : "/" + server.open)
            << (options.read_only ? ", read only" : "") << ". Ctrl-C ends it.\n";
  std::cout << address << std::endl;
}

serve::ServerOptions ServerOptionsOf(const ServeOptions& options) {
  serve::ServerOptions server;
  ChooseFolder(options, server);
  server.host_names = options.host_names;
  server.read_only = options.read_only;
  server.no_files = options.no_files;
  if (!options.editor.empty()) server.editor_folder = fs::canonical(options.editor).string();
  server.tls = !options.cert.empty();
  server.threads = options.threads;
  server.memory = options.memory;
  server.page_memory = options.page_memory;
  if (!options.no_journal && !options.read_only) server.journal_folder = JournalFolder(server.folder);
  return server;
}

serve::NetOptions NetOptionsOf(const ServeOptions& options, const serve::Limits& limits) {
  serve::NetOptions net;
  net.address = options.listen;
  net.port = static_cast<uint16_t>(options.port);
  net.cert = options.cert;
  net.key = options.key;
  net.most_connections = limits.connections;
  net.frame_bytes = limits.frame_bytes;
  return net;
}

/// What a browser opens.
std::string AddressOf(const ServeOptions& options, const serve::Server& server, uint16_t port) {
  const std::string host = options.listen == "0.0.0.0" ? "127.0.0.1" : serve::UrlHost(options.listen == "::" ? "::1" : options.listen);
  const std::string& page = server.options().open;
  return std::string(server.options().tls ? "https://" : "http://") + host + ":" + std::to_string(port) + "/#token=" + server.token() +
         (page.empty() ? "" : "&page=" + Escaped(page));
}

/// Ends the server in order on a signal, which `signal` gets, and at once on the second.
void EndOnSignals(const std::shared_ptr<serve::Server>& server, serve::Net& net, int& signal) {
  net.OnSignal([server, &net, &signal](int number) {
    if (signal != 0) std::_Exit(kInterrupted);  // asked twice: what is still in progress is given up
    signal = number;
    // Clients are told, runs cancelled. What does not end in time is given up: journals are on the disk already.
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(5));
      std::_Exit(kInterrupted);
    }).detach();
    std::thread([server, &net] {
      server->Close();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      net.Stop();
    }).detach();
  });
}

int Serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  if (options.cert.empty() != options.key.empty()) return Complain(options, "--cert and --key belong together", kUsage);
  try {
    auto server = std::make_shared<serve::Server>(ServerOptionsOf(options));
    serve::Net net(NetOptionsOf(options, server->limits()), server);
    server->Attach(net, options.listen);
    const std::string address = AddressOf(options, *server, net.port());
    int signal = 0;
    EndOnSignals(server, net, signal);
    Print(options, server->options(), address);
    if (options.edits && !options.no_browser) OpenBrowser(address);
    net.Run();
    return signal == SIGINT ? kInterrupted : kDone;
  } catch (const std::exception& error) {
    return Complain(options, error.what(), kFailure);
  }
}

void AddTo(Command& command, ServeOptions& options) {
  command.Add("--port", options.port, "Port to listen on; 0: a free one").Between(0, 65535).ShowDefault();
  command.Add("--listen", options.listen, "Address to listen on; of 0.0.0.0 other machines need a --host-name").ShowDefault();
  command.Add("--host-name", options.host_names, "A name by which the server may be called besides; may be given again").TakesOne().Repeated();
  command.Add("--cert", options.cert, "Certificate chain for TLS (PEM)").Type("FILE");
  command.Add("--key", options.key, "Its private key (PEM)").Type("FILE");
  command.AddFlag("--read-only", options.read_only, "Pages can be looked at, and nothing else");
  command.AddFlag("--no-files", options.no_files, "For pages of strangers: they may not use files, nor Abort");
  command.Add("--editor", options.editor, "Take the editor's files from here, not from the program").Type("FOLDER");
  command.AddFlag("--no-journal", options.no_journal, "Keep no unsaved edits on the disk");
  command.Add("--threads", options.threads, "Threads of the engine; 0: one a processor").Between(0, 4096);
  command.Add("--memory", options.memory, "What all pages may hold together").Type("BYTES").Bytes();
  command.Add("--page-memory", options.page_memory, "What one page may hold").Type("BYTES").Bytes();
}

}  // namespace

void AddServe(Program& program) {
  auto options = std::make_shared<ServeOptions>();
  Command command = program.Add("serve", "Serve a folder of pages to editors",
                                "  weft serve graphs\n  weft serve graphs --port 8080 --read-only\n"
                                "The address that is printed has the token in it that every call needs. docs/protocol.md describes the calls.",
                                options, Serve);
  command.Add("folder", options->path, "Folder of pages").Required().Type("FOLDER");
  AddTo(command, *options);
}

void AddEdit(Program& program) {
  auto options = std::make_shared<ServeOptions>();
  options->edits = true;
  Command command = program.Add("edit", "Edit a page in the browser", "  weft edit graphs/xor.page.json\n  weft edit graphs", options, Serve);
  command.Add("page", options->path, "Page, or a folder of pages").Required().Type("PAGE|FOLDER");
  command.AddFlag("--no-browser", options->no_browser, "Print the address only");
  AddTo(command, *options);
}

}  // namespace weft::cli
