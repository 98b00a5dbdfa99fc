#include "runtime/plan/partial_shapes.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "runtime/plan/trial_inputs.h"

namespace weft {
namespace {

// Stands for an unknown size in messages: a prime, so that products of it are known as such.
constexpr int64_t kMark = 1009;
// Sizes that most blocks take. They differ enough to tell a size that follows from them: also one that is divided, cut off or rounded.
constexpr int64_t kUsual[] = {1, 2, 7, 840, 1024};
constexpr int64_t kLargest = int64_t{1} << 24;
// Before a block is refused all sizes up to this one are tried.
constexpr int64_t kMostSwept = 4096;

/// Where an unknown size is.
struct Unknown {
  size_t input;
  int axis;
};

class Trials {
 public:
  Trials(const Node& node, std::span<const PartialInput> inputs) : node_(node), inputs_(inputs), tried_(node, inputs) {
    for (size_t v = 0; v < inputs.size(); ++v) {
      dims_.push_back(inputs[v].shape.dims());
      for (int axis = 0; axis < inputs[v].shape.rank(); ++axis) {
        if (inputs[v].shape.dim(axis) < 0) unknown_.push_back({v, axis});
      }
    }
  }

  Status Plan(std::vector<PartialShape>& outputs);

 private:
  bool Try(std::span<const int64_t> sizes);
  bool TryAll(int64_t size) { return Try(std::vector<int64_t>(unknown_.size(), size)); }
  std::vector<int64_t> SizesThatCouldFit(const std::vector<int64_t>& named) const;
  void Note(const PlannedShapes& shapes);
  Status Refusal();

  const Node& node_;
  std::span<const PartialInput> inputs_;
  std::vector<std::vector<int64_t>> dims_;  // by input
  std::vector<Unknown> unknown_;
  TrialInputs tried_;
  std::optional<std::vector<PartialShape>> outputs_;  // what all that passed have in common
  Status refusal_;  // of the last that did not
};

/// What both have in common.
void Narrow(PartialShape& shape, const PartialShape& other) {
  if (!shape.known_rank() || !other.known_rank() || shape.rank() != other.rank()) {
    shape = {};
    return;
  }
  std::vector<int64_t> dims = shape.dims();
  for (int i = 0; i < other.rank(); ++i) {
    if (dims[static_cast<size_t>(i)] != other.dim(i)) dims[static_cast<size_t>(i)] = -1;
  }
  auto made = PartialShape::Make(std::move(dims));
  shape = made.ok() ? std::move(*made) : PartialShape();
}

void Trials::Note(const PlannedShapes& shapes) {
  std::vector<PartialShape> made;
  for (size_t v = 0; v < node_.output_types.size(); ++v) {
    const bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
    if (!unknown) made.push_back(v < shapes.outputs.size() ? PartialShape(shapes.outputs[v]) : PartialShape());
    else made.push_back(v < shapes.partial.size() ? shapes.partial[v] : PartialShape());
  }
  if (!outputs_) {
    outputs_ = std::move(made);
    return;
  }
  for (size_t v = 0; v < made.size(); ++v) Narrow((*outputs_)[v], made[v]);
}

bool Trials::Try(std::span<const int64_t> sizes) {
  for (size_t u = 0; u < unknown_.size(); ++u) dims_[unknown_[u].input][static_cast<size_t>(unknown_[u].axis)] = sizes[u];
  if (!tried_.Set(dims_)) return false;
  PlannedShapes planned;
  Status status = tried_.Plan(planned);
  if (status.ok()) Note(planned);
  else refusal_ = status;
  return status.ok();
}

// Small sizes, all that are named with their neighbours, and the quotients that a Reshape looks for.
std::vector<int64_t> Trials::SizesThatCouldFit(const std::vector<int64_t>& named) const {
  std::vector<int64_t> sizes(std::begin(kUsual), std::end(kUsual));
  for (int64_t size = 0; size <= 12; ++size) sizes.push_back(size);
  for (int64_t a : named) {
    sizes.insert(sizes.end(), {a - 1, a, a + 1});
    for (int64_t b : named) {
      if (a % b == 0) sizes.push_back(a / b);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Numbers that come from the mark, as "?".
std::string WithoutMarks(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    uint64_t number = 0;
    const bool read = end > i && std::from_chars(text.data() + i, text.data() + end, number).ec == std::errc();
    if (read && number > 0 && number % kMark == 0) out += '?';
    else out.append(text, i, std::max(end, i + 1) - i);
    i = std::max(end, i + 1);
  }
  return out;
}

Status Trials::Plan(std::vector<PartialShape>& outputs) {
  if (unknown_.empty()) {
    if (TryAll(0)) outputs = std::move(*outputs_);
    return {};
  }
  bool all = true;
  for (size_t i = 0; all && i < std::size(kUsual); ++i) all = TryAll(kUsual[i]);
  if (all) {
    outputs = std::move(*outputs_);
    return {};
  }
  if (unknown_.size() > 1) return {};  // there are too many pairs to try
  bool fits = false, some = false;
  for (int64_t size : SizesThatCouldFit(NamedSizes(node_, inputs_))) {
    if (!TryAll(size)) continue;
    fits = true;
    some |= size > 0;
  }
  if (some) outputs = std::move(*outputs_);  // nothing fits many blocks that say little of other sizes
  if (fits) return {};
  for (int64_t size = 0; size <= kMostSwept; ++size) {
    if (TryAll(size)) return {};
  }
  return Refusal();
}

// What the block says of the mark.
Status Trials::Refusal() {
  if (TryAll(kMark) || refusal_.ok()) return {};
  Status refused(refusal_.code(), WithoutMarks(refusal_.message()));
  return std::move(refused).WithPort(refusal_.place().port).WithHint(WithoutMarks(refusal_.hint()));
}

}  // namespace

std::vector<int64_t> NamedSizes(const Node& node, std::span<const PartialInput> inputs) {
  constexpr size_t kMost = 10;
  std::vector<int64_t> named;
  for (const PartialInput& input : inputs) {
    int64_t count = 1;
    for (int64_t dim : input.shape.dims()) {
      if (dim > 0) named.push_back(dim), count = std::min(count * std::min(dim, kLargest), kLargest);
    }
    named.push_back(count);
    if (input.info.value == nullptr || !IsInteger(input.info.value->dtype()) || input.info.value->count() > static_cast<int64_t>(kMost)) continue;
    int64_t product = 1;
    Dispatch(input.info.value->dtype(), kIntegers, [&]<class T>() {
      for (T value : input.info.value->values<T>()) {
        const auto size = static_cast<int64_t>(std::clamp(static_cast<double>(value), -1.0, static_cast<double>(kLargest)));
        if (size > 0) named.push_back(size), product = std::min(product * size, kLargest);
      }
    });
    named.push_back(product);
  }
  for (const AttrValue& attr : std::span<const AttrValue>(node.attrs)) {
    if (const int64_t* one = std::get_if<int64_t>(&attr)) named.push_back(*one);
    if (const Ints* list = std::get_if<Ints>(&attr)) named.insert(named.end(), list->begin(), list->end());
  }
  std::erase_if(named, [](int64_t size) { return size <= 0 || size > kLargest; });
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  if (named.size() > kMost) named.clear();
  return named;
}

Status PlanInPart(const Node& node, std::span<const PartialInput> inputs, std::vector<PartialShape>& outputs) {
  outputs.clear();
  for (const PartialInput& input : inputs) {
    if (!input.shape.known_rank()) return {};
  }
  return Trials(node, inputs).Plan(outputs);
}

}  // namespace weft
