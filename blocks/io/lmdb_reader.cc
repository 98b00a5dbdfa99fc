// LMDBReader: a reader of the records of LMDB files.
#include "blocks/io/byte_window.h"
#include "blocks/io/lmdb/cursor.h"
#include "blocks/io/reader_blocks.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

using namespace readers;

class LmdbSource final : public PlacedSource {
 public:
  void Stop() override { cursor_ = nullptr; }

 private:
  std::unique_ptr<PlacedSource> Fresh() const override { return std::make_unique<LmdbSource>(); }
  Status Open(const Files& files, const std::string& name) override {
    WEFT_ASSIGN_OR_RETURN(const std::filesystem::path place, files.Resolve(name, Files::Access::kRead));
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(place, error);
    WEFT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(files, is_folder ? name + "/data.mdb" : name));
    WEFT_ASSIGN_OR_RETURN(cursor_, lmdb::Cursor::Open(std::move(file)));
    found_ = false;
    return {};
  }
  int64_t LastPlace() const override { return INT64_MAX; }
  Result<bool> GoTo(int64_t place, const Services& services) override {
    constexpr int64_t kBetweenLooks = 4096;
    for (; place_ < place; ++place_) {
      if (place_ % kBetweenLooks == kBetweenLooks - 1 && IsStopped(services)) return kernels::RunStopped();
      WEFT_ASSIGN_OR_RETURN(const bool found, cursor_->Next(services));
      if (!found) return false;
    }
    return true;
  }

  Result<bool> NextRecord(FileRecord& record, const Services& services) override {
    if (!found_) {
      WEFT_ASSIGN_OR_RETURN(found_, cursor_->Next(services));
      if (!found_) return false;
    }
    WEFT_ASSIGN_OR_RETURN(record.value, cursor_->Value(services));
    record.key = String(cursor_->key());
    for (const String* text : {&record.key, &record.value}) WEFT_RETURN_IF_ERROR(text->Hold(services.budget));
    found_ = false;
    ++place_;
    return true;
  }

  std::unique_ptr<lmdb::Cursor> cursor_;
  bool found_ = false;   // the cursor is at a record that was not given yet
};

constexpr auto Plan = [](PlanContext& ctx) -> Result<ReaderName> { return NameOf(ctx); };
constexpr auto Bind = [](const ReaderName& name, BindContext& ctx) {
  return BindReader(ctx, name, [] { return std::make_unique<LmdbSource>(); });
};

}  // namespace

BlockDef LMDBReader() {
  return ReaderBlock("LMDBReader", "A reader that gives the records of LMDB files whose names a queue holds, in the order of their keys.")
      .Details("A name is that of the file or of the folder that has it as data.mdb. The key of a record is that in the file. Nothing is written, "
               "and no lock is taken: the file must not change meanwhile.")
      .Attrs(container, shared_name)
      .Kernel(Plan, RunReader, Bind);
}

}  // namespace weft::blocks
