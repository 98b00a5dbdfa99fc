// What the blocks that make a reader have in common: the port of its handle, the attributes that name it, how it is found.
#pragma once

#include "blocks/io/byte_stream.h"
#include "blocks/io/record_reader.h"
#include "weft/block/block.h"

namespace weft::blocks::readers {

inline constexpr Out<0> reader_handle{"reader_handle", "DT_RESOURCE", "[], the handle of the reader"};
inline constexpr Attr<std::string> container{"container", "\"\"", "name space of the reader's name"};
inline constexpr Attr<std::string> shared_name{"shared_name", "\"\"", "blocks of one shared name share the reader; empty means the block's id"};

/// Bytes of a record, and of a footer, of one size: a compressed file may be many times as large as it looks, and this is what one can cost.
inline constexpr int64_t kMostRecordBytes = int64_t{1} << 31;

/// The kind of a reader, that of its block, and how it is named in the page's scope.
struct ReaderName {
  std::string block, container, shared_name;
};
inline ReaderName NameOf(const PlanContext& ctx) { return {ctx.def().name, ctx.attr(container), ctx.attr(shared_name)}; }

/// ZLIB, GZIP, SNAPPY where the block takes it, or nothing; invalid_argument at the attribute for other words.
Result<Encoding> EncodingOf(const PlanContext& ctx, const Attr<std::string>& attr, bool snappy = false);

/// Finds or makes a reader whose records make_source() gives; refuses a reader of that name that another kind of block made.
Result<ResourceHandle> BindReader(BindContext& ctx, const ReaderName& name, FunctionRef<std::unique_ptr<RecordSource>()> make_source);

/// The parameters of a reader block: the settings that its source is made of, and its name.
template <class Settings>
struct ReaderPlan {
  Settings settings;
  ReaderName name;
};

/// Binds a reader whose records Source(settings) gives.
template <class Source>
constexpr auto BindSource = [](const auto& p, BindContext& ctx) {
  return BindReader(ctx, p.name, [&] { return std::make_unique<Source>(p.settings); });
};

/// Gives the handle.
inline constexpr auto RunReader = [](const auto&, RunContext& ctx) { ctx.out<ResourceHandle>(reader_handle)[0] = ctx.state_handle(); };
inline BlockBuilder<> ReaderBlock(const char* name, const char* summary) {
  return Block(name, summary).Ports(reader_handle).NotDifferentiable();
}

}  // namespace weft::blocks::readers
