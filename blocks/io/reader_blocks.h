// What the blocks that make a reader have in common: the port of its handle, the attributes that name it, how it is found.
#pragma once

#include "blocks/io/byte_stream.h"
#include "blocks/io/record_reader.h"
#include "weft/block/block.h"

namespace weft::blocks::readers {

inline constexpr Out<0> reader_handle{"reader_handle", "DT_RESOURCE", "[], the handle of the reader"};
inline constexpr Attr<std::string> container{"container", "\"\"", "name space of the reader's name"};
inline constexpr Attr<std::string> shared_name{"shared_name", "\"\"", "blocks of one shared name share the reader; empty means the block's id"};

/// How a reader is named in the page's scope.
struct ReaderName {
  std::string container, shared_name;
};
inline ReaderName NameOf(const PlanContext& ctx) { return {ctx.attr(container), ctx.attr(shared_name)}; }

/// ZLIB, GZIP, SNAPPY where the block takes it, or nothing; invalid_argument at the attribute for other words.
Result<Encoding> EncodingOf(const PlanContext& ctx, const Attr<std::string>& attr, bool snappy = false);

/// Finds or makes a reader whose records make_source() gives; refuses a reader of that name that another kind of block made.
Result<ResourceHandle> BindReader(BindContext& ctx, const ReaderName& name, std::string_view block,
                                  FunctionRef<std::unique_ptr<RecordSource>()> make_source);

/// Gives the handle.
inline constexpr auto RunReader = [](const auto&, RunContext& ctx) { ctx.out<ResourceHandle>(reader_handle)[0] = ctx.state_handle(); };
inline BlockBuilder<> ReaderBlock(const char* name, const char* summary) {
  return Block(name, summary).Ports(reader_handle).NotDifferentiable();
}

}  // namespace weft::blocks::readers
