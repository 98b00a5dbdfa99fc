// The three readers behind ReadPage, one for each format. They take UTF-8 without a byte-order mark and add to `result`.
#pragma once

#include <cstddef>
#include <string_view>

#include "weft/page/reader.h"

namespace weft::page {

/// Of a design page: the parser reads a text or attribute in one piece.
inline constexpr size_t kMostDesignBytes = size_t{64} << 20;

void ReadWeftPage(std::string_view text, const ReadOptions& options, ReadPageResult& result);
void ReadRuntimePage(std::string_view text, const ReadOptions& options, ReadPageResult& result);
void ReadDesignPage(std::string_view text, const ReadOptions& options, ReadPageResult& result);

}  // namespace weft::page
