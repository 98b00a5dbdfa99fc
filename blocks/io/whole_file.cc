// ReadFile and WriteFile: a whole file as one string.
#include "blocks/data_flow/state_block.h"
#include "blocks/io/file_access.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
namespace weft::blocks {
namespace {

constexpr In<0> filename{"filename", "DT_STRING", "a scalar: the name of the file"};
constexpr In<1> contents{"contents", "DT_STRING", "a scalar: the bytes to write"};
constexpr Out<0> read_contents{"contents", "DT_STRING", "a scalar: the bytes of the file"};

constexpr auto RunRead = [](const NoParameters&, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(String bytes, AtPort(filename, ReadWholeFile(ctx.services(), ctx.in<String>(filename)[0])));
  return Emitted(ctx, read_contents, Tensor::Scalar<String>(std::move(bytes)));
};

constexpr auto PlanRead = [](PlanContext& ctx) { return CheckScalars(ctx, filename); };
constexpr auto PlanWrite = [](PlanContext& ctx) { return CheckScalars(ctx, filename, contents); };

Status WriteAll(const ProduceContext& ctx, std::string_view name, std::string_view bytes) {
  WEFT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(ctx.files(), name, true));
  for (size_t at = 0; at < bytes.size(); at += kFilePieceBytes) {
    if (ctx.cancelled()) return kernels::RunStopped();
    WEFT_RETURN_IF_ERROR(file.Write(std::string_view(bytes).substr(at, kFilePieceBytes)));
  }
  return file.Commit();
}

constexpr auto RunWrite = [](const NoParameters&, ProduceContext& ctx) -> Status {
  return WriteAll(ctx, ctx.in<String>(filename)[0], ctx.in<String>(contents)[0]).WithPort(filename.name);
};

}  // namespace

BlockDef ReadFile() {
  return StateBlock("ReadFile", "The bytes of a file as one string.").Ports(filename, read_contents).Producer(PlanRead, RunRead);
}

BlockDef WriteFile() {
  return StateBlock("WriteFile", "Writes a string to a file, which it replaces at once when all is written.")
      .Details("Folders that are missing on the way are made.")
      .Ports(filename, contents)
      .Producer(PlanWrite, RunWrite);
}

}  // namespace weft::blocks
