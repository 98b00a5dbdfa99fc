// Whether wires would fit before they are made: by types and kinds of values, what would follow for the blocks behind, and cycles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Answers for one graph, which must outlive it, without making an edit. One thread at a time.
///
/// A wire fits where the page would have no error afterwards that it did not have before, shapes aside: as Scope::Apply finds with
/// EditMode::kTry. It is stricter where the block lacks other inputs, or has faults, for which an edit waits: then the type must be one
/// that the block can take; and a session carries no value, whatever its faults. It is less strict where a block lacks another input that
/// an edit tells of only once this one is there: that input had nothing before, too. Not looked at: shapes; whether gradients
/// (AddSymbolicGradients) can still be made, and what reads them; loops, but for values of two frames that would meet at the block;
/// variables of one shared_name. Of a page in which one wire would change the types of very many blocks, not all of those are followed
/// for each input.
class WireFit {
 public:
  explicit WireFit(const Graph& graph);
  ~WireFit();
  WireFit(const WireFit&) = delete;
  WireFit& operator=(const WireFit&) = delete;

  /// ok, or what is wrong, placed at the block that would not take it. An input that has a wire or value would get this one instead, unless
  /// it is a list, which grows. not_found for blocks and ports.
  Status Check(const Wire& from, const Wire& to);
  /// The inputs "ID.port" that a wire from the output may go to, in page order; lists are named once. not_found for the output.
  Result<std::vector<std::string>> InputsFor(const Wire& from);
  /// The outputs "ID.port" that may feed the input; also blocks as operations, "ID.operation", where it takes those.
  Result<std::vector<std::string>> OutputsFor(const Wire& to);

 private:
  std::unique_ptr<class WireFitter> fitter_;
};

}  // namespace weft
