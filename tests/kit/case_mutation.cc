#include "tests/kit/case_mutation.h"

#include <limits>

#include "weft/base/float16.h"

namespace weft::fuzz {
namespace {

constexpr DType kTypes[] = {DType::kFloat,   DType::kDouble, DType::kInt32,     DType::kInt64,      DType::kHalf,   DType::kBFloat16, DType::kUInt8,
                            DType::kInt8,    DType::kUInt16, DType::kInt16,     DType::kUInt32,     DType::kUInt64, DType::kBool,     DType::kString,
                            DType::kQInt8,   DType::kQUInt8, DType::kComplex64, DType::kComplex128, DType::kQInt32};

template <class T>
T ExtremeValue(std::mt19937& random) {
  if constexpr (std::is_same_v<T, bool>) return random() % 2 == 0;
  else if constexpr (std::is_same_v<T, String>) return random() % 3 == 0 ? std::string() : std::string("\xff\0%s{", 5);
  else if constexpr (Complex<T>) return T(std::numeric_limits<typename T::value_type>::infinity(), std::numeric_limits<typename T::value_type>::quiet_NaN());
  else if constexpr (Float<T>) {
    constexpr double kValues[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-45, 1e38, -1e38, 3e9, -1.0, 1e300, 0.5};
    return static_cast<T>(static_cast<float>(kValues[random() % std::size(kValues)]));
  } else if constexpr (Integer<T>) {
    constexpr int64_t kValues[] = {-1, 0, 1, 2, 1 << 20, int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62};
    if (random() % 3 == 0) return random() % 2 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return static_cast<T>(kValues[random() % std::size(kValues)]);
  } else {
    return T();
  }
}

Tensor AnyTensor(DType dtype, const Shape& shape, std::mt19937& random) {
  Tensor tensor = Tensor::Allocate(dtype, shape).value();
  Dispatch(dtype, kAllTypes, [&]<class T>() {
    for (T& value : tensor.values<T>()) {
      if (random() % 8 == 0) value = ExtremeValue<T>(random);
      else if constexpr (Integer<T> || Float<T>) value = static_cast<T>(static_cast<int>(random() % 4));
      else if constexpr (std::is_same_v<T, bool>) value = random() % 2 == 0;
      else if constexpr (std::is_same_v<T, String>) value = Cat(random() % 10);
    }
  });
  return tensor;
}

// A message, a table or a text that is not quite what it was: a byte changed or added, a piece gone or there twice.
String Damaged(const String& from, std::mt19937& random) {
  std::string text(from.view());
  if (text.empty()) return ExtremeValue<String>(random);
  for (uint32_t slips = 1 + random() % 3; slips > 0 && !text.empty(); --slips) {
    // The head of a file says how the rest is read.
    const size_t head = random() % 3 == 0 ? std::min<size_t>(text.size(), 64) : text.size(), at = random() % head, size = 1 + random() % (text.size() - at);
    switch (random() % 6) {
      case 0: text.resize(at); break;
      case 1: text[at] = static_cast<char>(random()); break;
      case 2: text[at] = static_cast<char>(text[at] + (random() % 2 == 0 ? 1 : -1)); break;
      case 3: text.insert(at, 1, static_cast<char>(random() % 3 == 0 ? 0xff : random())); break;
      case 4: text.erase(at, size); break;
      default: text.insert(at, text, at, size);
    }
  }
  return text;
}

Tensor WithExtremes(const Tensor& tensor, std::mt19937& random) {
  if (tensor.count() == 0) return tensor;
  Tensor changed = tensor.Clone().value();
  Dispatch(tensor.dtype(), kAllTypes, [&]<class T>() {
    auto values = changed.values<T>();
    for (int i = 1 + static_cast<int>(random() % 3); i > 0; --i) {
      T& value = values[random() % values.size()];
      if constexpr (std::is_same_v<T, String>) value = random() % 4 == 0 ? ExtremeValue<T>(random) : Damaged(value, random);
      else value = ExtremeValue<T>(random);
    }
  });
  return changed;
}

// Axes of any length, with a 0 among them at any place.
std::vector<int64_t> EmptyDims(std::mt19937& random) {
  std::vector<int64_t> dims(1 + random() % 5);
  for (int64_t& dim : dims) dim = random() % 3 == 0 ? int64_t{1} << (random() % 63) : 1 + static_cast<int64_t>(random() % 3);
  dims[random() % dims.size()] = 0;
  return dims;
}

// One long axis at any place among short ones.
std::vector<int64_t> LongDims(std::mt19937& random) {
  std::vector<int64_t> dims(1 + random() % 5, 1);
  dims[random() % dims.size()] = int64_t{1} << (random() % 17);
  dims[random() % dims.size()] += static_cast<int64_t>(random() % 2);
  return dims;
}

// Another rank or size; an empty one may have axes of any length.
Shape AnotherShape(const Shape& shape, std::mt19937& random) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  switch (random() % 8) {
    case 0: dims.insert(dims.begin() + static_cast<int64_t>(random() % (dims.size() + 1)), 1 + random() % 2); break;
    case 1: if (!dims.empty()) dims.erase(dims.begin() + static_cast<int64_t>(random() % dims.size())); break;
    case 2: if (!dims.empty()) dims[random() % dims.size()] = 0; break;
    case 3: dims = EmptyDims(random); break;
    case 4: dims.assign(random() % 9, 1); break;
    case 5: dims = LongDims(random); break;
    case 6: if (!dims.empty()) dims[random() % dims.size()] = int64_t{1} << (random() % 63), dims[random() % dims.size()] = 0; break;
    default: if (!dims.empty()) dims[random() % dims.size()] += static_cast<int64_t>(random() % 3) - 1;
  }
  auto made = Shape::Make(dims);
  return made.ok() && made->count() < 100000 ? *made : Shape{0};
}

void MutateInput(cases::TestCase& test, std::mt19937& random) {
  if (test.inputs.empty()) return;
  auto pick = [&] { return std::next(test.inputs.begin(), static_cast<long>(random() % test.inputs.size())); };
  auto port = pick();
  std::vector<Tensor>& values = port->second.values;
  if (values.empty() || random() % 20 == 0) {
    values.push_back(AnyTensor(kTypes[random() % std::size(kTypes)], Shape{2}, random));
    return;
  }
  Tensor& value = values[random() % values.size()];
  switch (random() % 10) {
    case 0: test.inputs.erase(port); break;
    case 1: values.push_back(Tensor(value)); break;
    case 2: values.pop_back(); break;
    case 3: {
      std::vector<Tensor>& others = pick()->second.values;
      if (!others.empty()) std::swap(value, others.front());
      break;
    }
    case 4: value = AnyTensor(kTypes[random() % std::size(kTypes)], value.shape(), random); break;
    case 5:
    case 6: value = AnyTensor(value.dtype(), AnotherShape(value.shape(), random), random); break;
    case 7: value = AnyTensor(value.dtype(), value.shape(), random); break;
    default: value = WithExtremes(value, random);
  }
}

// Another number somewhere, or a piece of the text gone.
void MutateAttrs(cases::TestCase& test, std::mt19937& random) {
  static const std::vector<std::string> kNumbers = {"0", "-1", "1", "2", "7", "2147483647", "-2147483648", "9223372036854775807", "1000000", "nan", "inf", "1e38", "-0.0"};
  std::string& text = test.attrs;
  std::vector<size_t> digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_' || text[i - 1] == '.');
    if (std::isdigit(static_cast<unsigned char>(text[i])) && !inside) digits.push_back(i);
  }
  if (digits.empty() || random() % 6 == 0) {
    const size_t end = text.find(';');
    if (end != std::string::npos) text.erase(0, end + 1);
    return;
  }
  const size_t at = digits[random() % digits.size()];
  size_t end = at;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.')) ++end;
  text.replace(at, end - at, kNumbers[random() % kNumbers.size()]);
}

}  // namespace

cases::TestCase Mutated(cases::TestCase test, std::mt19937& random) {
  for (uint32_t slips = 1 + random() % 3; slips > 0; --slips) {
    if (random() % 4 == 0) MutateAttrs(test, random);
    else MutateInput(test, random);
  }
  return test;
}

}  // namespace weft::fuzz
