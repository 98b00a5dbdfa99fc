// IdentityReader and WholeFileReader: readers that give one record for each name in the queue, the name itself or the bytes of its file.
#include "blocks/io/reader_blocks.h"

namespace weft::blocks {
namespace {

using namespace readers;

/// One record a name, which is its key. A file is opened when it is read, so that one that is missing is asked for again until a reset.
class NameSource final : public RecordSource {
 public:
  explicit NameSource(bool reads_file) : reads_file_(reads_file) {}

  Status Start(const Files&, const String& name, const Services&) override {
    name_ = name;
    return {};
  }
  Result<bool> Next(FileRecord& record, const Services& services) override {
    WEFT_RETURN_IF_ERROR(name_.Hold(services.budget));
    if (reads_file_) {
      WEFT_ASSIGN_OR_RETURN(record.value, ReadWholeFile(services, name_));
    } else {
      record.value = name_;
    }
    record.key = name_;
    record.last = true;
    return true;
  }
  void Stop() override { name_ = {}; }
  void Save(StateWriter& out) const override { out.PutText(name_); }
  Result<std::unique_ptr<RecordSource>> Load(StateReader& in) const override {
    auto source = std::make_unique<NameSource>(reads_file_);
    WEFT_ASSIGN_OR_RETURN(const std::string name, in.Text());
    source->name_ = String(name);
    return std::unique_ptr<RecordSource>(std::move(source));
  }
  bool KeepsName() const override { return true; }

 private:
  const bool reads_file_;
  String name_;  // shared with the records
};

template <bool reads_file>
Result<ReaderPlan<bool>> Plan(PlanContext& ctx) { return ReaderPlan<bool>{reads_file, NameOf(ctx)}; }

}  // namespace

BlockDef IdentityReader() {
  return ReaderBlock("IdentityReader", "A reader that gives the strings of a queue as they are, as key and as value.")
      .Details("Its state can be kept by ReaderSerializeState.")
      .Attrs(container, shared_name)
      .Alias("IdentityReaderV2")
      .Kernel(Plan<false>, RunReader, BindSource<NameSource>);
}

BlockDef WholeFileReader() {
  return ReaderBlock("WholeFileReader", "A reader that gives the files whose names a queue holds, each as one record.")
      .Details("The key of a record is the file's name. A file that cannot be read is tried again at the next reading, until ReaderReset. The "
               "reader's state can be kept by ReaderSerializeState.")
      .Attrs(container, shared_name)
      .Alias("WholeFileReaderV2")
      .Kernel(Plan<true>, RunReader, BindSource<NameSource>);
}

}  // namespace weft::blocks
