// Random pages over the blocks of a registry: mostly of one type and few shapes, so that many of them run, with slips of every kind.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "weft/block/registry.h"
#include "weft/page/page.h"

namespace weft::fuzz {

class RandomPage {
 public:
  RandomPage(const Registry& registry, uint32_t seed) : registry_(registry), random_(seed) {}

  Page Make();

 private:
  uint32_t Below(uint32_t n) { return random_() % n; }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  bool Slip(uint32_t percent) { return slips_ && Chance(percent); }
  template <class Range>
  const auto& Any(const Range& range) { return range[Below(static_cast<uint32_t>(range.size()))]; }

  DType TypeFor(const BlockDef& def, const PortSpec& port);
  Shape AnyShape();
  Tensor AnyTensor(DType dtype, Shape shape);
  std::string AnyText(DType dtype);
  InputItem Item(const BlockDef& def, const PortSpec& port);
  Wire AnyWire(const PortSpec& port);
  std::string AttrsOf(const BlockDef& def);
  std::string AttrValueOf(const AttrSpec& spec);
  PageBlock Block(const BlockDef& def, size_t index);
  PageBlock SessionBlock(size_t index);

  struct Output {
    std::string block, port;
    bool reference = false;
    DType dtype = DType::kInvalid;  // where the port has but one
  };

  const Registry& registry_;
  std::mt19937 random_;
  bool slips_ = false;           // the page at hand has some
  DType dtype_ = DType::kFloat;  // that most values of the page have
  Shape shape_;                  // and their shape
  std::vector<Output> outputs_;  // of the blocks so far
  std::vector<std::string> ids_;
};

}  // namespace weft::fuzz
