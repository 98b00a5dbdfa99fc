// Who may call: by the server's names, the page's origin, the token; and which calls there are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/http.h"
#include "tools/serve/limits.h"

namespace weft::serve {

struct AdmissionRules {
  std::vector<std::string> names;  // by which the server may be called besides those of this machine
  bool read_only = false, tls = false;
};

class Admission {
 public:
  Admission(AdmissionRules rules, const Limits& limits);

  /// Tells how the server is reached; before the first request.
  void Listen(const std::string& address, uint16_t port);
  const std::string& token() const { return token_; }

  /// Why a request is not answered; nothing where it is. `body_limit` gets the most bytes that its body may have.
  std::optional<Response> Refuse(const RequestHead& head, uint64_t& body_limit) const;
  std::optional<Response> RefuseSocket(const RequestHead& head) const;

 private:
  std::optional<Response> RefuseAny(const RequestHead& head) const;
  bool KnownHost(std::string_view host) const;
  bool RightToken(std::string_view token) const;

  const AdmissionRules rules_;
  const Limits& limits_;
  const std::string token_;
  std::vector<std::string> hosts_;  // as Host headers write them
};

/// Whether a path is a call's; all others are the editor's files.
bool IsCall(std::string_view path);

}  // namespace weft::serve
