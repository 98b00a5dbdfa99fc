// The three readers behind ReadPage, one for each format. They take UTF-8 without a byte-order mark and add to `result`.
#pragma once

#include <string_view>

#include "weft/page/reader.h"

namespace weft::page {

void ReadWeftPage(std::string_view text, const ReadOptions& options, ReadPageResult& result);
void ReadRuntimePage(std::string_view text, const ReadOptions& options, ReadPageResult& result);
void ReadDesignPage(std::string_view text, const ReadOptions& options, ReadPageResult& result);

}  // namespace weft::page
