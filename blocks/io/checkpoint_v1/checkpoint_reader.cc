#include "blocks/io/checkpoint_v1/checkpoint_reader.h"

#include <algorithm>

#include "blocks/io/checkpoint/messages.h"
#include "blocks/io/checkpoint/parts.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint_v1 {

using namespace protobuf;

namespace {

// Readers of formats up to this one can read what Weft and TensorFlow write.
constexpr uint64_t kFormatVersion = 1;
// Every element takes a byte at least, and compression makes blocks no more than this smaller.
constexpr uint64_t kMostElementsPerByte = 22;
constexpr uint64_t kFieldsBetweenLooks = 1024;  // of a list of tensors
// What a tensor takes in the list, and each axis of a part of it besides: where it starts and how long it is, as written and as meant.
constexpr size_t kTensorBytes = sizeof(SavedTensor) + 64, kPlacesBytes = 4 * sizeof(int64_t);

// Messages and the numbers of their fields:
//   SavedTensorSlices  1 meta (SavedTensorSliceMeta), 2 data (SavedSlice)
//   SavedTensorSliceMeta  1 tensor (SavedSliceMeta, repeated), 2 versions (VersionDef: 1 producer, 2 min_consumer)
//   SavedSliceMeta  1 name, 2 shape (TensorShapeProto), 3 type, 4 slice (TensorSliceProto, repeated)
//   SavedSlice  1 name, 2 slice, 3 data (TensorProto)

}  // namespace

Status CheckpointReader::Damaged(std::string_view what) const {
  return Status(Code::kDataLoss, Cat("needs a version 1 checkpoint, found ", what, " in '", first_file_, "'"));
}

Result<CheckpointReader> CheckpointReader::Open(const std::vector<std::filesystem::path>& files, const Workers* workers,
                                                std::shared_ptr<MemoryBudget> budget) {
  CheckpointReader reader;
  reader.workers_ = workers;
  reader.charge_ = MemoryCharge(budget);
  reader.budget_ = std::move(budget);
  for (const auto& path : files) WEFT_RETURN_IF_ERROR(reader.AddFile(path));
  return reader;
}

Status CheckpointReader::AddFile(const std::filesystem::path& path) {
  if (first_file_.empty()) first_file_ = path.native();
  WEFT_ASSIGN_OR_RETURN(TableReader table, TableReader::Open(path, "a version 1 checkpoint", workers_, budget_));
  WEFT_ASSIGN_OR_RETURN(auto value, table.Get(""));
  file_bytes_ += table.file_size();
  tables_.push_back(std::move(table));
  if (!value) return Damaged("no list of tensors");
  const auto meta = LastBytes(value->bytes, 1);
  if (!meta) return Damaged("a damaged list of tensors");
  return AddMeta(*meta, tables_.size() - 1);
}

Status CheckpointReader::AddMeta(std::string_view meta, size_t file) {
  FieldReader field(meta);
  for (uint64_t fields = 1; field.Next(); ++fields) {
    if (fields % kFieldsBetweenLooks == 0 && IsStopped(workers_)) return kernels::RunStopped();
    if (field.Is(1, WireType::kBytes)) WEFT_RETURN_IF_ERROR(AddTensor(field.bytes(), file));
    if (!field.Is(2, WireType::kBytes)) continue;
    int64_t producer = 0, needed = 0;
    if (!TakeNumbers(field.bytes(), &producer, &needed)) return Damaged("a damaged version");
    if (static_cast<uint64_t>(needed) > kFormatVersion) {
      return Status(Code::kUnsupported, Cat("needs a checkpoint of format ", kFormatVersion, ", found one for readers of format ", needed));
    }
  }
  return field.ok() ? Status() : Damaged("a damaged list of tensors");
}

Status CheckpointReader::AddTensor(std::string_view message, size_t file) {
  SavedTensor tensor;
  std::string_view name;
  std::vector<TensorSlice> slices;
  bool good = true;
  FieldReader field(message);
  while (good && field.Next()) {
    if (field.Is(1, WireType::kBytes)) name = field.bytes();
    if (field.Is(2, WireType::kBytes)) good = TakeShape(field.bytes(), tensor.shape);
    if (field.Is(3, WireType::kVarint)) tensor.dtype = TypeOfNumber(field.varint());
    if (field.Is(4, WireType::kBytes)) good = TakeSlice(field.bytes(), slices.emplace_back());
  }
  if (!good || !field.ok()) return Damaged("a damaged list of tensors");
  const size_t bytes = kTensorBytes + name.size() + slices.size() * (sizeof(SavedTensor::Piece) + kPlacesBytes * static_cast<size_t>(tensor.shape.rank()));
  WEFT_RETURN_IF_ERROR(charge_.Hold(charge_.bytes() + static_cast<int64_t>(bytes)));
  auto [entry, added] = tensors_.try_emplace(std::string(name), tensor);
  if (!added && (entry->second.dtype != tensor.dtype || entry->second.shape != tensor.shape)) {
    return Damaged(Cat("tensor '", name, "' with two types or shapes"));
  }
  for (TensorSlice& slice : slices) {
    auto box = BoxOf(slice, tensor.shape);
    if (!box) return Damaged(Cat("a part of tensor '", name, "' outside of it"));
    entry->second.pieces.push_back({std::move(slice), std::move(*box), file});
  }
  return {};
}

const SavedTensor* CheckpointReader::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Result<Tensor> CheckpointReader::Read(std::string_view name, const TensorSlice& part, const std::shared_ptr<MemoryBudget>& budget) {
  const SavedTensor* tensor = Find(name);
  if (tensor == nullptr) return NotFound("needs tensor '", name, "', found none of that name in '", first_file_, "'");
  if (tensor->dtype == DType::kInvalid) return Status(Code::kUnsupported, Cat("tensor '", name, "' has a type that Weft has not"));
  const PartsRead read{name, tensor->dtype, tensor->shape, kMostElementsPerByte * file_bytes_, workers_, budget};
  return ReadParts(read, part, tensor->pieces.size(), [&](size_t k) -> const Box& { return tensor->pieces[k].box; },
                   [&](size_t k, void* elements) { return ReadPiece(name, *tensor, tensor->pieces[k], elements); });
}

Status CheckpointReader::ReadPiece(std::string_view name, const SavedTensor& tensor, const SavedTensor::Piece& piece,
                                   void* elements) {
  WEFT_ASSIGN_OR_RETURN(auto value, tables_[piece.file].Get(SliceKey(name, piece.slice)));
  if (!value) return Damaged(Cat("no record of tensor '", name, "'"));
  const auto record = LastBytes(value->bytes, 2);
  const auto message = record ? LastBytes(*record, 3) : std::nullopt;
  Result<bool> taken = false;
  if (message) taken = TakeValues(*message, tensor.dtype, elements, piece.box.shape().count(), workers_, budget_);
  if (IsStopped(workers_)) return kernels::RunStopped();
  if (!taken.ok()) return std::move(taken).status();
  return *taken ? Status() : Damaged(Cat("a damaged record of tensor '", name, "'"));
}

}  // namespace weft::blocks::checkpoint_v1
