#include "tools/serve/tensor.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "tools/serve/elements.h"
#include "tools/serve/encode.h"

namespace weft::serve {
namespace {

int64_t SliceNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ApiError(400, "invalid_argument", "'" + std::string(text) + "' is no part of a slice", "3, a:b, a:b:step or :, one for each axis, with commas");
  }
  return number;
}

AxisSlice ParseAxis(std::string_view text) {
  AxisSlice axis;
  if (text.find(':') == std::string_view::npos) {
    axis.start = SliceNumber(text);
    axis.drops = true;
    return axis;
  }
  std::optional<int64_t> parts[3];
  for (int k = 0; k < 3; ++k) {
    const size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (!part.empty()) parts[k] = SliceNumber(part);
    if (colon == std::string_view::npos) break;
    if (k == 2) SliceNumber(text);
    text.remove_prefix(colon + 1);
  }
  axis.start = parts[0];
  axis.stop = parts[1];
  axis.step = parts[2].value_or(1);
  if (axis.step == 0 || axis.step == std::numeric_limits<int64_t>::min()) throw ApiError(400, "invalid_argument", "the step of a slice must not be 0");
  return axis;
}

/// Where the axis starts and how many elements are taken, as numpy counts.
std::pair<int64_t, int64_t> Resolve(const AxisSlice& axis, int64_t size) {
  if (axis.drops) {
    const int64_t index = *axis.start < 0 ? *axis.start + size : *axis.start;
    if (index < 0 || index >= size) {
      throw ApiError(400, "out_of_range", "the slice asks for element " + std::to_string(*axis.start) + " of an axis of size " + std::to_string(size));
    }
    return {index, 1};
  }
  const bool forward = axis.step > 0;
  const auto clamp = [&](std::optional<int64_t> at, int64_t otherwise) {
    if (!at) return otherwise;
    const int64_t index = *at < 0 ? *at + size : *at;
    return forward ? std::clamp<int64_t>(index, 0, size) : std::clamp<int64_t>(index, -1, size - 1);
  };
  const int64_t start = clamp(axis.start, forward ? 0 : size - 1), stop = clamp(axis.stop, forward ? size : -1);
  const int64_t span = forward ? stop - start : start - stop;
  const int64_t step = forward ? axis.step : -axis.step;
  return {start, span <= 0 ? 0 : (span - 1) / step + 1};
}

}  // namespace

std::vector<AxisSlice> ParseSlice(std::string_view text) {
  std::vector<AxisSlice> slice;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    slice.push_back(ParseAxis(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (slice.size() > WEFT_MAX_RANK) throw ApiError(400, "invalid_argument", "the slice has more parts than a value has axes");
  }
  return slice;
}

int64_t Tensor::count() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

bool Tensor::dense() const {
  int64_t expected = strings != nullptr ? 1 : static_cast<int64_t>(weft_dtype_size(dtype));
  for (size_t k = shape.size(); k-- > 0;) {
    if (shape[k] != 1 && strides[k] != expected) return false;
    expected *= shape[k];
  }
  return true;
}

namespace {

Tensor Make(int32_t dtype, int32_t rank, const int64_t* shape, const int64_t* strides, const void* data, const weft_view* strings) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.data = static_cast<const char*>(data);
  tensor.shape.assign(shape, shape + rank);
  tensor.strings = dtype == WEFT_STRING ? strings : nullptr;
  if (tensor.strings == nullptr && strides != nullptr) {
    tensor.strides.assign(strides, strides + rank);
    return tensor;
  }
  tensor.strides.assign(static_cast<size_t>(rank), 1);
  for (size_t k = tensor.shape.size(); k-- > 1;) tensor.strides[k - 1] = tensor.strides[k] * tensor.shape[k];
  return tensor;
}

}  // namespace

Tensor TensorOf(const weft_view* view, const weft_view_info& info) {
  return Make(info.dtype, info.rank, info.shape, info.strides, info.data, view);
}

Tensor TensorOf(const weft_result& result) {
  return Make(result.dtype, result.rank, result.shape, result.strides, result.data, nullptr);
}

Tensor Sliced(Tensor tensor, const std::vector<AxisSlice>& slice) {
  if (slice.size() > tensor.shape.size()) {
    throw ApiError(400, "out_of_range", "the slice has " + std::to_string(slice.size()) + " parts, the value " + std::to_string(tensor.shape.size()) + " axes");
  }
  Tensor part = tensor;
  part.shape.clear();
  part.strides.clear();
  for (size_t k = 0; k < tensor.shape.size(); ++k) {
    const AxisSlice axis = k < slice.size() ? slice[k] : AxisSlice();
    const auto [start, count] = Resolve(axis, tensor.shape[k]);
    if (count > 0) {
      if (part.data != nullptr) part.data += start * tensor.strides[k];
      part.first_string += start * tensor.strides[k];
    }
    if (axis.drops) continue;
    part.shape.push_back(count);
    part.strides.push_back(count > 1 ? tensor.strides[k] * axis.step : tensor.strides[k]);
  }
  return part;
}

int64_t OwnedBuffer::held_bytes() const {
  size_t held = sizeof(OwnedBuffer) + shape.capacity() * sizeof(int64_t) + bytes.capacity();
  held += strings.capacity() * sizeof(std::string) + string_views.capacity() * sizeof(weft_bytes);
  for (const std::string& text : strings) held += text.capacity() >= sizeof text ? text.capacity() : 0;  // shorter ones lie in the object
  return static_cast<int64_t>(held);
}

std::string DenseBytes(const Tensor& tensor, int64_t most) {
  const size_t size = weft_dtype_size(tensor.dtype);
  const int64_t count = std::min(tensor.count(), most);
  if (size == 0 || count == 0) return "";
  if (tensor.dense()) return std::string(tensor.data, static_cast<size_t>(count) * size);
  std::string bytes(static_cast<size_t>(count) * size, '\0');
  size_t at = 0;
  ForEachOffset(tensor, count, [&](int64_t offset) {
    std::memcpy(bytes.data() + at, tensor.data + offset, size);
    at += size;
  });
  return bytes;
}

std::string Frame(Json header, const std::vector<KeyedTensor>& tensors) {
  std::vector<std::string> parts;
  for (const KeyedTensor& keyed : tensors) parts.push_back(DenseBytes(*keyed.tensor, std::numeric_limits<int64_t>::max()));
  const auto describe = [&](size_t offset) {
    Json list = Json::array();
    for (size_t k = 0; k < tensors.size(); ++k) {
      list.push_back({{"key", tensors[k].key}, {"dtype", weft_dtype_name(tensors[k].tensor->dtype)}, {"shape", tensors[k].tensor->shape},
                      {"offset", offset}, {"bytes", parts[k].size()}});
      offset += (parts[k].size() + 7) / 8 * 8;
    }
    header["tensors"] = std::move(list);
    return Dump(header);
  };
  // The header says where it ends itself: room for longer numbers is taken first.
  size_t start = (4 + describe(0).size() + tensors.size() * 20 + 7) / 8 * 8;
  std::string text = describe(start);
  text.resize(start - 4, ' ');
  const uint32_t length = static_cast<uint32_t>(text.size());
  std::string frame;
  for (int k = 0; k < 4; ++k) frame += static_cast<char>((length >> (8 * k)) & 255u);
  frame += text;
  for (const std::string& part : parts) {
    frame += part;
    frame.resize((frame.size() + 7) / 8 * 8, '\0');
  }
  return frame;
}

}  // namespace weft::serve
