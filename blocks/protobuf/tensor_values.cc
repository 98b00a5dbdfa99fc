#include "blocks/protobuf/tensor_values.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::protobuf {
namespace {

struct TypeRow {
  DType dtype;
  uint32_t number;  // in TensorFlow's DataType
  uint32_t field;   // of TensorProto
};
constexpr TypeRow kTypes[] = {
    {DType::kFloat, 1, 5},    {DType::kDouble, 2, 6},     {DType::kInt32, 3, 7},    {DType::kUInt8, 4, 7},    {DType::kInt16, 5, 7},
    {DType::kInt8, 6, 7},     {DType::kString, 7, 8},     {DType::kComplex64, 8, 9}, {DType::kInt64, 9, 10},   {DType::kBool, 10, 11},
    {DType::kQInt8, 11, 7},   {DType::kQUInt8, 12, 7},    {DType::kQInt32, 13, 7},  {DType::kBFloat16, 14, 13}, {DType::kQInt16, 15, 7},
    {DType::kQUInt16, 16, 7}, {DType::kUInt16, 17, 7},    {DType::kComplex128, 18, 12}, {DType::kHalf, 19, 13}, {DType::kUInt32, 22, 16},
    {DType::kUInt64, 23, 17}};

/// Types whose elements lie in a message as they do in memory.
bool IsFixed(DType dtype) { return dtype == DType::kFloat || dtype == DType::kDouble || IsComplex(dtype); }
/// The size of a fixed number: a complex element is two of them.
size_t FixedSize(DType dtype) { return IsComplex(dtype) ? ElementSize(dtype) / 2 : ElementSize(dtype); }

/// Elements that are stored as varints, by what they are in memory: half and bfloat16 by their bits.
inline constexpr auto kVarints = kIntegers + kQuantized + TypeList<bool>{};
template <class F>
auto DispatchVarint(DType dtype, F&& f) {
  if (dtype == DType::kHalf || dtype == DType::kBFloat16) return f.template operator()<uint16_t>();
  return Dispatch(dtype, kVarints, std::forward<F>(f));
}

/// Signed numbers are extended to 64 bits, so that a negative one takes ten bytes.
template <class T>
uint64_t VarintOf(T value) {
  if constexpr (std::is_signed_v<T>) return static_cast<uint64_t>(static_cast<int64_t>(value));
  else return static_cast<uint64_t>(value);
}

/// Calls body(begin, end) for pieces of the elements, until the run is to end.
bool ForPieces(int64_t count, const Workers* workers, auto&& body) {
  constexpr int64_t kPiece = kernels::kItemsBetweenLooks;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    if (begin > 0 && workers != nullptr && workers->Stopped()) return false;
    body(begin, std::min(count, begin + kPiece));
  }
  return true;
}

/// Bytes of the packed elements, without tag and size.
uint64_t PackedSize(DType dtype, const void* elements, int64_t count, const Workers* workers) {
  if (IsFixed(dtype)) return static_cast<uint64_t>(count) * ElementSize(dtype);
  return DispatchVarint(dtype, [&]<class T>() {
    uint64_t size = 0;
    ForPieces(count, workers, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) size += static_cast<uint64_t>(VarintSize(VarintOf(static_cast<const T*>(elements)[i])));
    });
    return size;
  });
}

/// Whether, at this number, a run is to end: it is asked once in some thousand.
bool StopsAt(int64_t number, const Workers* workers) { return number % 16384 == 0 && workers != nullptr && workers->Stopped(); }

/// Copies the bytes of strings one after another, short ones as well as long ones, until the run is to end.
class StringCopy {
 public:
  explicit StringCopy(const Workers* workers) : workers_(workers) {}
  /// Calls take(piece) for the pieces of the bytes. False where it left.
  bool operator()(std::string_view bytes, auto&& take) {
    while (!bytes.empty()) {
      if (left_ == 0) {
        if (workers_ != nullptr && workers_->Stopped()) return false;
        left_ = kBytesBetweenLooks;
      }
      const std::string_view piece = bytes.substr(0, left_);
      take(piece);
      left_ -= piece.size();
      bytes.remove_prefix(piece.size());
    }
    return true;
  }

 private:
  static constexpr size_t kBytesBetweenLooks = size_t{1} << 22;
  const Workers* const workers_;
  size_t left_ = kBytesBetweenLooks;
};

constexpr int64_t kDamaged = -1;  // in place of a number of elements, also of a run that is to end

Result<int64_t> TakeStrings(std::string_view message, String* elements, int64_t count, const Workers* workers,
                            const std::shared_ptr<MemoryBudget>& budget) {
  int64_t found = 0, seen = 0;
  FieldReader field(message);
  StringCopy copy(workers);
  while (field.Next()) {
    if (StopsAt(++seen, workers)) return kDamaged;
    if (!field.Is(ValuesField(DType::kString), WireType::kBytes) || found++ >= count) continue;
    WEFT_ASSIGN_OR_RETURN(String text, String::Uninitialized(field.bytes().size(), budget));
    char* to = text.mutable_data();
    if (!copy(field.bytes(), [&](std::string_view piece) { to = std::copy_n(piece.data(), piece.size(), to); })) return kDamaged;
    elements[found - 1] = std::move(text);
  }
  return field.ok() ? found : kDamaged;
}

int64_t TakeFixed(std::string_view message, DType dtype, char* elements, int64_t count, const Workers* workers) {
  const size_t number_size = FixedSize(dtype);
  const WireType single = number_size == 4 ? WireType::kFixed32 : WireType::kFixed64;
  const size_t room = static_cast<size_t>(count) * ElementSize(dtype);
  size_t found = 0;
  int64_t seen = 0;
  FieldReader field(message);
  while (field.Next()) {
    if (StopsAt(++seen, workers)) return kDamaged;
    if (!field.Is(ValuesField(dtype), WireType::kBytes) && !field.Is(ValuesField(dtype), single)) continue;
    const std::string_view bytes = field.bytes();
    if (bytes.size() % number_size != 0) return kDamaged;
    const size_t taken = std::min(bytes.size(), room - std::min(found, room));
    const auto copy = [&](int64_t begin, int64_t end) {
      std::memcpy(elements + found + begin, bytes.data() + begin, static_cast<size_t>(end - begin));
    };
    if (!ForPieces(static_cast<int64_t>(taken), workers, copy)) return kDamaged;
    found += bytes.size();
  }
  return field.ok() ? static_cast<int64_t>(found / ElementSize(dtype)) : kDamaged;  // half a complex number does not count
}

template <class T>
int64_t TakeVarints(std::string_view message, uint32_t number, T* elements, int64_t count, const Workers* workers) {
  int64_t found = 0;
  auto put = [&](uint64_t value) {
    if (StopsAt(found, workers)) return false;
    if (found < count) elements[found] = static_cast<T>(value);
    ++found;
    return true;
  };
  FieldReader field(message);
  for (int64_t seen = 1; field.Next(); ++seen) {
    if (StopsAt(seen, workers)) return kDamaged;
    if (field.Is(number, WireType::kVarint)) {
      if (!put(field.varint())) return kDamaged;
    } else if (field.Is(number, WireType::kBytes)) {
      uint64_t value = 0;
      for (std::string_view rest = field.bytes(); !rest.empty();) {
        if (!TakeVarint(rest, value) || !put(value)) return kDamaged;
      }
    }
  }
  return field.ok() ? found : kDamaged;
}

}  // namespace

uint32_t TypeNumber(DType dtype) {
  const auto* row = std::ranges::find(kTypes, dtype, &TypeRow::dtype);
  return row == std::end(kTypes) ? 0 : row->number;
}

uint32_t ValuesField(DType dtype) {
  const auto* row = std::ranges::find(kTypes, dtype, &TypeRow::dtype);
  return row == std::end(kTypes) ? 0 : row->field;
}

DType TypeOfNumber(uint64_t number) {
  const auto* row = std::ranges::find(kTypes, number, &TypeRow::number);
  return row == std::end(kTypes) ? DType::kInvalid : row->dtype;
}

bool IsWholeField(uint32_t number, std::string_view bytes, const Workers& workers) {
  constexpr uint32_t kHandle = 14, kVariant = 15;
  if (number == kHandle || number == kVariant) {
    FieldReader field(bytes);
    for (int64_t seen = 1; field.Next() && !StopsAt(seen, &workers); ++seen) {}
    return field.ok();
  }
  const auto* row = std::ranges::find(kTypes, number, &TypeRow::field);
  if (row == std::end(kTypes) || row->dtype == DType::kString) return true;
  if (IsFixed(row->dtype)) return bytes.size() % FixedSize(row->dtype) == 0;
  uint64_t value = 0;
  for (int64_t seen = 1; !bytes.empty() && !StopsAt(seen, &workers); ++seen) {
    if (!TakeVarint(bytes, value)) return false;
  }
  return true;
}

uint64_t ValuesSize(DType dtype, const void* elements, int64_t count, const Workers* workers) {
  if (count == 0) return 0;
  const uint32_t field = ValuesField(dtype);
  uint64_t size = 0;
  if (dtype == DType::kString) {
    ForPieces(count, workers, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        size += BytesFieldSize(field, static_cast<const String*>(elements)[i].size());
      }
    });
    return size;
  }
  return BytesFieldSize(field, PackedSize(dtype, elements, count, workers));
}

void PutValues(std::string& out, DType dtype, const void* elements, int64_t count, const Workers* workers) {
  if (count == 0) return;
  const uint32_t field = ValuesField(dtype);
  if (dtype == DType::kString) {
    StringCopy copy(workers);
    ForPieces(count, workers, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const std::string_view text = static_cast<const String*>(elements)[i];
        PutBytesHead(out, field, text.size());
        if (!copy(text, [&](std::string_view piece) { out.append(piece); })) return;
      }
    });
    return;
  }
  PutBytesHead(out, field, PackedSize(dtype, elements, count, workers));
  if (IsFixed(dtype)) {
    const auto size = static_cast<int64_t>(ElementSize(dtype));
    ForPieces(count, workers, [&](int64_t begin, int64_t end) {
      out.append(static_cast<const char*>(elements) + begin * size, static_cast<size_t>((end - begin) * size));
    });
    return;
  }
  DispatchVarint(dtype, [&]<class T>() {
    ForPieces(count, workers, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) PutVarint(out, VarintOf(static_cast<const T*>(elements)[i]));
    });
  });
}

Result<int64_t> TakeFirstValues(std::string_view message, DType dtype, void* elements, int64_t count, const Workers* workers,
                                const std::shared_ptr<MemoryBudget>& budget) {
  if (dtype == DType::kString) return TakeStrings(message, static_cast<String*>(elements), count, workers, budget);
  if (IsFixed(dtype)) return TakeFixed(message, dtype, static_cast<char*>(elements), count, workers);
  return DispatchVarint(dtype, [&]<class T>() { return TakeVarints(message, ValuesField(dtype), static_cast<T*>(elements), count, workers); });
}

Result<bool> TakeValues(std::string_view message, DType dtype, void* elements, int64_t count, const Workers* workers,
                        const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(const int64_t found, TakeFirstValues(message, dtype, elements, count, workers, budget));
  return found == count;
}

}  // namespace weft::blocks::protobuf
