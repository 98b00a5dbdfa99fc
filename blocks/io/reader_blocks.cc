#include "blocks/io/reader_blocks.h"

namespace weft::blocks::readers {

Result<Encoding> EncodingOf(const PlanContext& ctx, const Attr<std::string>& attr, bool snappy) {
  const std::string text = ctx.attr(attr);
  if (text.empty() || text == "NONE") return Encoding::kPlain;
  if (text == "ZLIB") return Encoding::kZlib;
  if (text == "GZIP") return Encoding::kGzip;
  if (snappy && text == "SNAPPY") return Encoding::kSnappy;
  return ctx.Error(attr, "needs ZLIB, GZIP", snappy ? ", SNAPPY" : "", " or nothing, found '", text, "'");
}

Result<ResourceHandle> BindReader(BindContext& ctx, const ReaderName& name, FunctionRef<std::unique_ptr<RecordSource>()> make_source) {
  auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<RecordReader>(name.block, make_source())); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle handle, ctx.Shared(name.container, name.shared_name, make));
  const auto* reader = dynamic_cast<const RecordReader*>(handle.get());
  if (reader == nullptr || reader->block() != name.block) {
    const std::string_view found = reader == nullptr ? handle->kind() : reader->block();
    return InvalidArgument("needs a ", name.block, ", found a ", found, " of that name").WithPort(shared_name.name);
  }
  return handle;
}

}  // namespace weft::blocks::readers
