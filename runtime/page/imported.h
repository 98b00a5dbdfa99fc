// The part that both of enuSpace's formats share: turns pins into inputs, attributes and recorded results of blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/page/json_walk.h"
#include "runtime/page/report.h"

namespace weft::page {

/// A pin as written in either format.
struct Pin {
  std::string name;
  std::string type;     // double, float, int, bool, string
  std::string shape;    // "[2][3]", empty for a scalar or an unknown one
  std::string text;     // the value; empty for none
  bool binary = false;  // the value is in <page>.dat
  std::string binary_position;
};

/// Builds the blocks of an imported page. Faults go to the report; the page and the report must outlive it.
class Importer {
 public:
  Importer(const ReadOptions& options, Page& page, Report& report) : options_(options), page_(page), report_(report) {}

  /// Adds a block and returns its index.
  size_t AddBlock(std::string pointer);
  /// "#MatMul" -> "MatMul".
  void SetType(size_t block, std::string_view symbol);
  /// The index of the pin's input among the block's inputs; added at the end where it is new. `pin` may end in "[N]".
  size_t InputOf(size_t block, std::string_view pin);
  /// A value of an input pin: an attribute string, a literal, or nothing where the pin is empty.
  void AddValue(size_t block, const Pin& pin, const std::string& pointer);
  /// A value of the output pin "result_NAME".
  void AddRecorded(size_t block, const Pin& pin, const std::string& pointer);
  /// A wire into a pin; several wires into one pin make a list in their order.
  void AddWire(size_t block, std::string_view pin, std::string_view from_id, std::string_view from_pin, const std::string& pointer);
  /// Removes inputs without a wire or value, and reports repeated ids. Call once, at the end.
  void Finish();

 private:
  bool Describe(const Pin& pin, const std::string& pointer, Literal& literal);
  Result<Tensor> Binary(const Pin& pin, const Literal& literal);

  const ReadOptions& options_;
  Page& page_;
  Report& report_;
  std::vector<NameSet> ports_;  // of each block, in the order of its inputs
};

/// "[2][3]" as a shape. invalid_argument for other text.
Result<Shape> ParsePinShape(std::string_view text);

}  // namespace weft::page
