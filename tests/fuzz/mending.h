// Gives damaged files right checksums, so that what is behind these is reached.
#pragma once

#include <functional>
#include <string>

namespace weft::fuzz {

/// Writes the magic number of a sorted string table, and the checksums of the index and of the blocks that it names. `change`, where given, may
/// first change the bytes of each block of entries.
void MendTable(std::string& file, const std::function<void(std::string& block)>& change = nullptr);

/// Writes the checksums of TensorFlow's records: of lengths, and of the data as far as the lengths fit the bytes.
void MendRecords(std::string& file);

/// Writes the checksums of the chunks of a PNG file, as far as their lengths fit the bytes.
void MendPng(std::string& file);

}  // namespace weft::fuzz
