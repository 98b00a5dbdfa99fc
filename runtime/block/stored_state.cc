#include "weft/block/stored_state.h"

#include <cstring>

namespace weft {
namespace {

Status Short(std::string_view what, uint64_t needed, uint64_t found) {
  return DataLoss("needs ", needed, " bytes of ", what, ", found ", found);
}

}  // namespace

void AppendElements(const Tensor& tensor, std::string& to) {
  if (tensor.dtype() != DType::kString) {
    to.append(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
    return;
  }
  for (const String& text : tensor.values<String>()) {
    const uint64_t size = text.size();
    to.append(reinterpret_cast<const char*>(&size), sizeof size);
    to.append(text);
  }
}

Status ReadElements(std::string_view bytes, Tensor& to, const std::shared_ptr<MemoryBudget>& budget) {
  if (to.dtype() != DType::kString) {
    const auto needed = static_cast<uint64_t>(to.bytes());
    if (bytes.size() != needed) return Short("elements", needed, bytes.size());
    if (needed > 0) std::memcpy(to.data(), bytes.data(), bytes.size());
    if (to.dtype() == DType::kBool) {
      for (uint8_t& byte : std::span(static_cast<uint8_t*>(to.data()), bytes.size())) byte = byte != 0;
    }
    return {};
  }
  for (String& text : to.values<String>()) {
    uint64_t size = 0;
    if (bytes.size() < sizeof size) return Short("a string's length", sizeof size, bytes.size());
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size > bytes.size()) return Short("a string", size, bytes.size());
    WEFT_ASSIGN_OR_RETURN(text, String::Uninitialized(size, budget));
    if (size > 0) std::memcpy(text.mutable_data(), bytes.data(), size);
    bytes.remove_prefix(size);
  }
  return bytes.empty() ? Status() : DataLoss("needs the elements' end, found ", bytes.size(), " bytes more");
}

void StateWriter::Put(uint64_t number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }

void StateWriter::PutText(std::string_view text) {
  Put(text.size());
  bytes_.append(text);
}

Status StateWriter::PutTensor(const Tensor& tensor) {
  if (tensor.dtype() == DType::kResource) return Unsupported("handles cannot be saved");
  PutText(DTypeName(tensor.dtype()));
  Put(static_cast<uint64_t>(tensor.shape().rank()));
  for (int64_t dim : tensor.shape().dims()) PutSigned(dim);
  const size_t start = bytes_.size();
  Put(0);
  AppendElements(tensor, bytes_);
  const uint64_t size = bytes_.size() - start - sizeof(uint64_t);
  std::memcpy(bytes_.data() + start, &size, sizeof size);
  return {};
}

Result<uint64_t> StateReader::Number() {
  uint64_t number = 0;
  if (bytes_.size() < sizeof number) return Short("a number", sizeof number, bytes_.size());
  std::memcpy(&number, bytes_.data(), sizeof number);
  bytes_.remove_prefix(sizeof number);
  return number;
}

Result<int64_t> StateReader::Signed() {
  WEFT_ASSIGN_OR_RETURN(const uint64_t number, Number());
  return static_cast<int64_t>(number);
}

Result<uint64_t> StateReader::NumberUpTo(uint64_t most) {
  WEFT_ASSIGN_OR_RETURN(const uint64_t number, Number());
  if (number > most) return DataLoss("needs a number of at most ", most, ", found ", number);
  return number;
}

Result<std::string> StateReader::Text() {
  WEFT_ASSIGN_OR_RETURN(const uint64_t size, Number());
  if (size > bytes_.size()) return Short("a text", size, bytes_.size());
  std::string text(bytes_.substr(0, size));
  bytes_.remove_prefix(size);
  return text;
}

Result<Tensor> StateReader::ReadTensor() {
  WEFT_ASSIGN_OR_RETURN(const std::string name, Text());
  const auto dtype = DTypeFromName(name);
  if (!dtype || *dtype == DType::kInvalid || *dtype == DType::kResource) return DataLoss("needs the name of a type, found '", name, "'");
  WEFT_ASSIGN_OR_RETURN(const uint64_t rank, NumberUpTo(kMaxRank));
  std::vector<int64_t> dims(rank);
  for (int64_t& dim : dims) {
    WEFT_ASSIGN_OR_RETURN(dim, Signed());
  }
  auto shape = Shape::Make(dims);
  if (!shape.ok()) return DataLoss("needs a tensor's shape: ", shape.status().message());
  WEFT_ASSIGN_OR_RETURN(const uint64_t size, Number());
  if (size > bytes_.size()) return Short("a tensor", size, bytes_.size());
  // Checked before memory is allocated for the shape.
  const uint64_t least = *dtype == DType::kString ? sizeof(uint64_t) : ElementSize(*dtype);
  if (static_cast<uint64_t>(shape->count()) > size / least) return Short("a tensor's elements", static_cast<uint64_t>(shape->count()), size / least);
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(*dtype, std::move(*shape), budget_));
  WEFT_RETURN_IF_ERROR(ReadElements(bytes_.substr(0, size), tensor, budget_));
  bytes_.remove_prefix(size);
  return tensor;
}

Status StateReader::End() const {
  return bytes_.empty() ? Status() : DataLoss("needs the state's end, found ", bytes_.size(), " bytes more");
}

}  // namespace weft
