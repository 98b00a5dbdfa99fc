// Substr: a part of each string, by position and length in bytes or characters.
#include <optional>

#include "blocks/broadcast.h"
#include "blocks/kernels/index/walk.h"
#include "blocks/limits.h"
#include "blocks/string/elements.h"
#include "blocks/string/utf8.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_STRING", "of any shape that broadcasts with pos"};
constexpr In<1> pos{"pos", "T", "where the part begins; negative ones count from the end"};
constexpr In<2> len{"len", "T", "the shape of pos: how long the part is at most"};
constexpr Out<0> output{"output", "DT_STRING", "the common shape of input and pos: the parts"};
constexpr Attr<std::string> unit{"unit", "BYTE", "what positions and lengths count: bytes, or characters of UTF-8", "BYTE|UTF8_CHAR"};

struct Parameters {
  kernels::StretchedLoops<2> loops;  // of the strings and the positions
  std::vector<kernels::StretchedAxis<2>> axes;
  bool characters;
};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape &strings = ctx.shape(input), &positions = ctx.shape(pos);
  if (ctx.shape(len) != positions) return ctx.Error(len, "needs the shape of pos, ", positions, ", found ", ctx.shape(len));
  if (!Broadcasts(strings, positions)) {
    return ctx.Error(pos, "needs a shape that fits input ", strings, " (sizes equal or 1, from the last axis on), found ", positions);
  }
  WEFT_ASSIGN_OR_RETURN(Shape common, AtPort(pos, CommonShape(strings, positions)));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(common, pos.name));
  ctx.set(output, std::move(common));
  Parameters p{kernels::StretchedLoops<2>({strings.dims(), positions.dims()}), {}, ctx.attr(unit) == "UTF8_CHAR"};
  p.axes = p.loops.outer;
  if (p.loops.inner.size > 1) p.axes.push_back(p.loops.inner);
  return p;
}

struct Part {
  size_t begin, size;
};

/// Positions and lengths in bytes; none where the position is outside. A negative length takes the rest.
std::optional<Part> FindBytes(std::string_view text, int64_t position, int64_t length) {
  const auto size = static_cast<int64_t>(text.size());
  if (position < -size || position > size) return std::nullopt;
  const int64_t begin = position < 0 ? position + size : position;
  const int64_t rest = size - begin;
  return Part{static_cast<size_t>(begin), static_cast<size_t>(length < 0 ? rest : std::min(length, rest))};
}

/// The byte `count` characters after `at`, or the end; `count` is what is left of it then.
size_t Forward(std::string_view text, size_t at, int64_t& count, kernels::StopCheck& stop) {
  for (; count > 0 && at < text.size() && !stop(); --count) {
    do ++at;
    while (at < text.size() && IsTrail(text[at]));
  }
  return at;
}
size_t Back(std::string_view text, size_t at, int64_t& count, kernels::StopCheck& stop) {
  for (; count > 0 && at > 0 && !stop(); --count) {
    do --at;
    while (at > 0 && IsTrail(text[at]));
  }
  return at;
}

/// Positions and lengths in characters of UTF-8. Text that is not well-formed counts by its leading bytes. A negative length takes nothing
/// from a position that counts from the start; from the end none is left to stop before.
std::optional<Part> FindCharacters(std::string_view text, int64_t position, int64_t length, kernels::StopCheck& stop) {
  if (position >= 0) {
    int64_t left = position;
    const size_t begin = Forward(text, 0, left, stop);
    if (left > 0) return std::nullopt;
    const size_t end = Forward(text, begin, length, stop);
    return Part{begin, end - begin};
  }
  const auto size = static_cast<int64_t>(text.size());
  if (position < -size || length < 0) return std::nullopt;  // no character is shorter than a byte
  int64_t skipped = std::max<int64_t>(-position - length, 0), left = -position - skipped;
  const size_t end = Back(text, text.size(), skipped, stop);
  const size_t begin = Back(text, end, left, stop);
  if (skipped > 0 || left > 0) return std::nullopt;
  return Part{begin, end - begin};
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) -> Status {
  const auto texts = ctx.in<String>(input);
  const auto positions = ctx.in<T>(pos), lengths = ctx.in<T>(len);
  return ForStrings(ctx, ctx.out<String>(output), [&](int64_t i, kernels::StopCheck& stop) -> Result<String> {
    const kernels::Walk<kernels::StretchedAxis<2>, 2> walk(p.axes, i);
    const std::string_view text = texts[static_cast<size_t>(walk.offset(0))];
    const int64_t position = positions[static_cast<size_t>(walk.offset(1))], length = lengths[static_cast<size_t>(walk.offset(1))];
    const auto part = p.characters ? FindCharacters(text, position, length, stop) : FindBytes(text, position, length);
    if (!part) {
      if (p.characters && position < 0 && length < 0) {
        return ctx.Error(len, "needs a length of 0 or more for a position from the end, in characters, found ", length, " for output ", i);
      }
      return ctx.Error(pos, "needs a position inside of the string, found ", position, " for output ", i, ", of a string of ", text.size(),
                       " bytes");
    }
    return MakeString(text.substr(part->begin, part->size), ctx.budget(), stop);
  });
};

}  // namespace

BlockDef Substr() {
  return Block("Substr", "A part of each string, by position and length.")
      .Details("A part ends at the end of the string, where it is shorter. A negative length takes the rest in bytes (BYTE) and nothing in "
               "characters (UTF8_CHAR), where it needs a position that is not negative.")
      .Ports(input, pos, len, output)
      .Types("T", kIndices)
      .Attrs(unit)
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
