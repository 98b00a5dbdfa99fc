// DecodeRaw: the bytes of strings as numbers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> bytes{"bytes", "DT_STRING", "of any shape; all strings of one length, a multiple of the element's size"};
constexpr Out<0> output{"output", "out_type", "[...bytes, length / element size]"};
constexpr Attr<DType> out_type{"out_type", kRequired, "the type of the elements"};
constexpr Attr<bool> little_endian{"little_endian", "true", "the order of the bytes of an element; of no account for types of one byte"};

constexpr auto kRawTypes = kNumbers + TypeList<bool>{};

struct Parameters {
  DType dtype;
  size_t word;   // bytes of what is turned round: half a complex number
  bool reverse;
};

Result<Parameters> Plan(PlanContext& ctx) {
  std::vector<int64_t> dims(ctx.shape(bytes).dims().begin(), ctx.shape(bytes).dims().end());
  dims.push_back(-1);
  WEFT_ASSIGN_OR_RETURN(PartialShape partial, AtPort(bytes, PartialShape::Make(std::move(dims))));
  ctx.set_unknown(output, 0, std::move(partial));
  DType dtype = ctx.attr(out_type);
  size_t word = ElementSize(dtype) / (IsComplex(dtype) ? 2 : 1);
  return Parameters{dtype, word, word > 1 && ctx.attr(little_endian) != (std::endian::native == std::endian::little)};
}

void Reverse(std::byte* data, size_t size, size_t word) {
  for (size_t i = 0; i < size; i += word) std::reverse(data + i, data + i + word);
}

// A bool may only hold 0 or 1 in memory.
void MakeBools(std::byte* data, size_t size) {
  for (size_t i = 0; i < size; ++i) data[i] = std::byte{data[i] != std::byte{0}};
}

// The length that all strings have, 0 where there are none.
Result<size_t> CommonLength(std::span<const String> strings, size_t element) {
  const size_t length = strings.empty() ? 0 : strings[0].size();
  for (size_t i = 1; i < strings.size(); ++i) {
    if (strings[i].size() != length) {
      return InvalidArgument("needs strings of one length, found ", length, " bytes in string 0 and ", strings[i].size(), " in string ", i);
    }
  }
  if (length % element != 0) return InvalidArgument("needs a length that is a multiple of ", element, " bytes, found ", length);
  return length;
}

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) -> Status {
  auto strings = ctx.in<String>(bytes);
  const size_t element = ElementSize(p.dtype);
  WEFT_ASSIGN_OR_RETURN(const size_t length, AtPort(bytes, CommonLength(strings, element)));
  std::vector<int64_t> dims(ctx.shape(bytes).dims().begin(), ctx.shape(bytes).dims().end());
  dims.push_back(static_cast<int64_t>(length / element));
  WEFT_ASSIGN_OR_RETURN(weft::Shape shape, AtPort(bytes, weft::Shape::Make(dims)));
  WEFT_ASSIGN_OR_RETURN(weft::Tensor tensor, ctx.Allocate(p.dtype, std::move(shape)));
  auto* to = static_cast<std::byte*>(tensor.data());
  const int64_t grain = 1 + (int64_t{1} << 18) / static_cast<int64_t>(length + 1);
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(strings.size()), grain, [&](int64_t i) {
    std::byte* row = to + static_cast<size_t>(i) * length;
    constexpr int64_t kTile = int64_t{1} << 20;  // bytes; a multiple of every word
    ctx.workers().For(static_cast<int64_t>(length), kTile, [&](int64_t first, int64_t last) {
      const auto size = static_cast<size_t>(last - first);
      std::memcpy(row + first, strings[i].data() + first, size);
      if (p.reverse) Reverse(row + first, size, p.word);
      if (p.dtype == DType::kBool) MakeBools(row + first, size);
    });
  });
  return Emitted(ctx, output, std::move(tensor));
};

}  // namespace

BlockDef DecodeRaw() {
  return Block("DecodeRaw", "The bytes of strings as numbers.")
      .Ports(bytes, output)
      .Attrs(out_type, little_endian)
      .Types("out_type", kRawTypes)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
