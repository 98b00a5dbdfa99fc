// Blocks end soon after the deadline of their run, however long one of their tasks would be.
#include <zlib.h>

#include <fstream>
#include <numeric>

#include "tests/blocks/deadline_rows.h"

namespace weft::test::deadline {
namespace {

/// 0, 1, 2, ...
template <class T>
Make Counting(int64_t n) {
  return [=] {
    Tensor tensor = Tensor::Allocate(kDTypeOf<T>, Shape{n}).value();
    std::iota(tensor.values<T>().begin(), tensor.values<T>().end(), T{});
    return tensor;
  };
}
/// [n, 2]: 0 and the number of the row.
Make PlacesInOneRow(int64_t n) {
  return [=] {
    Tensor tensor = Tensor::Allocate(DType::kInt64, Shape{n, 2}).value();
    for (int64_t i = 0; i < n; ++i) tensor.values<int64_t>()[2 * i] = 0, tensor.values<int64_t>()[2 * i + 1] = i;
    return tensor;
  };
}
/// [n, 2]: 0 and a number below n, out of order.
Make MixedPlaces(int64_t n) {
  return [=] {
    Tensor tensor = Tensor::Allocate(DType::kInt64, Shape{n, 2}).value();
    for (int64_t i = 0; i < n; ++i) tensor.values<int64_t>()[2 * i] = 0, tensor.values<int64_t>()[2 * i + 1] = i * 2'654'435'761 % n;
    return tensor;
  };
}
Make Alternating(int64_t n) {
  return [=] {
    Tensor tensor = Tensor::Allocate(DType::kInt32, Shape{n}).value();
    for (int64_t i = 0; i < n; ++i) tensor.values<int32_t>()[i] = static_cast<int32_t>(i % 2);
    return tensor;
  };
}
Make LongString(size_t bytes, const Shape& shape = Shape{1}) {
  return [=] {
    Tensor tensor = Tensor::Allocate(DType::kString, shape).value();
    tensor.values<String>()[0] = String(std::string(bytes, 'a'));
    return tensor;
  };
}

/// Many that share their bytes.
Make LongStrings(int64_t n, size_t bytes) {
  return [=] {
    Tensor tensor = Tensor::Allocate(DType::kString, Shape{n}).value();
    const String text(std::string(bytes, 'a'));
    for (String& each : tensor.values<String>()) each = text;
    return tensor;
  };
}

/// "0", "1", "2", ...
Make Keys(int64_t n) {
  return [=] {
    Tensor tensor = Tensor::Allocate(DType::kString, Shape{n}).value();
    for (int64_t i = 0; i < n; ++i) tensor.values<String>()[i] = String(Cat(i));
    return tensor;
  };
}

std::vector<Row> ImageRows() {
  const std::string box = Literal("DT_FLOAT", {1, 4}, {0, 0, 1, 1});
  const Make line = Filled<float>({1, 1, 40 * kMillion, 1}), small = Filled<float>({1, 5, 5, 1});
  return {
      {"CropAndResize", "", {{"image", small}, {"boxes", box}, {"box_ind", Sizes({0})}, {"crop_size", Sizes({1, 100 * kMillion})}}},
      {"CropAndResizeGradImage",
       "T_ = DT_FLOAT;",
       {{"grads", line}, {"boxes", box}, {"box_ind", Sizes({0})}, {"image_size", Sizes({1, 5, 5, 1})}}},
      {"CropAndResizeGradBoxes", "", {{"grads", line}, {"image", small}, {"boxes", box}, {"box_ind", Sizes({0})}}},
      {"SampleDistortedBoundingBox",
       "max_attempts_ = 2147483647;",
       {{"image_size", Sizes({2147483646, 2147483646, 3})}, {"bounding_boxes", Literal("DT_FLOAT", {1, 1, 4}, {0, 0, 1e-30, 1e-30})}}},
      {"ResizeBilinear", "", {{"images", Filled<float>({1, 2, 2, 1})}, {"size", Sizes({2, 15 * kMillion})}}},
      {"QuantizedInstanceNorm",
       "",
       {{"x", Filled<uint8_t>({1, 8000, 10000, 1}, 7, DType::kQUInt8)}, {"x_min", Scalar(0)}, {"x_max", Scalar(1)}}},
      {"ResizeArea", "", {{"images", Filled<uint8_t>({1, 10'000, 20'000, 1})}, {"size", Sizes({1, 1})}}},
      {"QuantizedResizeBilinear",
       "",
       {{"images", Filled<uint8_t>({1, 2, 2, 1}, 7, DType::kQUInt8)},
        {"size", Sizes({2, 50 * kMillion})},
        {"min", Scalar(0)},
        {"max", Scalar(1)}}},
      {"AdjustContrast", "", {{"images", Filled<float>({1, 9000, 10'000, 1})}, {"contrast_factor", Scalar(2)}}},
      {"DrawBoundingBoxes", "", {{"images", Filled<float>({1, 100, 100, 1})}, {"boxes", Filled<float>({1, 20 * kMillion, 4})}}},
      {"ExtractGlimpse",
       "uniform_noise_ = false;noise_ = gaussian;",
       {{"input", small}, {"size", Sizes({9000, 10'000})}, {"offsets", Literal("DT_FLOAT", {1, 2}, {0, 0})}}},
      {"NonMaxSuppression",
       "",
       {{"boxes", Filled<float>({300'000, 4})}, {"scores", Filled<float>({300'000}, 1)}, {"max_output_size", Int(300'000)}}},
      {"EncodePng", "", {{"image", Filled<uint8_t>({8000, 10'000, 3})}}},
      {"EncodePng", "", {{"image", Filled<uint8_t>({kMillion, 1, 1, 1})}}},
      {"EncodeJpeg", "progressive_ = true;", {{"image", Filled<uint8_t>({8000, 10'000, 3})}}},
  };
}

/// Blocks that read the file of a large picture, which a Variable holds.
std::vector<Row> PictureFileRows() {
  const auto row = [](std::string_view format, std::string_view attrs) {
    const std::string zero = R"({"dtype": "DT_UINT8", "shape": [], "values": [0]})";
    return Row{Cat("Decode", format),
               "",
               {{"contents", "file.ref"}},
               {Block("z", "Fill", {{"dims", Sizes({9000, 10'000, 3})}, {"value", zero}}),
                Block("e", Cat("Encode", format), {{"image", "z.output"}}, attrs),
                Block("file", "Variable", {{"initvalues", "e.contents"}}, "dtype_ = DT_STRING;shape_ = [];")},
               {"file"}};
  };
  return {row("Png", "compression_ = 1;"), row("Jpeg", ""), row("Jpeg", "progressive_ = true;")};
}

std::vector<Row> MathRows() {
  const Make longs = Filled<int64_t>({300, 40'000}, 1), turned = Filled<int64_t>({40'000, 300}, 1);
  const Make bytes = Filled<uint8_t>({2000, 20'000}, 3, DType::kQUInt8), turned_bytes = Filled<uint8_t>({20'000, 2000}, 3, DType::kQUInt8);
  const std::string low = Scalar(0), high = Scalar(1);
  return {
      {"MatMul", "", {{"a", longs}, {"b", turned}}},
      {"QuantizedMatMul", "", {{"a", bytes}, {"b", turned_bytes}, {"min_a", low}, {"max_a", high}, {"min_b", low}, {"max_b", high}}},
      {"Cumprod", "", {{"x", Filled<uint16_t>({120 * kMillion}, 0, DType::kHalf)}, {"axis", Int(0)}}},
      {"Bincount", "", {{"arr", Filled<int32_t>({120 * kMillion})}, {"size", Int(1)}, {"weights", Literal("DT_FLOAT", {0}, {})}}},
      {"UnsortedSegmentSum", "",
       {{"data", Filled<float>({40 * kMillion})}, {"segment_ids", Filled<int32_t>({40 * kMillion})}, {"num_segments", Int(1)}}},
      {"SegmentSum", "", {{"data", Filled<float>({15 * kMillion})}, {"segment_ids", Counting<int32_t>(15 * kMillion)}}},
      {"TopK", "", {{"input", Counting<int32_t>(4 * kMillion)}, {"k", Int(3 * kMillion)}}},
      {"TopK", "", {{"input", Counting<int32_t>(30 * kMillion)}, {"k", Int(1000)}}},
      {"SparseToDense", "",
       {{"sparse_indices", PlacesInOneRow(20 * kMillion)}, {"output_shape", Longs({1, 20 * kMillion})}, {"sparse_values", Scalar(1)},
        {"default_value", Scalar(0)}}},
      {"SparseReorder", "",
       {{"input_indices", MixedPlaces(15 * kMillion)}, {"input_values", Filled<float>({15 * kMillion})}, {"input_shape", Longs({1, 15 * kMillion})}}},
      {"SparseReduceSum", "",
       {{"input_indices", MixedPlaces(40 * kMillion)}, {"input_values", Filled<float>({40 * kMillion})}, {"input_shape", Longs({1, 40 * kMillion})},
        {"reduction_axes", Int(0)}}},
      {"SparseReduceSumSparse", "",
       {{"input_indices", MixedPlaces(15 * kMillion)}, {"input_values", Filled<float>({15 * kMillion})}, {"input_shape", Longs({1, 15 * kMillion})},
        {"reduction_axes", Int(0)}}},
  };
}

std::vector<Row> ArrayRows() {
  const std::string byte = R"({"dtype": "DT_UINT8", "shape": [], "values": [1]})";
  const Make longs = Counting<int64_t>(10 * kMillion), floats = Filled<float>({40 * kMillion});
  const Make ints = Filled<int64_t>({30'000});
  const std::string shape = Longs({1, 30'000});
  return {
      {"Unique", "", {{"x", longs}}},
      {"UniqueWithCounts", "", {{"x", longs}}},
      {"Unique", "", {{"x", LongStrings(40'000, 100'000)}}},
      {"SetDiff1D", "", {{"x", LongString(10)}, {"y", LongString(800'000'000)}}},
      {"SetDiff1D", "", {{"x", longs}, {"y", longs}}},
      {"Where", "", {{"condition", Filled<bool>({6000, 10'000}, true)}}},
      {"DynamicStitch", "", {{"indices", Counting<int32_t>(60 * kMillion), true}, {"data", Filled<int8_t>({60 * kMillion}), true}}},
      {"DynamicStitch", "",  // all rows but the last are made by the block
       {{"indices", Cat('[', Sizes({kit::kSanitized ? INT32_MAX / 2 : INT32_MAX}), ']')}, {"data", Cat('[', Whole("DT_INT8", {1}), ']')}}},
      {"DynamicPartition", "num_partitions_ = 2;", {{"data", floats}, {"partitions", Alternating(40 * kMillion)}}},
      {"EditDistance",
       "",
       {{"hypothesis_indices", PlacesInOneRow(30'000)},
        {"hypothesis_values", ints},
        {"hypothesis_shape", shape},
        {"truth_indices", PlacesInOneRow(30'000)},
        {"truth_values", ints},
        {"truth_shape", shape}}},
      {"DecodeRaw", "out_type_ = DT_INT16;little_endian_ = false;", {{"bytes", LongString(400'000'000)}}},
      {"RandomShuffle", "", {{"value", floats}}},
      {"OneHot", "", {{"indices", Int(0)}, {"depth", Int(1500 * kMillion)}, {"on_value", byte}, {"off_value", byte}}},
      {"ExtractImagePatches", "ksizes_ = {1,1,1500000001,1};strides_ = {1,1,1,1};rates_ = {1,1,1,1};padding_ = SAME;",
       {{"images", Filled<uint8_t>({1, 1, 1, 1})}}},
      {"Multinomial", "", {{"logits", Filled<float>({1, 10})}, {"num_samples", Int(60 * kMillion)}}},
      {"ParameterizedTruncatedNormal",
       "",
       {{"shape", Sizes({50 * kMillion})}, {"means", Scalar(0)}, {"stdevs", Scalar(1)}, {"minvals", Scalar(3)}, {"maxvals", Scalar(4)}}},
      {"HistogramSummary", "", {{"tag", R"({"dtype": "DT_STRING", "shape": [], "values": ["t"]})"}, {"values", floats}}},
      {"LogUniformCandidateSampler",
       "num_true_ = 1;num_sampled_ = 9000000;unique_ = true;range_max_ = 10000000;",
       {{"true_classes", std::string(R"({"dtype": "DT_INT64", "shape": [1, 1], "values": [0]})")}}},
      {"FixedUnigramCandidateSampler",
       "num_true_ = 1;num_sampled_ = 1;unique_ = false;range_max_ = 40000001;num_reserved_ids_ = 40000000;unigrams_ = {1};",
       {{"true_classes", std::string(R"({"dtype": "DT_INT64", "shape": [1, 1], "values": [0]})")}}},
      {"MirrorPad", "mode_ = REFLECT;", {{"input", Filled<uint8_t>({2, 500 * kMillion})}, {"paddings", Literal("DT_INT32", {2, 2}, {0, 1, 0, 0})}}},
      {"ComputeAccidentalHits",
       "num_true_ = 1;",
       {{"true_classes", Filled<int64_t>({10 * kMillion, 1}, 3)}, {"sampled_candidates", longs}}},
      {"QueueEnqueueMany",
       "",
       {{"handle", "q.handle"}, {"components", Filled<float>({20 * kMillion}), true}},
       {Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};shapes_ = {[]};")}},
      {"BarrierInsertMany",
       "component_index_ = 0;",
       {{"handle", "q.handle"}, {"keys", Keys(2 * kMillion)}, {"values", Filled<float>({2 * kMillion})}},
       {Block("q", "Barrier", {}, "component_types_ = {DT_FLOAT,DT_FLOAT};shapes_ = {[],[]};")}},
  };
}

/// Zeros, in many members of a gzip file: 2 GiB in 2 MB.
void WriteZeros(const std::filesystem::path& path) {
  std::vector<Bytef> zeros(size_t{1} << 24), packed(size_t{1} << 16);
  z_stream state{};
  REQUIRE(deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  state.next_in = zeros.data();
  state.avail_in = static_cast<uInt>(zeros.size());
  state.next_out = packed.data();
  state.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&state, Z_FINISH);
  deflateEnd(&state);
  REQUIRE(code == Z_STREAM_END);
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < 128; ++i) file.write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(state.total_out));
}

/// Blocks of Snappy without a byte.
void WriteEmptyBlocks(const std::filesystem::path& path) {
  constexpr std::string_view kBlock("\0\0\0\1\0", 5);
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < kMillion; ++i) file << kBlock;
}

/// A block that reads from a reader of the file.
Row ReaderRow(std::string_view file, std::string_view attrs, std::string_view block = "ReaderRead",
              std::string_view reader = "FixedLengthRecordReader") {
  Row row{std::string(block), "", {{"reader_handle", "r.reader_handle"}, {"queue_handle", "names.handle"}},
          {Block("names", "FIFOQueue", {}, "component_types_ = {DT_STRING};shapes_ = {[]};"),
           Block("name", "QueueEnqueue", {{"handle", "names.handle"}, {"components", Cat("[", Text(file), "]")}}),
           Block("r", reader, {}, attrs)},
          {"name"}};
  if (block == "ReaderReadUpTo") row.inputs.emplace_back("num_records", Whole("DT_INT64", {INT64_MAX}, true));
  return row;
}

std::vector<Row> FileRows(const std::filesystem::path& folder) {
  WriteZeros(folder / "zeros.gz");
  WriteEmptyBlocks(folder / "empty.snappy");
  std::ofstream(folder / "zeros");
  // AddressSanitizer marks an eighth of what is allocated and freed.
  std::filesystem::resize_file(folder / "zeros", uint64_t{1} << (kit::kSanitized ? 31 : 32));
  return {
      {"Save", "", {{"filename", Text("saved")}, {"tensor_names", Text("t", "1")}, {"data", Filled<float>({60 * kMillion}), true}}},
      {"Save", "", {{"filename", Text("saved")}, {"tensor_names", Text("t", "1")}, {"data", LongStrings(20'000, 100'000), true}}},
      {"Restore", "dt_ = DT_FLOAT;", {{"file_pattern", Text("before")}, {"tensor_name", Text("t")}},
       {Block("z", "Fill", {{"dims", Sizes({50 * kMillion})}, {"value", Scalar(1)}}),
        Block("save", "Save", {{"filename", Text("before")}, {"tensor_names", Text("t", "1")}, {"data", "[\"z.output\"]"}})}, {"save"}},
      {"WriteFile", "", {{"filename", Text("written")}, {"contents", LongString(400'000'000, Shape{})}}},
      {"ReadFile", "", {{"filename", Text("zeros")}}},
      {"ImmutableConst", "dtype_ = DT_BOOL;shape_ = [2000000000];memory_region_name_ = zeros;", {}},
      ReaderRow("zeros", "record_bytes_ = 2000000000;"),
      ReaderRow("zeros", "record_bytes_ = 1;", "ReaderReadUpTo"),
      ReaderRow("zeros.gz", "record_bytes_ = 2000000000;encoding_ = GZIP;"),
      ReaderRow("zeros.gz", "record_bytes_ = 1;header_bytes_ = 2000000000;encoding_ = GZIP;"),
      ReaderRow("zeros.gz", "record_bytes_ = 1;hop_bytes_ = 1000000000;encoding_ = GZIP;", "ReaderReadUpTo"),
      ReaderRow("empty.snappy", "compression_type_ = SNAPPY;", "ReaderRead", "TFRecordReader"),
      ReaderRow("zeros", "", "ReaderRead", "TextLineReader"),
      ReaderRow("zeros", "skip_header_lines_ = 1;", "ReaderRead", "TextLineReader"),
      ReaderRow("zeros", "", "ReaderRead", "WholeFileReader"),
      {"SaveV2", "", {{"prefix", Text("saved2")}, {"tensor_names", Text("t", "1")}, {"shape_and_slices", Text("", "1")},
                      {"tensors", Filled<float>({60 * kMillion}), true}}},
      {"SaveV2", "", {{"prefix", Text("saved2")}, {"tensor_names", Text("t", "1")}, {"shape_and_slices", Text("", "1")},
                      {"tensors", LongStrings(20'000, 100'000), true}}},
      {"RestoreV2", "dtypes_ = {DT_FLOAT};", {{"prefix", Text("before2")}, {"tensor_names", Text("t", "1")}, {"shape_and_slices", Text("", "1")}},
       {Block("z", "Fill", {{"dims", Sizes({100 * kMillion})}, {"value", Scalar(1)}}),
        Block("save", "SaveV2", {{"prefix", Text("before2")}, {"tensor_names", Text("t", "1")}, {"shape_and_slices", Text("", "1")},
                                 {"tensors", "[\"z.output\"]"}})}, {"save"}},
  };
}

std::vector<Row> QueueRows() {
  const auto row = [](int64_t rows, int64_t columns) {
    const std::string shape = columns == 1 ? "[]" : Cat("[", columns, "]");
    return Row{"QueueDequeueMany", "component_types_ = {DT_FLOAT};", {{"handle", "q.handle"}, {"n", Int(rows)}},
               {Block("q", "FIFOQueue", {}, Cat("component_types_ = {DT_FLOAT};shapes_ = {", shape, "};")),
                Block("z", "Fill", {{"dims", columns == 1 ? Sizes({rows}) : Sizes({rows, columns})}, {"value", Scalar(1)}}),
                Block("put", "QueueEnqueueMany", {{"handle", "q.handle"}, {"components", "[\"z.output\"]"}})},
               {"put"}};
  };
  return {row(4 * kMillion, 1), row(5, 50 * kMillion)};
}

/// A string of fields that no message has, 400 MB of them, within messages whose fields have these tags, the outermost first.
Make FieldsWithin(std::string_view tags) {
  return [=] {
    std::string message(400'000'005, 'a');  // as below
    for (auto tag = tags.rbegin(); tag != tags.rend(); ++tag) {
      std::string begin(1, *tag);
      for (size_t size = message.size(); size > 0; size >>= 7) begin += static_cast<char>((size & 127) | (size > 127 ? 128 : 0));
      message.insert(0, begin);
    }
    Tensor tensor = Tensor::Allocate(DType::kString, Shape{}).value();
    *static_cast<String*>(tensor.data()) = String(message);
    return tensor;
  };
}

std::vector<Row> TextRows() {
  const Make longs = LongStrings(4'000, 100'000), more = LongStrings(40'000, 100'000);
  // 'a' begins a field of nine bytes that no message here has.
  const Make fields = LongString(400'000'005, Shape{}), many = LongStrings(40'000, 99'999);
  const std::string none = R"({"dtype": "DT_STRING", "shape": [0], "values": []})", key = Cat('[', Text("k"), ']');
  return {
      {"AsString", "", {{"input", Filled<double>({20 * kMillion}, 1.5)}}},
      {"DecodeBase64", "", {{"input", LongString(400'000'000)}}},
      {"DecodeCSV", "", {{"records", longs}, {"record_defaults", Cat('[', Text("d", "1"), ']')}}},
      {"DecodeJSONExample", "", {{"json_examples", LongString(400'000'000)}}},
      {"EncodeBase64", "", {{"input", LongString(300'000'000)}}},
      {"ParseExample", "sparse_types_ = {DT_FLOAT};dense_shapes_ = {};", {{"serialized", many}, {"names", none}, {"sparse_keys", key}}},
      {"ParseSingleSequenceExample", "context_sparse_types_ = {DT_FLOAT};",
       {{"serialized", fields}, {"feature_list_dense_missing_assumed_empty", none}, {"context_sparse_keys", key}, {"debug_name", Text("")}}},
      {"ParseSingleSequenceExample", "context_sparse_types_ = {DT_FLOAT};",  // within an entry of the context
       {{"serialized", FieldsWithin("\n\n")}, {"feature_list_dense_missing_assumed_empty", none}, {"context_sparse_keys", key}, {"debug_name", Text("")}}},
      {"ParseSingleSequenceExample", "context_sparse_types_ = {DT_FLOAT};",  // within its value
       {{"serialized", FieldsWithin("\n\n\x12")}, {"feature_list_dense_missing_assumed_empty", none}, {"context_sparse_keys", key}, {"debug_name", Text("")}}},
      {"MergeSummary", "", {{"inputs", FieldsWithin("\n"), true}}},
      {"Print", "summarize_ = -1;", {{"input", Scalar(0)}, {"data", Filled<float>({100 * kMillion}), true}}},
      {"ParseTensor", "out_type_ = DT_FLOAT;", {{"serialized", fields}}},
      {"ReduceJoin", "", {{"inputs", longs}, {"reduction_indices", Sizes({0})}}},
      {"StringJoin", "", {{"inputs", longs, true}}},
      {"StringSplit", "", {{"input", longs}, {"delimiter", Text(" ,")}}},
      {"StringToHashBucket", "num_buckets_ = 10;", {{"string_tensor", more}}},
      {"StringToHashBucketFast", "num_buckets_ = 10;", {{"input", more}}},
      {"StringToHashBucketStrong", "num_buckets_ = 10;key_ = {1,2};", {{"input", more}}},
      {"Substr", "unit_ = UTF8_CHAR;", {{"input", more}, {"pos", Int(99'999)}, {"len", Int(1)}}},
  };
}

std::vector<Row> ManyStringRows() {
  // What AddressSanitizer checks of each string takes longer than the string.
  const std::string many = Sizes({(kit::kSanitized ? 10 : 100) * kMillion});
  return {{"Fill", "", {{"dims", many}, {"value", Text("short")}}}, {"Fill", "", {{"dims", many}, {"value", Text(std::string(100, 'x'))}}}};
}

}  // namespace

TEST_CASE("Blocks of pictures end within 100 ms of a run's deadline", "[deadline]") { CheckRows(ImageRows()); }

TEST_CASE("Blocks of picture files end within 100 ms of a run's deadline", "[deadline]") { CheckRows(PictureFileRows()); }

TEST_CASE("Products, sums and orders end within 100 ms of a run's deadline", "[deadline]") { CheckRows(MathRows()); }

TEST_CASE("Blocks that move, find and draw elements end within 100 ms of a run's deadline", "[deadline]") { CheckRows(ArrayRows()); }

TEST_CASE("Tensors of many strings are made and filled within 100 ms of a run's deadline", "[deadline]") { CheckRows(ManyStringRows()); }

TEST_CASE("Blocks of strings and messages end within 100 ms of a run's deadline", "[deadline]") { CheckRows(TextRows()); }

TEST_CASE("Blocks that take much out of a queue end within 100 ms of a run's deadline", "[deadline]") { CheckRows(QueueRows()); }

TEST_CASE("Blocks that read and write files end within 100 ms of a run's deadline", "[deadline]") {
  const kit::TemporaryFolder folder;
  CheckRows(FileRows(folder.path()), folder.path());
}

}  // namespace weft::test::deadline
