#include "tools/serve/net.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>
#include <stdexcept>

#include "tools/serve/net_connection.h"

namespace weft::serve {

using asio::ip::tcp;

struct Net::Impl : std::enable_shared_from_this<Net::Impl> {
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::signal_set signals{io};
  asio::steady_timer pause{io};
  std::optional<asio::ssl::context> tls;
  std::shared_ptr<NetShared> shared = std::make_shared<NetShared>();

  void Open() {
    const NetOptions& options = shared->options;
    error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) throw std::runtime_error("'" + options.address + "' is no address to listen on: give one such as 127.0.0.1, ::1 or 0.0.0.0");
    const tcp::endpoint endpoint(address, options.port);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(128, error);
    if (error) {
      throw std::runtime_error("cannot listen on " + options.address + " port " + std::to_string(options.port) + ": " + error.message() +
                               "; --port takes another, 0 a free one");
    }
    if (!options.cert.empty()) OpenTls();
  }

  void OpenTls() {
    tls.emplace(asio::ssl::context::tls_server);
    tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    error_code error;
    tls->use_certificate_chain_file(shared->options.cert, error);
    if (error) throw std::runtime_error("cannot use the certificate " + shared->options.cert + ": " + error.message());
    tls->use_private_key_file(shared->options.key, asio::ssl::context::pem, error);
    if (error) throw std::runtime_error("cannot use the key " + shared->options.key + ": " + error.message());
  }

  void Accept() {
    acceptor.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return self->AcceptLater();  // out of descriptors, say: others may end
      if (self->shared->connections < self->shared->options.most_connections) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        StartConnection(std::move(socket), self->tls ? &*self->tls : nullptr, self->shared);
      }
      self->Accept();
    });
  }

  void AcceptLater() {
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->Accept();
    });
  }
};

Net::Net(const NetOptions& options, std::shared_ptr<Service> service) : impl_(std::make_shared<Impl>()) {
  impl_->shared->options = options;
  impl_->shared->service = std::move(service);
  impl_->Open();
}

Net::~Net() = default;

uint16_t Net::port() const { return impl_->acceptor.local_endpoint().port(); }

void Net::Run() {
  impl_->Accept();
  auto guard = asio::make_work_guard(impl_->io);
  impl_->io.run();
}

void Net::Stop() {
  asio::post(impl_->io, [impl = impl_] { impl->io.stop(); });
}

void Net::OnSignal(std::function<void(int)> call) {
  impl_->signals.add(SIGINT);
  impl_->signals.add(SIGTERM);
  struct Wait {
    static void Next(std::shared_ptr<Impl> impl, std::function<void(int)> call) {
      impl->signals.async_wait([impl, call](error_code error, int number) {
        if (error) return;
        call(number);
        Next(impl, call);
      });
    }
  };
  Wait::Next(impl_, std::move(call));
}

void Net::Every(std::chrono::milliseconds interval, std::function<void()> call) {
  After(interval, [this, interval, call] {
    call();
    Every(interval, call);
  });
}

void Net::After(std::chrono::milliseconds delay, std::function<void()> call) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->io, delay);
  timer->async_wait([timer, call = std::move(call)](error_code error) {
    if (!error) call();
  });
}

namespace {

class FdWatch : public Watch, public std::enable_shared_from_this<FdWatch> {
 public:
  FdWatch(asio::io_context& io, int fd, std::function<void()> call) : descriptor_(io, fd), call_(std::move(call)) {}
  void Arm() override {
    asio::post(descriptor_.get_executor(), [self = shared_from_this()] {
      if (!self->descriptor_.is_open()) return;
      self->descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [self](error_code error) {
        if (!error && self->call_) self->call_();
      });
    });
  }
  void Close() override {
    asio::post(descriptor_.get_executor(), [self = shared_from_this()] {
      error_code ignored;
      self->call_ = nullptr;
      self->descriptor_.close(ignored);
    });
  }

 private:
  asio::posix::stream_descriptor descriptor_;
  std::function<void()> call_;
};

}  // namespace

std::shared_ptr<Watch> Net::MakeWatch(int fd, std::function<void()> call) {
  // The descriptor belongs to a queue of events, which may end first: a copy of it is waited for.
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw std::runtime_error("no more file descriptors");
  return std::make_shared<FdWatch>(impl_->io, copy, std::move(call));
}

void Net::Post(std::function<void()> call) { asio::post(impl_->io, std::move(call)); }

}  // namespace weft::serve
