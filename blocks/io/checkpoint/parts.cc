#include "blocks/io/checkpoint/parts.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks::checkpoint {
namespace {

/// Takes what comes before `end` off the front, and the end with it.
std::string_view TakeUntil(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view first = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return first;
}

bool ParseSize(std::string_view text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool ParseSlice(std::string_view text, TensorSlice& slice) {
  for (bool more = true; more;) {
    more = text.find(':') != std::string_view::npos;
    std::string_view extent = TakeUntil(text, ':');
    int64_t start = 0, length = -1;
    if (extent != "-") {
      const std::string_view first = TakeUntil(extent, ',');
      if (!ParseSize(first, start) || !ParseSize(extent, length) || length == 0) return false;
    }
    slice.starts.push_back(start);
    slice.lengths.push_back(length);
  }
  return true;
}

struct Overlap {
  size_t piece;
  Box box;
};

Status CheckCovered(const PartsRead& from, const std::vector<Overlap>& overlaps, const Shape& wanted) {
  const auto needed = static_cast<uint64_t>(wanted.count());
  uint64_t held = 0;
  for (const Overlap& overlap : overlaps) {
    const auto count = static_cast<uint64_t>(overlap.box.shape().count());
    if (count > needed - held) return DataLoss("needs parts of tensor '", from.name, "' that do not overlap, found some that do");
    held += count;
  }
  if (held < needed) {
    return InvalidArgument("needs all ", needed, " elements of tensor '", from.name, "', found ", held)
        .WithHint("name all files of the checkpoint, as in 'model-*-of-00002'");
  }
  return {};
}

/// Before so much memory is asked for.
Status CheckHeld(const PartsRead& from, const Shape& shape) {
  if (static_cast<uint64_t>(shape.count()) <= from.most_elements) return {};
  return DataLoss("needs a checkpoint that holds tensor '", from.name, "' of shape ", from.whole, ", found one too small for it");
}

}  // namespace

Result<PartSpec> ParsePartSpec(std::string_view text) {
  std::vector<int64_t> dims;
  TensorSlice slice;
  bool good = text.find(' ') != std::string_view::npos;
  for (std::string_view rest = text; good && !rest.empty();) {
    const bool last = rest.find(' ') == std::string_view::npos;
    const std::string_view word = TakeUntil(rest, ' ');
    good = last ? ParseSlice(word, slice) : ParseSize(word, dims.emplace_back()) && !rest.empty() && dims.size() <= kMaxRank;
  }
  if (!good) return InvalidArgument("needs a shape and a part of it, as in '4 3 0,2:-', found '", text, "'");
  WEFT_ASSIGN_OR_RETURN(Shape whole, Shape::Make(dims));
  if (!BoxOf(slice, whole)) return InvalidArgument("needs a part inside of the shape ", whole, ", found '", text, "'");
  return PartSpec{std::move(whole), std::move(slice)};
}

Status CheckNames(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> by_name;
  std::set<std::string> keys;
  const auto twice = [](const NamedTensor& named) {
    return InvalidArgument("needs names that differ, or parts that do, found '", named.name, "' twice");
  };
  for (const NamedTensor& named : tensors) {
    if (!keys.insert(SliceKey(named.name, named.slice())).second) return twice(named);
    by_name.push_back(&named);
  }
  std::sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (size_t i = 1; i < by_name.size(); ++i) {
    const NamedTensor &a = *by_name[i - 1], &b = *by_name[i];
    if (a.name != b.name) continue;
    if (!a.part || !b.part) return twice(a);
    if (a.tensor.dtype() == b.tensor.dtype() && a.whole() == b.whole()) continue;
    return InvalidArgument("needs parts of one tensor under the name '", a.name, "', found ", a.tensor.dtype(), " ", a.whole(), " and ",
                           b.tensor.dtype(), " ", b.whole());
  }
  return {};
}

Result<Tensor> ReadParts(const PartsRead& from, const TensorSlice& part, size_t pieces, FunctionRef<const Box&(size_t)> box,
                         FunctionRef<Status(size_t, void*)> read) {
  const auto wanted = BoxOf(part, from.whole);
  if (!wanted) return InvalidArgument("needs a part inside tensor '", from.name, "' of shape ", from.whole, ", found one that is not");
  std::vector<Overlap> overlaps;
  for (size_t k = 0; k < pieces; ++k) {
    if (k % 1024 == 1023 && from.workers != nullptr && from.workers->Stopped()) return kernels::RunStopped();
    if (auto shared = Intersect(box(k), *wanted)) overlaps.push_back({k, std::move(*shared)});
  }
  WEFT_RETURN_IF_ERROR(CheckCovered(from, overlaps, wanted->shape()));
  WEFT_RETURN_IF_ERROR(CheckHeld(from, wanted->shape()));
  WEFT_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(from.dtype, wanted->shape(), from.budget));
  if (overlaps.size() == 1 && box(overlaps[0].piece) == *wanted) {
    WEFT_RETURN_IF_ERROR(read(overlaps[0].piece, result.data()));
    return result;
  }
  const size_t size = ElementSize(from.dtype);
  std::vector<bool> filled(static_cast<size_t>(result.count()));
  bool repeated = false, stopped = false;
  for (const Overlap& overlap : overlaps) {
    if (from.workers != nullptr && from.workers->Stopped()) return kernels::RunStopped();
    const Box& held = box(overlap.piece);
    WEFT_RETURN_IF_ERROR(CheckHeld(from, held.shape()));
    WEFT_ASSIGN_OR_RETURN(Tensor piece, Tensor::Allocate(from.dtype, held.shape(), from.budget));
    WEFT_RETURN_IF_ERROR(read(overlap.piece, piece.data()));
    int64_t since_look = 0;
    const auto copy = [&](int64_t at, int64_t to, int64_t count) {
      CopyElements(from.dtype, static_cast<const char*>(piece.data()) + static_cast<size_t>(at) * size,
                   static_cast<char*>(result.data()) + static_cast<size_t>(to) * size, count);
      for (int64_t i = to; i < to + count; ++i) {
        repeated = repeated || filled[static_cast<size_t>(i)];
        filled[static_cast<size_t>(i)] = true;
      }
      if ((since_look += count) < kernels::kItemsBetweenLooks) return;
      since_look = 0;
      stopped = from.workers != nullptr && from.workers->Stopped();
    };
    ForEachRun(overlap.box, held, *wanted, [&](int64_t at, int64_t to, int64_t count) {
      for (int64_t done = 0; done < count && !stopped; done += kernels::kItemsBetweenLooks) {
        copy(at + done, to + done, std::min(count - done, kernels::kItemsBetweenLooks));
      }
    });
    if (stopped) return kernels::RunStopped();
    if (repeated) return DataLoss("needs parts of tensor '", from.name, "' that do not overlap, found some that do");
  }
  return result;
}

}  // namespace weft::blocks::checkpoint
