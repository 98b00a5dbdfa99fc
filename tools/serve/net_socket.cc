#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <deque>

#include "tools/serve/net_connection.h"

namespace weft::serve {
namespace {

namespace websocket = boost::beast::websocket;

class SocketConnection : public Socket, public std::enable_shared_from_this<SocketConnection> {
 public:
  SocketConnection(NetStream&& stream, std::shared_ptr<ConnectionCount> count) : stream_(std::move(stream)), count_(std::move(count)) {}

  void Start(http::request<http::string_body> request) {
    beast::get_lowest_layer(stream_).expires_never();
    NetShared& shared = **count_;
    websocket::stream_base::timeout timeout{std::chrono::seconds(shared.options.header_seconds), std::chrono::seconds(shared.options.pong_seconds), true};
    stream_.set_option(timeout);
    stream_.set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
      response.set(http::field::sec_websocket_protocol, "weft.v1");
      response.set(http::field::server, "weft");
    }));
    stream_.read_message_max(shared.options.frame_bytes);
    stream_.auto_fragment(false);
    stream_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind != websocket::frame_type::close && handler_) handler_->OnAlive();
    });
    request_ = std::move(request);
    stream_.async_accept(request_, [self = shared_from_this()](error_code error) {
      if (error) return;
      self->handler_ = (*self->count_)->service->OpenSocket(self);
      if (self->handler_) self->Read();
    });
  }

  void Send(Bytes message, bool binary) override {
    waiting_ += message->size() + 64;
    asio::post(stream_.get_executor(), [self = shared_from_this(), message = std::move(message), binary]() mutable {
      if (self->ended_) return;
      self->queue_.push_back({std::move(message), binary});
      if (!self->writing_) self->Write();
    });
  }

  size_t waiting() const override { return waiting_; }

  void Close(int code, std::string reason, bool at_once) override {
    asio::post(stream_.get_executor(), [self = shared_from_this(), code, reason = std::move(reason), at_once] {
      if (self->ended_ || self->close_code_ != 0) return;
      self->close_code_ = code;
      self->close_reason_ = reason;
      if (at_once && self->writing_) {
        // What is being written does not get through: only the end of the connection does.
        self->queue_.erase(self->queue_.begin() + 1, self->queue_.end());
        self->EndAfter(std::chrono::seconds(2));
      } else if (at_once) {
        self->queue_.clear();
      }
      if (!self->writing_) self->Write();
    });
  }

 private:
  struct Message {
    Bytes bytes;
    bool binary;
  };

  void Read() {
    stream_.async_read(buffer_, [self = shared_from_this()](error_code error, size_t) {
      if (self->ended_) return;  // a write has failed meanwhile
      if (error) return self->Ended();
      if (!self->stream_.got_text()) {
        self->Close(1003, "text messages only", true);
        self->buffer_.consume(self->buffer_.size());
        return self->Read();
      }
      std::string text = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      if (self->buffer_.capacity() > 65536) self->buffer_.shrink_to_fit();
      if (self->close_code_ == 0) self->handler_->OnText(std::move(text));
      self->Read();
    });
  }

  void Write() {
    if (ended_) return;
    if (queue_.empty()) {
      writing_ = false;
      if (close_code_ != 0) SendClose();
      return;
    }
    writing_ = true;
    stream_.binary(queue_.front().binary);
    const auto buffer = asio::buffer(*queue_.front().bytes);
    stream_.async_write(buffer, [self = shared_from_this()](error_code error, size_t) {
      if (error || self->ended_) return self->Ended();
      self->waiting_ -= self->queue_.front().bytes->size() + 64;
      self->queue_.pop_front();
      self->Write();
    });
  }

  void SendClose() {
    writing_ = true;
    EndAfter(std::chrono::seconds(5));
    const websocket::close_reason reason(static_cast<websocket::close_code>(close_code_), close_reason_.substr(0, 120));
    stream_.async_close(reason, [self = shared_from_this()](error_code) { self->Ended(); });
  }

  /// Ends the connection also where the client does not answer.
  void EndAfter(std::chrono::seconds delay) {
    timer_.emplace(stream_.get_executor(), delay);
    timer_->async_wait([self = shared_from_this()](error_code error) {
      if (!error) beast::get_lowest_layer(self->stream_).cancel(), beast::get_lowest_layer(self->stream_).close();
    });
  }

  void Ended() {
    if (ended_) return;
    ended_ = true;
    if (timer_) timer_->cancel();
    // A write in progress may still look at the first message: that goes with the connection.
    if (queue_.size() > 1) queue_.erase(queue_.begin() + 1, queue_.end());
    waiting_ = 0;
    if (handler_) handler_->OnClosed();
    stream_.control_callback();
    handler_.reset();
    beast::get_lowest_layer(stream_).close();
  }

  websocket::stream<NetStream, false> stream_;  // without compression: a small frame could make a large one
  std::shared_ptr<ConnectionCount> count_;
  http::request<http::string_body> request_;
  std::shared_ptr<SocketHandler> handler_;
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;
  std::atomic<size_t> waiting_{0};
  std::optional<asio::steady_timer> timer_;
  int close_code_ = 0;
  std::string close_reason_;
  bool writing_ = false, ended_ = false;
};

}  // namespace

void StartSocket(NetStream&& stream, std::shared_ptr<ConnectionCount> count, http::request<http::string_body> request) {
  std::make_shared<SocketConnection>(std::move(stream), std::move(count))->Start(std::move(request));
}

}  // namespace weft::serve
