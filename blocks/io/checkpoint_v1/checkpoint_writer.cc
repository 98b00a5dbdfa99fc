#include "blocks/io/checkpoint_v1/checkpoint_writer.h"

#include <algorithm>
#include <map>

#include "blocks/io/checkpoint/messages.h"
#include "blocks/io/checkpoint/slice.h"
#include "blocks/io/checkpoint/table_writer.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/tensor_message.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint_v1 {

using namespace protobuf;

namespace {

// A message must be smaller than 2 GiB for TensorFlow to read it; some of that is for names and sizes.
constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);
constexpr uint64_t kFormatVersion = 1;

/// The list of all tensors, the value of the empty key. Parts of one tensor follow one another.
std::string MetaRecord(const std::vector<const NamedTensor*>& tensors) {
  std::string meta, entry, version, record;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const NamedTensor& named = *tensors[i];
    if (entry.empty()) {
      // A field that has its default value is left out.
      if (!named.name.empty()) PutBytesField(entry, 1, named.name);
      PutBytesField(entry, 2, ShapeMessage(named.whole()));
      PutVarintField(entry, 3, TypeNumber(named.tensor.dtype()));
    }
    PutBytesField(entry, 4, SliceMessage(named.slice()));
    if (i + 1 < tensors.size() && tensors[i + 1]->name == named.name) continue;
    PutBytesField(meta, 1, entry);
    entry.clear();
  }
  PutVarintField(version, 1, kFormatVersion);
  PutBytesField(meta, 2, version);
  PutBytesField(record, 1, meta);
  return record;
}

/// The bytes of the record, and of the block that it becomes, count in `charge`.
Result<std::string> TensorRecord(const NamedTensor& named, const Workers* workers, MemoryCharge& charge) {
  const Tensor& tensor = named.tensor;
  const uint64_t size = ValuesSize(tensor.dtype(), tensor.data(), tensor.count(), workers);
  if (IsStopped(workers)) return kernels::RunStopped();
  if (size > kMostBytes) {
    return InvalidArgument("tensor '", named.name, "' needs ", size, " bytes, and a version 1 checkpoint takes at most ", kMostBytes,
                           " a tensor")
        .WithHint("save it with SaveV2");
  }
  std::string head, record;
  if (!named.name.empty()) PutBytesField(head, 1, named.name);
  PutBytesField(head, 2, SliceMessage(named.slice()));
  PutBytesHead(head, 3, size);
  PutBytesHead(record, 2, head.size() + size);
  WEFT_RETURN_IF_ERROR(charge.Hold(2 * static_cast<int64_t>(record.size() + head.size() + size)));
  record.reserve(record.size() + head.size() + static_cast<size_t>(size));
  record += head;
  PutValues(record, tensor.dtype(), tensor.data(), tensor.count(), workers);
  if (IsStopped(workers)) return kernels::RunStopped();
  return record;
}

}  // namespace

Status CheckSavable(DType dtype) {
  Code code = Code::kUnsupported;
  switch (dtype) {
    case DType::kInvalid:
    case DType::kResource:
    case DType::kUInt32:
    case DType::kUInt64: code = Code::kInvalidArgument; break;
    case DType::kBFloat16:
    case DType::kQInt16:
    case DType::kQUInt16: break;
    default: return {};
  }
  return Status(code, Cat("needs a type that version 1 checkpoints have, found ", dtype)).WithHint("save it with SaveV2, or cast it");
}

Status WriteCheckpoint(AtomicFile& file, std::span<const NamedTensor> tensors, const Workers* workers,
                       const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_RETURN_IF_ERROR(CheckNames(tensors));
  std::map<std::string, const NamedTensor*> by_key;
  std::vector<const NamedTensor*> by_name;
  for (const NamedTensor& named : tensors) {
    WEFT_RETURN_IF_ERROR(CheckSavable(named.tensor.dtype()));
    by_key.emplace(SliceKey(named.name, named.slice()), &named);
    by_name.push_back(&named);
  }
  std::stable_sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  TableWriter table(file, workers);
  WEFT_RETURN_IF_ERROR(table.Add("", MetaRecord(by_name)));
  MemoryCharge charge(budget);
  for (const auto& [key, named] : by_key) {
    WEFT_ASSIGN_OR_RETURN(std::string record, TensorRecord(*named, workers, charge));
    WEFT_RETURN_IF_ERROR(table.Add(key, record));
  }
  WEFT_RETURN_IF_ERROR(table.Finish());
  return file.Commit();
}

Status WriteCheckpoint(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  WEFT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  return WriteCheckpoint(file, tensors);
}

}  // namespace weft::blocks::checkpoint_v1
