#include "blocks/io/checkpoint_v1/checkpoint_reader.h"

#include <algorithm>

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
//   TensorShapeProto  2 dim (repeated: 1 size), 3 unknown_rank
//   TensorSliceProto  1 extent (repeated: 1 start, 2 length)

bool TakeNumbers(std::string_view message, int64_t* first, int64_t* second) {
  FieldReader field(message);
  while (field.Next()) {
    if (field.Is(1, WireType::kVarint)) *first = static_cast<int64_t>(field.varint());
    if (second != nullptr && field.Is(2, WireType::kVarint)) *second = static_cast<int64_t>(field.varint());
  }
  return field.ok();
}

bool TakeShape(std::string_view message, Shape& shape) {
  std::vector<int64_t> dims;
  FieldReader field(message);
  while (field.Next()) {
    if (field.Is(3, WireType::kVarint) && field.varint() != 0) return false;
    if (!field.Is(2, WireType::kBytes)) continue;
    int64_t size = 0;
    if (dims.size() == kMaxRank || !TakeNumbers(field.bytes(), &size, nullptr)) return false;
    dims.push_back(size);
  }
  auto made = Shape::Make(dims);
  if (!field.ok() || !made.ok()) return false;
  shape = std::move(*made);
  return true;
}

bool TakeSlice(std::string_view message, TensorSlice& slice) {
  FieldReader field(message);
  while (field.Next()) {
    if (!field.Is(1, WireType::kBytes)) continue;
    int64_t start = 0, length = -1;
    if (slice.starts.size() == kMaxRank || !TakeNumbers(field.bytes(), &start, &length)) return false;
    slice.starts.push_back(start);
    slice.lengths.push_back(length);
  }
  return field.ok();
}

/// The bytes of the last field of that number; nothing where there is none or the message is damaged.
std::optional<std::string_view> LastBytes(std::string_view message, uint32_t number) {
  std::optional<std::string_view> found;
  FieldReader field(message);
  while (field.Next()) {
    if (field.Is(number, WireType::kBytes)) found = field.bytes();
  }
  return field.ok() ? found : std::nullopt;
}

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
  WEFT_ASSIGN_OR_RETURN(TableReader table, TableReader::Open(path, workers_, budget_));
  WEFT_ASSIGN_OR_RETURN(auto value, table.Get(""));
  file_bytes_ += table.file_size();
  tables_.push_back(std::move(table));
  if (!value) return Damaged("no list of tensors");
  const auto meta = LastBytes(value->bytes(), 1);
  if (!meta) return Damaged("a damaged list of tensors");
  return AddMeta(*meta, tables_.size() - 1);
}

Status CheckpointReader::AddMeta(std::string_view meta, size_t file) {
  FieldReader field(meta);
  for (uint64_t fields = 1; field.Next(); ++fields) {
    if (fields % kFieldsBetweenLooks == 0 && workers_ != nullptr && workers_->Stopped()) return kernels::RunStopped();
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

Status CheckpointReader::CheckCovered(const std::vector<Overlap>& overlaps, const Shape& wanted, std::string_view name) const {
  const auto needed = static_cast<uint64_t>(wanted.count());
  uint64_t held = 0;
  for (const Overlap& overlap : overlaps) {
    const auto count = static_cast<uint64_t>(overlap.box.shape().count());
    if (count > needed - held) return Damaged(Cat("parts of tensor '", name, "' that overlap"));
    held += count;
  }
  if (held < needed) {
    return InvalidArgument("needs all ", needed, " elements of tensor '", name, "', found ", held)
        .WithHint("name all files of the checkpoint, as in 'model-*-of-00002'");
  }
  // Before so much memory is asked for.
  if (needed / kMostElementsPerByte > file_bytes_) return Damaged(Cat("tensor '", name, "' larger than the file"));
  return {};
}

Result<Tensor> CheckpointReader::Read(std::string_view name, const TensorSlice& part, const std::shared_ptr<MemoryBudget>& budget) const {
  const SavedTensor* tensor = Find(name);
  if (tensor == nullptr) return NotFound("needs tensor '", name, "', found none of that name in '", first_file_, "'");
  if (tensor->dtype == DType::kInvalid) return Status(Code::kUnsupported, Cat("tensor '", name, "' has a type that Weft has not"));
  const auto wanted = BoxOf(part, tensor->shape);
  if (!wanted) return InvalidArgument("needs a part inside tensor '", name, "' of shape ", tensor->shape, ", found one that is not");

  std::vector<Overlap> overlaps;
  for (const auto& piece : tensor->pieces) {
    if (auto box = Intersect(piece.box, *wanted)) overlaps.push_back({&piece, std::move(*box)});
  }
  WEFT_RETURN_IF_ERROR(CheckCovered(overlaps, wanted->shape(), name));
  WEFT_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(tensor->dtype, wanted->shape(), budget));
  if (overlaps.size() == 1 && overlaps[0].piece->box.starts == wanted->starts && overlaps[0].piece->box.lengths == wanted->lengths) {
    WEFT_RETURN_IF_ERROR(ReadPiece(name, *tensor, *overlaps[0].piece, result.data()));
    return result;
  }
  const size_t size = ElementSize(tensor->dtype);
  std::vector<bool> filled(static_cast<size_t>(result.count()));
  bool repeated = false;
  for (const Overlap& overlap : overlaps) {
    if (workers_ != nullptr && workers_->Stopped()) return kernels::RunStopped();
    const Box& box = overlap.piece->box;
    const auto count = static_cast<uint64_t>(box.shape().count());
    if (count / kMostElementsPerByte > file_bytes_) return Damaged("a part larger than the file");
    WEFT_ASSIGN_OR_RETURN(Tensor piece, Tensor::Allocate(tensor->dtype, box.shape(), budget));
    WEFT_RETURN_IF_ERROR(ReadPiece(name, *tensor, *overlap.piece, piece.data()));
    ForEachRun(overlap.box, box, *wanted, [&](int64_t from, int64_t to, int64_t count) {
      CopyElements(tensor->dtype, static_cast<const char*>(piece.data()) + static_cast<size_t>(from) * size,
                   static_cast<char*>(result.data()) + static_cast<size_t>(to) * size, count);
      for (int64_t i = to; i < to + count; ++i) {
        repeated = repeated || filled[static_cast<size_t>(i)];
        filled[static_cast<size_t>(i)] = true;
      }
    });
    if (repeated) return Damaged(Cat("parts of tensor '", name, "' that overlap"));
  }
  return result;
}

Status CheckpointReader::ReadPiece(std::string_view name, const SavedTensor& tensor, const SavedTensor::Piece& piece,
                                   void* elements) const {
  WEFT_ASSIGN_OR_RETURN(auto value, tables_[piece.file].Get(SliceKey(name, piece.slice)));
  if (!value) return Damaged(Cat("no record of tensor '", name, "'"));
  const auto record = LastBytes(value->bytes(), 2);
  const auto message = record ? LastBytes(*record, 3) : std::nullopt;
  Result<bool> taken = false;
  if (message) taken = TakeValues(*message, tensor.dtype, elements, piece.box.shape().count(), workers_, budget_);
  if (workers_ != nullptr && workers_->Stopped()) return kernels::RunStopped();
  if (!taken.ok()) return std::move(taken).status();
  return *taken ? Status() : Damaged(Cat("a damaged record of tensor '", name, "'"));
}

}  // namespace weft::blocks::checkpoint_v1
