// Which pages this thread is planning, and which of them wait for a host's function that it calls: a call that needs such a page would wait
// for itself.
#pragma once

namespace weft {

class Scope;

/// While it lives, this thread plans the page. Those of one thread lie within one another.
class Planning {
 public:
  explicit Planning(const Scope& scope);
  ~Planning();
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;

 private:
  friend class HostCall;
  friend bool WaitsForHostCall(const Scope& scope);
  const Scope* const scope_;
  Planning* const outer_;
  bool calls_host_ = false;
};

/// Around a host's plan or gradient: what is planned innermost waits for it.
class HostCall {
 public:
  HostCall();
  ~HostCall();
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

 private:
  Planning* const of_;  // null: of no page
};

/// Whether this thread is inside a host's plan or gradient that is called for the page.
bool WaitsForHostCall(const Scope& scope);

}  // namespace weft
