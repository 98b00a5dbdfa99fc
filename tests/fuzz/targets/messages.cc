// Messages and numbers as they come out of files: after the byte of the mode, the text or the message.
#include "tests/fuzz/run_block.h"
#include "tests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

Tensor Text(std::string_view text) { return Tensor::Scalar<String>(String(text)); }

std::vector<Tensor> Scalars(std::initializer_list<const char*> texts) {
  std::vector<Tensor> scalars;
  for (const char* text : texts) scalars.push_back(Text(text));
  return scalars;
}

// ---- protocol buffers ----------------------------------------------------------------------------------------------------------

/// A feature of each kind, sparse and dense: needed, with a default, with a number of rows that only the message tells.
void Example(const Mode& mode, int copies) {
  BlockCase block("ParseExample", "sparse_types_ = {DT_INT64,DT_FLOAT,DT_STRING};dense_shapes_ = {[2],[],[-1],[-1][2],[]};");
  block.Texts("serialized", std::vector<std::string>(static_cast<size_t>(copies), std::string(mode.rest))).Texts("names", {});
  block.List("sparse_keys", Scalars({"x", "y", "z"})).List("dense_keys", Scalars({"b", "a", "c", "e", "f"}));
  block.List("dense_defaults", {NoElement(DType::kFloat), Tensor::Scalar(int64_t{7}), TextVector({"-"}),
                                Tensor::Of<float>({0.5f}, Shape{1}), Text("none")});
  block.Try(mode.alone);
}
void OneExample(const Mode& mode) { Example(mode, 1); }
void ThreeExamples(const Mode& mode) { Example(mode, 3); }

void SparseExample(const Mode& mode) {
  BlockCase block("ParseExample", "sparse_types_ = {DT_INT64,DT_FLOAT,DT_STRING};dense_shapes_ = {};");
  block.Texts("serialized", {std::string(mode.rest), ""}).Texts("names", {"first", "second"}).List("sparse_keys", Scalars({"a", "b", "c"}));
  block.List("dense_keys", {}).List("dense_defaults", {}).Try(mode.alone);
}

void SequenceExample(const Mode& mode) {
  BlockCase block("ParseSingleSequenceExample",
                  "context_sparse_types_ = {DT_INT64,DT_STRING};context_dense_shapes_ = {[2],[]};feature_list_sparse_types_ = {DT_FLOAT,DT_INT64};"
                  "feature_list_dense_types_ = {DT_FLOAT,DT_STRING};feature_list_dense_shapes_ = {[2],[]};");
  block.Text("serialized", mode.rest).Texts("feature_list_dense_missing_assumed_empty", {"c"}).Text("debug_name", "one");
  block.List("context_sparse_keys", Scalars({"a", "z"})).List("context_dense_keys", Scalars({"b", "c"}));
  block.List("context_dense_defaults", {Tensor::Of<float>({1, 2}, Shape{2}), Text("none")});
  block.List("feature_list_sparse_keys", Scalars({"y", "a"})).List("feature_list_dense_keys", Scalars({"b", "c"})).Try(mode.alone);
}

void Json(const Mode& mode) { BlockCase("DecodeJSONExample", "").Texts("json_examples", {std::string(mode.rest), "{}"}).Try(mode.alone); }

template <const char* kDType>
void TensorMessage(const Mode& mode) {
  BlockCase("ParseTensor", Cat("out_type_ = ", kDType, ";")).Text("serialized", mode.rest).Try(mode.alone);
}

// ---- text ----------------------------------------------------------------------------------------------------------------------

/// Fields of each type that CSV has.
void Csv(const Mode& mode, const char* attrs) {
  BlockCase block("DecodeCSV", attrs);
  block.Texts("records", {std::string(mode.rest)});
  block.List("record_defaults", {Tensor::Scalar(1.0f), Tensor::Scalar(int64_t{2}), Text("x"), Tensor::Of<int32_t>({3}, Shape{1}),
                                 NoElement(DType::kDouble)});
  block.Try(mode.alone);
}
template <const char* kAttrs>
void CsvWith(const Mode& mode) {
  Csv(mode, kAttrs);
}

template <const char* kDType>
void Number(const Mode& mode) {
  BlockCase("StringToNumber", Cat("out_type_ = ", kDType, ";")).Text("string_tensor", mode.rest).Try(mode.alone);
}

void Base64(const Mode& mode) { BlockCase("DecodeBase64", "").Text("input", mode.rest).Try(mode.alone); }

// ---- what the first byte picks -------------------------------------------------------------------------------------------------

constexpr char kHalf[] = "DT_HALF", kFloat[] = "DT_FLOAT", kDouble[] = "DT_DOUBLE", kInt32[] = "DT_INT32", kInt64[] = "DT_INT64",
               kBool[] = "DT_BOOL", kString[] = "DT_STRING", kComplex[] = "DT_COMPLEX64", kUInt32[] = "DT_UINT32", kUInt64[] = "DT_UINT64",
               kQuantized[] = "DT_QUINT8";
constexpr char kPlain[] = "", kBars[] = "field_delim_ = |;na_value_ = NA;", kUnquoted[] = "use_quote_delim_ = false;",
               kChosen[] = "select_cols_ = {0,2,3,4,6};";

using Way = void (*)(const Mode&);
constexpr Way kMessages[] = {OneExample, ThreeExamples, SparseExample, SequenceExample, Json, TensorMessage<kHalf>, TensorMessage<kFloat>,
                             TensorMessage<kInt32>, TensorMessage<kInt64>, TensorMessage<kBool>, TensorMessage<kString>, TensorMessage<kComplex>,
                             TensorMessage<kQuantized>};
constexpr Way kTexts[] = {CsvWith<kPlain>, CsvWith<kBars>, CsvWith<kUnquoted>, CsvWith<kChosen>, Number<kFloat>, Number<kDouble>,
                          Number<kInt32>, Number<kInt64>, Number<kUInt32>, Number<kUInt64>, Base64};

void RunWay(std::span<const Way> ways, std::string_view bytes) {
  const Mode mode(bytes, ways.size());
  ways[mode.way](mode);
  CheckMemoryReturned();
}

}  // namespace

void Messages(std::string_view bytes) { RunWay(kMessages, bytes); }
void Texts(std::string_view bytes) { RunWay(kTexts, bytes); }

}  // namespace weft::fuzz
