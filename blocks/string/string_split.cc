// StringSplit: the parts of strings between delimiters, as a sparse matrix.
#include <array>

#include "blocks/limits.h"
#include "blocks/string/elements.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_STRING", "[N]: the strings to split"};
constexpr In<1> delimiter{"delimiter", "DT_STRING", "a scalar: each of its bytes separates; empty: every byte is a part of its own"};
constexpr Out<0> indices{"indices", "DT_INT64", "[parts, 2]: of each part, the string and its place among the parts of that"};
constexpr Out<1> values{"values", "DT_STRING", "[parts]: the parts, string after string"};
constexpr Out<2> shape{"shape", "DT_INT64", "[2]: N, and the most parts that a string has"};
constexpr Attr<bool> skip_empty{"skip_empty", "true", "leave out parts without bytes; an empty string never has a part"};

Result<bool> Plan(PlanContext& ctx) {
  if (ctx.shape(input).rank() != 1) return ctx.Error(input, "needs a vector, found shape ", ctx.shape(input));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, delimiter));
  ctx.set_unknown(indices, 0, PartialShape::Make({-1, 2}).value());
  ctx.set_unknown(values, 0, PartialShape::Make({-1}).value());
  ctx.set(shape, Shape{2});
  return ctx.attr(skip_empty);
}

/// Where strings are split.
class Splitter {
 public:
  Splitter(std::string_view delimiters, bool skip_empty)
      : every_byte_(delimiters.empty()), skip_empty_(skip_empty), one_(delimiters.size() == 1), first_(delimiters.empty() ? '\0' : delimiters[0]) {
    for (char byte : delimiters) separates_[static_cast<unsigned char>(byte)] = true;
  }
  /// Calls take(part) for the parts of a text, in their order, until it returns false or the run is to end.
  void operator()(std::string_view text, kernels::StopCheck& stop, const auto& take) const {
    if (every_byte_) {
      for (size_t i = 0; i < text.size() && !stop() && take(text.substr(i, 1)); ++i) {}
      return;
    }
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = EndOfPart(text, begin, stop);
      if ((end > begin || !skip_empty_) && !take(text.substr(begin, end - begin))) return;
      // A delimiter at the end of the text is followed by an empty part.
      if (end + 1 == text.size() && !skip_empty_ && !take(text.substr(end + 1))) return;
      if (stop()) return;
      begin = end + 1;
    }
  }

  int64_t Count(std::string_view text, kernels::StopCheck& stop) const {
    int64_t count = 0;
    if (!one_ || text.empty()) {
      (*this)(text, stop, [&](std::string_view) { return ++count > 0; });
      return count;
    }
    // A part begins where no delimiter follows one, or where any byte follows one; the loop has no branches.
    count = skip_empty_ ? text[0] != first_ : 1 + (text[0] == first_);
    constexpr size_t kPiece = size_t{1} << 20;
    for (size_t begin = 1; begin < text.size() && !stop(kPiece / 64); begin += kPiece) {
      const size_t end = std::min(text.size(), begin + kPiece);
      uint32_t found = 0;
      if (skip_empty_) {
        for (size_t i = begin; i < end; ++i) found += (text[i - 1] == first_) & (text[i] != first_);
      } else {
        for (size_t i = begin; i < end; ++i) found += text[i] == first_;
      }
      count += found;
    }
    return count;
  }

 private:
  /// The next delimiter, or the end of the text.
  size_t EndOfPart(std::string_view text, size_t at, kernels::StopCheck& stop) const {
    constexpr size_t kPiece = size_t{1} << 17;
    for (;;) {
      const size_t piece = std::min(text.size(), at + kPiece);
      if (one_) {
        const void* found = std::memchr(text.data() + at, first_, piece - at);
        at = found == nullptr ? piece : static_cast<size_t>(static_cast<const char*>(found) - text.data());
      }
      while (at < piece && !separates_[static_cast<unsigned char>(text[at])]) ++at;
      if (at < piece || at == text.size() || stop(kPiece)) return at;
    }
  }

  const bool every_byte_, skip_empty_, one_;
  const char first_;
  std::array<bool, 256> separates_{};
};

struct Parts {
  Tensor firsts;  // of each string, how many parts come before its own; the number of all at the end
  int64_t most = 0;
  int64_t bytes = 0;  // of all strings

  int64_t* first() { return firsts.values<int64_t>().data(); }
  int64_t count() { return firsts.values<int64_t>().back(); }
};

Result<Parts> CountParts(const Splitter& split, std::span<const String> texts, ProduceContext& ctx) {
  Parts parts;
  const auto rows = static_cast<int64_t>(texts.size());
  WEFT_ASSIGN_OR_RETURN(parts.firsts, ctx.Allocate(DType::kInt64, Shape{rows + 1}));
  int64_t* first = parts.first();
  first[0] = 0;
  WEFT_RETURN_IF_ERROR(ForElements(ctx.workers(), rows, [&](int64_t i, kernels::StopCheck& stop) -> Status {
    first[i + 1] = split.Count(texts[static_cast<size_t>(i)], stop);
    return {};
  }));
  if (ctx.cancelled()) return kernels::RunStopped();  // not every string was counted
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < rows; ++i) {
    if (stop()) return kernels::RunStopped();
    parts.most = std::max(parts.most, first[i + 1]);
    parts.bytes += static_cast<int64_t>(texts[static_cast<size_t>(i)].size());
    first[i + 1] += first[i];
  }
  return parts;
}

constexpr auto Run = [](const bool& skips, ProduceContext& ctx) -> Status {
  const auto texts = ctx.in<String>(input);
  const Splitter split(ctx.in<String>(delimiter)[0], skips);
  WEFT_ASSIGN_OR_RETURN(Parts parts, CountParts(split, texts, ctx));
  const auto rows = static_cast<int64_t>(texts.size());
  WEFT_ASSIGN_OR_RETURN(Tensor where, ctx.Allocate(DType::kInt64, Shape{parts.count(), 2}));
  WEFT_ASSIGN_OR_RETURN(Tensor found, ctx.Allocate(DType::kString, Shape{parts.count()}));
  // What the parts take at most, counted at once: counting each of them would take longer than making them.
  MemoryCharge charge(ctx.services().budget);
  constexpr int64_t kPerByte = 4;
  constexpr size_t kAtOnce = 4096;  // so short a part is copied without asking whether to stop
  WEFT_RETURN_IF_ERROR(charge.Hold(kPerByte * parts.bytes));
  WEFT_RETURN_IF_ERROR(ForElements(ctx.workers(), rows, [&](int64_t i, kernels::StopCheck& stop) -> Status {
    const int64_t first = parts.first()[i];
    int64_t *place = where.values<int64_t>().data() + 2 * first, number = 0;
    String* to = found.values<String>().data() + first;
    Status status;
    split(texts[static_cast<size_t>(i)], stop, [&](std::string_view part) {
      place[2 * number] = i;
      place[2 * number + 1] = number;
      if (part.size() <= kAtOnce) {
        to[number++] = String(part);
        return true;
      }
      auto made = MakeString(part, nullptr, stop);
      if (made.ok()) to[number++] = std::move(*made);
      else status = std::move(made).status();
      return status.ok();
    });
    return status;
  }));
  return Emitted(ctx, indices, std::move(where), values, std::move(found), shape, Tensor::Of<int64_t>({rows, parts.most}));
};

}  // namespace

BlockDef StringSplit() {
  return Block("StringSplit", "Splits strings at delimiters, into a sparse matrix with a row for each string.")
      .Ports(input, delimiter, indices, values, shape)
      .Attrs(skip_empty)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
