// Writes a version 1 checkpoint, byte for byte as TensorFlow's Save does.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "blocks/io/checkpoint/parts.h"
#include "blocks/io/file_access.h"

namespace weft::blocks::checkpoint_v1 {

using namespace checkpoint;

/// ok where TensorFlow can read a tensor of that type from such a file; else unsupported or invalid_argument, as TensorFlow says.
Status CheckSavable(DType dtype);

/// Writes the file, and moves it to its place once all is written. invalid_argument: a tensor or a part of one comes
/// twice, parts of one tensor are of different wholes, or a tensor is too large for the format.
/// `workers`, where given: cancelled once their run is to end. What a tensor takes as bytes counts in the budget, which may be null:
/// resource_exhausted where it refuses. On any failure the file stays as it was.
Status WriteCheckpoint(AtomicFile& file, std::span<const NamedTensor> tensors, const Workers* workers = nullptr,
                       const std::shared_ptr<MemoryBudget>& budget = nullptr);
/// The same of a file at its real place.
Status WriteCheckpoint(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace weft::blocks::checkpoint_v1
