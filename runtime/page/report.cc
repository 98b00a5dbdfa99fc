#include "runtime/page/report.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/page/unicode.h"

namespace weft::page {

void Report::Add(Severity severity, Status status, std::string_view pointer, std::string_view port) {
  if (pending_.all().size() >= Diagnostics::kLimit) EndBlock("");
  pending_.Add(severity, std::move(status).WithPage(page_).WithPointer(pointer).WithPort(port));
}

void Report::EndBlock(std::string_view id) {
  if (pending_.all().empty()) return;
  for (const Diagnostic& diagnostic : pending_.all()) out_.Add(diagnostic.severity, Status(diagnostic.status).WithBlock(id));
  pending_ = {};
}

bool IsIdentifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || text.size() > kMostNameBytes || !letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Status CheckName(std::string_view what, std::string_view name) {
  if (name.empty()) return InvalidArgument(what, " needs a name, found an empty string");
  if (name.size() > kMostNameBytes) return InvalidArgument(what, " needs a name of at most ", kMostNameBytes, " bytes, found ", name.size());
  for (const char c : name) {
    if (c == 0) return InvalidArgument(what, " needs a name without NUL characters");
    if ((c > 0 && c < 0x20) || c == 0x7F)
      return InvalidArgument(what, " needs a name without control characters, found code ", static_cast<int>(c));
  }
  if (FindInvalidUtf8(name) != name.npos) return InvalidArgument(what, " needs a name in UTF-8");
  return {};
}

Status CheckPort(std::string_view name) {
  WEFT_RETURN_IF_ERROR(CheckName("a port", name));
  if (name.find_first_of(" .[]") == name.npos) return {};
  return InvalidArgument("a port needs a name without spaces, '.', '[' and ']', found '", name, "'").WithHint("a wire to it could not be written");
}

void CheckId(Report& report, std::string_view id, std::string_view pointer, bool imported) {
  if (IsIdentifier(id)) return;
  if (Status status = CheckName("a block id", id); !status.ok()) return report.Error(std::move(status), pointer);
  if (imported && id.find_first_of(".[]\"") == id.npos) {
    return report.Warning(InvalidArgument("the id '", id, "' is not of the form [A-Za-z_][A-Za-z0-9_]*; it is kept"), pointer);
  }
  std::string fixed(id);
  std::replace_if(
      fixed.begin(), fixed.end(), [](char c) { return !IsIdentifier(std::string("_") + c); }, '_');
  if (!IsIdentifier(fixed)) fixed.insert(fixed.begin(), '_');
  report.Error(InvalidArgument("a block id needs the form [A-Za-z_][A-Za-z0-9_]*, found '", id, "'").WithHint(Cat("write '", fixed, "'")),
               pointer);
}

Status RepeatedId(const Page& page, size_t block, int earlier) {
  return AlreadyExists("the id '", page.blocks[block].id, "' belongs to the block at ", BlockPointer(page, static_cast<size_t>(earlier)))
      .WithHint("ids are unique on a page: rename one of the two");
}

void UniqueIds::Add(const Page& page) {
  for (; added_ < page.blocks.size(); ++added_) {
    if (!page.blocks[added_].id.empty() && !index_.Add(page.blocks, added_)) repeated_.push_back(added_);
  }
}

void UniqueIds::ReportRepeated(Report& report, const Page& page) {
  Add(page);
  for (size_t i : repeated_) {
    const std::string& id = page.blocks[i].id;
    const std::string pointer = BlockPointer(page, i) + (page.format == Page::Format::kEnuSpaceDesign ? "" : "/id");
    report.Error(RepeatedId(page, i, index_.Find(page.blocks, id)), pointer);
    report.EndBlock(id);
  }
}

namespace {

// Bytes that a file is asked for at a time: between them the call may end.
constexpr int64_t kFilePiece = int64_t{16} << 20;

struct FileBytes {
  const ReadOptions& options;
  const std::string& file;
  int64_t offset;  // of the first one
  int64_t count;

  /// The next piece after the first `done` bytes; less where the file ends.
  Result<std::string> Piece(int64_t done) const {
    CallLimit::CheckNow();
    const int64_t size = std::min(kFilePiece, count - done);
    WEFT_ASSIGN_OR_RETURN(std::string piece, options.read_file(file, offset + done, size));
    if (std::ssize(piece) > size) piece.resize(static_cast<size_t>(size));
    return piece;
  }

  /// How many of them the file has. Where it has the last one, nothing else is read.
  Result<int64_t> Found() const {
    if (count <= std::numeric_limits<int64_t>::max() - offset) {
      WEFT_ASSIGN_OR_RETURN(const std::string last, options.read_file(file, offset + count - 1, 1));
      if (!last.empty()) return count;
    }
    int64_t done = 0;
    while (done < count) {
      WEFT_ASSIGN_OR_RETURN(const std::string piece, Piece(done));
      if (piece.empty()) break;
      done += std::ssize(piece);
    }
    return done;
  }
};

}  // namespace

Result<Tensor> ReadBinary(const ReadOptions& options, const std::string& file, int64_t offset, DType dtype, const Shape& shape) {
  if (IsManaged(dtype)) return Unsupported("elements of ", dtype, " cannot be read from a file");
  if (offset < 0) return OutOfRange("needs an offset of 0 or more, found ", offset);
  if (!options.read_file)
    return FailedPrecondition("needs the file '", file, "', but no files can be read here").WithHint("load the page from its folder");
  const auto bytes = CheckedMultiply(shape.count(), static_cast<int64_t>(ElementSize(dtype)));
  if (!bytes) return InvalidArgument("the shape ", shape, " has more bytes than can be counted");
  const FileBytes source{options, file, offset, *bytes};
  const auto too_short = [&](int64_t found) {
    return DataLoss("needs ", *bytes, " bytes from byte ", offset, " of '", file, "' for ", dtype, " ", shape, ", found ", found)
        .WithHint("the file was cut off, or belongs to another version of the page");
  };
  const std::shared_ptr<MemoryBudget> budget = CallLimit::budget();
  WEFT_RETURN_IF_ERROR(MemoryCharge(budget).Hold(*bytes));  // for a moment: what has no room is not asked for
  if (*bytes > kFilePiece) {  // a shape may say any number: much memory is taken only for what the file has
    WEFT_ASSIGN_OR_RETURN(const int64_t found, source.Found());
    if (found < *bytes) return too_short(found);
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, budget));
  auto* const to = static_cast<char*>(tensor.data());
  int64_t done = 0;
  do {
    WEFT_ASSIGN_OR_RETURN(const std::string piece, source.Piece(done));
    if (piece.empty() && *bytes > 0) return too_short(done);
    std::ranges::copy(piece, to + done);
    done += std::ssize(piece);
  } while (done < *bytes);  // of no elements, too, the file has to be there
  if (dtype == DType::kBool) std::transform(to, to + *bytes, to, [](char c) { return static_cast<char>(c != 0); });
  return tensor;
}

std::string PageStem(std::string_view name) {
  if (const size_t slash = name.find_last_of("/\\"); slash != name.npos) name.remove_prefix(slash + 1);
  if (const size_t dot = name.rfind('.'); dot != name.npos && dot > 0) name = name.substr(0, dot);
  if (name.ends_with(".page") && name.size() > 5) name.remove_suffix(5);
  return std::string(name);
}

}  // namespace weft::page
