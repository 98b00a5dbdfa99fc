#include "tools/cli/results_io.h"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "tools/cli/common.h"
#include "tools/cli/npy_strings.h"
#include "weft/base/float16.h"
#include "weft/base/workers.h"
#include "weft/page/writer.h"

namespace weft::cli {
namespace {

struct NpyType {
  DType dtype;
  const char* code;  // kind and bytes
};
constexpr NpyType kNpyTypes[] = {
    {DType::kFloat, "f4"}, {DType::kDouble, "f8"}, {DType::kHalf, "f2"},   {DType::kInt8, "i1"},   {DType::kInt16, "i2"},      {DType::kInt32, "i4"},
    {DType::kInt64, "i8"}, {DType::kUInt8, "u1"},  {DType::kUInt16, "u2"}, {DType::kUInt32, "u4"}, {DType::kUInt64, "u8"},     {DType::kBool, "b1"},
    {DType::kQInt8, "i1"}, {DType::kQUInt8, "u1"}, {DType::kQInt16, "i2"}, {DType::kQUInt16, "u2"}, {DType::kQInt32, "i4"}, {DType::kComplex64, "c8"},
    {DType::kComplex128, "c16"},
};

const char* NpyCode(DType dtype) {
  for (const NpyType& type : kNpyTypes) {
    if (type.dtype == dtype) return type.code;
  }
  return nullptr;
}

/// The bytes of a .npy file (format version 1.0) of elements of this type.
std::string NpyFile(std::string_view type, const Shape& shape, std::string_view elements) {
  std::string dims;
  for (int64_t dim : shape.dims()) dims += Cat(dim, ",");
  std::string header = Cat("{'descr': '", type, "', 'fortran_order': False, 'shape': (", dims, "), }");
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes.append(header).append(elements);
}

Result<std::string> Npy(const Tensor& tensor) {
  if (tensor.dtype() == DType::kBFloat16) {
    WEFT_ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(DType::kFloat, tensor.shape()));
    std::copy(tensor.values<bfloat16>().begin(), tensor.values<bfloat16>().end(), wide.values<float>().begin());
    return Npy(wide);
  }
  if (tensor.dtype() == DType::kString) {
    WEFT_ASSIGN_OR_RETURN(const NpyStrings strings, ToNpyStrings(tensor));
    return NpyFile(strings.type, tensor.shape(), strings.bytes);
  }
  const char* code = NpyCode(tensor.dtype());
  return NpyFile(Cat(code[1] == '1' && code[2] == '\0' ? "|" : "<", code), tensor.shape(),
                 {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes())});
}

/// 1980-01-01, where the time of zip archives begins: that of every entry, so that the same results are the same bytes.
constexpr zip_uint16_t kDosDate = 1 << 5 | 1;

/// An archive in memory, which takes its place as a file like any other.
class Archive {
 public:
  Archive() : bytes_(zip_source_buffer_create(nullptr, 0, 0, nullptr)) {
    if (bytes_ == nullptr) return;
    zip_source_keep(bytes_);  // what becomes of the archive is read from it
    archive_ = zip_open_from_source(bytes_, ZIP_TRUNCATE, nullptr);
    if (archive_ == nullptr) zip_source_free(bytes_);
  }
  ~Archive() {
    if (archive_ != nullptr) zip_discard(archive_);
    if (bytes_ != nullptr) zip_source_free(bytes_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// False where there is no memory.
  bool Add(const std::string& name, std::string contents) {
    if (archive_ == nullptr) return false;
    const std::string& file = *files_.emplace_back(std::make_unique<std::string>(std::move(contents)));
    zip_source_t* source = zip_source_buffer(archive_, file.data(), file.size(), 0);
    const zip_int64_t index = source == nullptr ? -1 : zip_file_add(archive_, name.c_str(), source, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      if (source != nullptr) zip_source_free(source);
      return false;
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    return zip_set_file_compression(archive_, entry, ZIP_CM_STORE, 0) == 0 && zip_file_set_dostime(archive_, entry, 0, kDosDate, 0) == 0;
  }
  /// All of it; nothing where there is no memory.
  std::optional<std::string> Take() {
    if (archive_ == nullptr || zip_close(archive_) != 0) return std::nullopt;
    archive_ = nullptr;
    zip_stat_t info;
    if (zip_source_stat(bytes_, &info) != 0 || (info.valid & ZIP_STAT_SIZE) == 0 || zip_source_open(bytes_) != 0) return std::nullopt;
    std::string all(info.size, '\0');
    const zip_int64_t got = zip_source_read(bytes_, all.data(), all.size());
    zip_source_close(bytes_);
    return got == static_cast<zip_int64_t>(all.size()) ? std::optional(std::move(all)) : std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<std::string>> files_;  // libzip reads them when it closes
  zip_source_t* bytes_;
  zip_t* archive_ = nullptr;
};

Status WriteNpz(const std::string& path, const NamedTensors& results, NpzStrings strings) {
  const auto left_out = [&](const Tensor& tensor) {
    return IsManaged(tensor.dtype()) && (tensor.dtype() != DType::kString || strings == NpzStrings::kLeftOut);
  };
  if (std::all_of(results.begin(), results.end(), [&](const auto& result) { return left_out(result.second); })) {
    constexpr char kEmptyArchive[22] = "PK\5\6";  // the end of a directory that lists no files
    return WriteFile(path, {kEmptyArchive, sizeof kEmptyArchive});
  }
  WEFT_RETURN_IF_ERROR(WritableFile(path).status());  // before the work
  Archive archive;
  for (const auto& [name, tensor] : results) {
    if (left_out(tensor)) continue;
    auto npy = Npy(tensor);
    if (!npy.ok()) return Status(npy.status().code(), Cat("cannot write '", name, "' to '", path, "': ", npy.status().message()));
    if (!archive.Add(Cat(name, ".npy"), std::move(*npy))) return ResourceExhausted("cannot write '", path, "': no memory is left");
  }
  const std::optional<std::string> bytes = archive.Take();
  return bytes ? WriteFile(path, *bytes) : ResourceExhausted("cannot write '", path, "': no memory is left");
}

void ReverseBytes(char* data, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * static_cast<int64_t>(size), data + (i + 1) * static_cast<int64_t>(size));
}

/// Fortran order to C order.
Result<Tensor> Transposed(const Tensor& tensor, const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(tensor.dtype(), tensor.shape(), budget));
  int rank = tensor.shape().rank();
  size_t size = ElementSize(tensor.dtype());
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) to = to * tensor.shape()[d] + index[d];
    std::memcpy(static_cast<char*>(result.data()) + to * static_cast<int64_t>(size), static_cast<const char*>(tensor.data()) + i * static_cast<int64_t>(size), size);
    for (int d = 0; d < rank && ++index[d] == tensor.shape()[d]; ++d) index[d] = 0;
  }
  return result;
}

/// What stands between `open` and `close` after "'key':" in the header of a .npy file; nothing where it has no such thing.
std::optional<std::string_view> Entry(std::string_view header, std::string_view key, char open, char close) {
  size_t start = header.find(Cat("'", key, "':"));
  if (start == std::string_view::npos) return std::nullopt;
  start = header.find_first_not_of(' ', start + key.size() + 3);
  if (start == std::string_view::npos || header[start] != open) return std::nullopt;
  const size_t end = header.find(close, start + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return header.substr(start + 1, end - start - 1);
}

/// The numbers in the text: "2, 3", "2," or none; an L may follow each.
Result<Shape> ParseNpyShape(std::string_view text) {
  if (text.find_first_not_of("0123456789, L") != std::string_view::npos) return DataLoss("the shape (", text, ") of the .npy file has other than sizes");
  std::vector<int64_t> dims;
  for (size_t i = 0; (i = text.find_first_of("0123456789", i)) != std::string_view::npos;) {
    const size_t digits = std::min(text.find_first_not_of("0123456789", i), text.size()) - i;
    if (digits > 18) return DataLoss("a size of the .npy file is too large");
    dims.push_back(std::stoll(std::string(text.substr(i, digits))));
    i += digits;
  }
  return Shape::Make(dims);
}

/// What stands before the elements of a .npy file.
struct NpyHeader {
  DType dtype = DType::kInvalid;
  Shape shape;
  bool big_endian = false, fortran = false;
};

Result<NpyHeader> ParseNpyHeader(std::string_view text, FunctionRef<Status(std::string_view)> fault) {
  const auto descr = Entry(text, "descr", '\'', '\''), shape = Entry(text, "shape", '(', ')');  // "<f4", "2, 3"
  if (!descr || descr->empty() || std::string_view("<>|=").find(descr->front()) == std::string_view::npos) return fault("its type is none that Weft has");
  if (!shape) return fault("it has no shape");
  NpyHeader header;
  for (const NpyType& type : kNpyTypes) {
    if (header.dtype == DType::kInvalid && descr->substr(1) == type.code) header.dtype = type.dtype;
  }
  if (header.dtype == DType::kInvalid) return fault("its type is none that Weft has");
  WEFT_ASSIGN_OR_RETURN(header.shape, ParseNpyShape(*shape));
  header.big_endian = descr->front() == '>';
  header.fortran = text.find("'fortran_order': True") != std::string_view::npos;
  return header;
}

/// Leaves the file at its elements.
Result<NpyHeader> ReadNpyHeader(std::istream& in, FunctionRef<Status(std::string_view)> fault) {
  // (Without seeking: it may be a pipe.)
  const auto take = [&](size_t bytes) {
    std::string taken(bytes, '\0');
    in.read(taken.data(), static_cast<std::streamsize>(bytes));
    taken.resize(static_cast<size_t>(in.gcount()));
    return taken;
  };
  const std::string mark = take(8);
  if (mark.starts_with("PK")) return fault("it is an archive of arrays (.npz)").WithHint("save one of them by itself: numpy.save");
  if (mark.size() < 8 || mark.compare(0, 6, "\x93NUMPY") != 0) return fault("it does not start with the mark of one");
  const std::string count = take(mark[6] != 1 ? 4 : 2);
  size_t length = 0;
  for (size_t i = 0; i < count.size(); ++i) length |= static_cast<size_t>(static_cast<unsigned char>(count[i])) << (8 * i);
  if (length > 10000) return fault("its header is too long");
  const std::string text = take(length);
  if (!in) return fault("its header is cut short");
  return ParseNpyHeader(text, fault);
}

/// How many bytes are left of the file; of a pipe nobody knows.
int64_t BytesLeft(std::istream& in) {
  const std::streamoff here = in.tellg();
  if (here < 0) {
    in.clear();
    return std::numeric_limits<int64_t>::max();
  }
  in.seekg(0, std::ios::end);
  const std::streamoff end = in.tellg();
  in.seekg(here);
  return end - here;
}

}  // namespace

std::string NumpyName(DType dtype) {
  const char* code = NpyCode(dtype);
  if (code == nullptr || IsQuantized(dtype)) return "";
  if (*code == 'b') return "bool";
  const std::string_view kind = *code == 'f' ? "float" : *code == 'i' ? "int" : *code == 'u' ? "uint" : "complex";
  return Cat(kind, 8 * ElementSize(dtype));
}

std::string ResultsJson(const NamedTensors& results) {
  std::string out = "{\n";
  bool first = true;
  for (const auto& [name, tensor] : results) {
    if (tensor.dtype() == DType::kResource) continue;
    out += Cat(first ? "" : ",\n", "  ", Quoted(name), ": ", WriteTensor(tensor));
    first = false;
  }
  return out + "\n}\n";
}

Status SaveResults(const std::string& path, const NamedTensors& results, NpzStrings strings) {
  if (path.ends_with(".json")) return WriteFile(path, ResultsJson(results));
  if (path.ends_with(".npz")) return WriteNpz(path, results, strings);
  return InvalidArgument("results are written as .json or .npz, found '", path, "'");
}

Result<Tensor> ReadNpy(const std::string& path, const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(std::ifstream in, OpenFile(path));
  const auto fault = [&](std::string_view what) { return DataLoss("'", path, "' is no .npy file that can be read: ", what); };
  WEFT_ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(in, fault));
  const DType dtype = header.dtype;
  const auto size = CheckedMultiply(header.shape.count(), static_cast<int64_t>(ElementSize(dtype)));
  if (!size || *size > BytesLeft(in)) return fault("its data is cut short");
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, header.shape, budget));
  if (!in.read(static_cast<char*>(tensor.data()), *size)) return fault("its data is cut short");
  if (header.big_endian) {
    const bool complex = IsComplex(dtype);
    ReverseBytes(static_cast<char*>(tensor.data()), tensor.count() * (complex ? 2 : 1), ElementSize(dtype) / (complex ? 2 : 1));
  }
  if (dtype == DType::kBool) {
    for (uint8_t& value : std::span(static_cast<uint8_t*>(tensor.data()), static_cast<size_t>(tensor.count()))) value = value != 0;
  }
  if (header.fortran && header.shape.rank() > 1) return Transposed(tensor, budget);
  return tensor;
}

}  // namespace weft::cli
