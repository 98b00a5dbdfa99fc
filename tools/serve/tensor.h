// Values in the forms of the protocol: JSON, frames, .npy; slices and statistics of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/engine.h"
#include "tools/serve/http.h"

namespace weft::serve {

/// One axis of a slice.
struct AxisSlice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
  bool drops = false;  // a single index: the axis goes
};
/// Reads "0:10,3,::2". Throws 400.
std::vector<AxisSlice> ParseSlice(std::string_view text);

/// A value of the engine, or a part of it. Keeps what it shows alive as long as the view it was made of.
struct Tensor {
  int32_t dtype = 0;
  std::vector<int64_t> shape, strides;  // strides in bytes; of strings in elements
  const char* data = nullptr;
  const weft_view* strings = nullptr;  // of DT_STRING
  int64_t first_string = 0;

  int64_t count() const;
  bool dense() const;
};

Tensor TensorOf(const weft_view* view, const weft_view_info& info);
Tensor TensorOf(const weft_result& result);
/// Throws 400 where the slice does not fit.
Tensor Sliced(Tensor tensor, const std::vector<AxisSlice>& slice);

/// The first `most` elements, row-major, without gaps. Not for strings.
std::string DenseBytes(const Tensor& tensor, int64_t most);
/// What an answer of JSON has room for.
struct JsonRoom {
  size_t bytes = SIZE_MAX;         // of elements that are yet to come
  size_t string_bytes = SIZE_MAX;  // of one string: longer ones are cut
};
struct JsonElements {
  Json list = Json::array();
  bool cut = false;  // a string is not whole
};
/// The first `most` elements as JSON, which take some of the room. Throws 413 where it is too little.
JsonElements ElementsJson(const Tensor& tensor, int64_t most, JsonRoom& room);
/// The first bytes of a text, at most so many, without a part of a character at the end.
std::string_view CutText(std::string_view text, size_t most);
/// A .npy file. Throws 501 for strings and resources; bfloat16 is widened to float32.
std::string NpyBytes(const Tensor& tensor);

/// A frame of the protocol: the header, which gets "tensors", and the tensors.
struct KeyedTensor {
  const char* key;
  const Tensor* tensor;
};
std::string Frame(Json header, const std::vector<KeyedTensor>& tensors);

/// Numbers of an element type as doubles; complex numbers by their magnitude. Empty for what has none.
bool HasNumbers(int32_t dtype);
struct Statistics {
  int64_t count = 0, nan = 0, inf = 0, zero = 0;
  double min = 0, max = 0, mean = 0, std = 0;  // of finite elements
  int64_t finite = 0;
  std::vector<int64_t> histogram;
};
Statistics StatisticsOf(const Tensor& tensor, int64_t bins);
/// The number as JSON: NaN and infinities are strings.
Json NumberJson(double value);

/// A value of a client: {"dtype", "shape", "values"}, or .npy.
struct OwnedBuffer {
  weft_buffer buffer = WEFT_BUFFER_INIT;
  std::vector<int64_t> shape;
  std::string bytes;
  std::vector<std::string> strings;
  std::vector<weft_bytes> string_views;

  /// That it takes itself. Looks at each string.
  int64_t held_bytes() const;
  int64_t counted = 0;  // of these, in a page's memory limit
};
std::unique_ptr<OwnedBuffer> BufferFromJson(const Json& value);
std::unique_ptr<OwnedBuffer> BufferFromNpy(std::string_view npy);

/// The element type by its name, "DT_FLOAT"; 0 for none.
int32_t DTypeNamed(std::string_view name);

}  // namespace weft::serve
