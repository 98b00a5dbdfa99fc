// The base layer: what every other layer takes for granted.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/base/float16.h"
#include "weft/base/tensor.h"

using namespace weft;

namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("needs an even number, found ", value);
  return value / 2;
}

Result<int> Quarter(int value) {
  WEFT_ASSIGN_OR_RETURN(int half, Half(value));
  WEFT_RETURN_IF_ERROR(half > 100 ? OutOfRange("too much") : Status());
  return Half(half);
}

Result<Shape> MakeShape(std::initializer_list<int64_t> dims) { return Shape::Make(std::span(dims.begin(), dims.size())); }

}  // namespace

TEST_CASE("a status says what and where", "[base]") {
  CHECK(Status().ok());
  CHECK(Status(Code::kOk, "ignored").ok());
  CHECK(ToString(Status()) == "ok");
  Status status = NotFound("no block '", "a", "' among ", 3).WithPort("x").WithPort("outer").WithBlock("b").WithPage("p.json").WithPointer("/blocks/0").WithHint("add it");
  CHECK(ToString(status) == "p.json:/blocks/0: b.x: not_found: no block 'a' among 3 (add it)");
  Status copy = status;
  copy = std::move(copy).Append(".");
  CHECK(copy.message() == "no block 'a' among 3.");
  CHECK(status.message() == "no block 'a' among 3");
  CHECK(Status().message().empty());
  CHECK(std::move(Status()).WithPort("x").place().port.empty());
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) CHECK(CodeFromName(CodeName(static_cast<Code>(code))) == static_cast<Code>(code));
  CHECK(!CodeFromName("fine"));
  CHECK(*Quarter(8) == 2);
  CHECK(Quarter(6).status().message() == "needs an even number, found 3");
  CHECK(Quarter(800).status().code() == Code::kOutOfRange);
}

TEST_CASE("diagnostics are kept in order and counted beyond their limit", "[base]") {
  Diagnostics all;
  all.Warning(NotFound("first"));
  for (size_t i = 0; i < Diagnostics::kLimit + 10; ++i) all.Error(InvalidArgument("fault ", i));
  CHECK(all.all().size() == Diagnostics::kLimit);
  CHECK(all.errors() == Diagnostics::kLimit + 10);
  CHECK(all.warnings() == 1);
  CHECK(all.FirstError().message() == "fault 0");
  CHECK(Diagnostics().FirstError().ok());
  Diagnostics more;
  more.Append(all);
  CHECK(more.errors() == all.errors());
  Diagnostic placed{Severity::kError, InvalidArgument("m").WithPage("page.json").WithPointer("/blocks/3").WithBlock("b").WithPort("x").WithHint("h")};
  CHECK(ToString(placed) == "page.json:/blocks/3: error: b.x: m (h)");
}

TEST_CASE("shapes count their elements and refuse what cannot be", "[base]") {
  CHECK(Shape{}.count() == 1);
  CHECK(Shape{2, 0, 3}.count() == 0);
  CHECK(Shape{2, 3, 4}.count(1, 3) == 12);
  CHECK(Shape{2, 3, 4}.count(1, 1) == 1);
  CHECK(ToString(Shape{2, 3}) == "[2,3]");
  CHECK(ToString(Shape{}) == "[]");
  CHECK(MakeShape({INT64_MAX}).ok());
  for (auto dims : {std::initializer_list<int64_t>{-1}, {INT64_MAX, 2}, {0, INT64_MAX, INT64_MAX}, {int64_t{1} << 32, int64_t{1} << 31}}) {
    CHECK(MakeShape(dims).status().code() == Code::kInvalidArgument);
  }
  std::vector<int64_t> many(kMaxRank, 1);
  CHECK(Shape::Make(many)->rank() == kMaxRank);
  many.push_back(1);
  CHECK(!Shape::Make(many).ok());

  Shape inline_dims{1, 2, 3, 4, 5, 6}, heap{1, 2, 3, 4, 5, 6, 7};
  Shape copy = heap;
  copy.set_dim(6, 8);
  CHECK(heap[6] == 7);
  CHECK(copy != heap);
  copy = inline_dims;
  CHECK(copy == inline_dims);
  std::swap(copy, heap);
  CHECK(copy.rank() == 7);
  CHECK(heap == inline_dims);
  Shape moved = std::move(copy);
  CHECK(moved.count() == 5040);

  CHECK(CheckedMultiply(INT64_MAX, 1) == INT64_MAX);
  CHECK(!CheckedMultiply(INT64_MAX, 2));
  CHECK(CheckedMultiply(0, INT64_MAX) == 0);
}

TEST_CASE("partial shapes know what they do not know", "[base]") {
  PartialShape unknown, some = PartialShape::Make({-1, 3}).value(), all(Shape{2, 3});
  CHECK(ToString(unknown) == "?");
  CHECK(ToString(some) == "[?,3]");
  CHECK(!unknown.complete());
  CHECK(!some.shape());
  CHECK(*all.shape() == Shape{2, 3});
  for (const auto& shape : {unknown, some, all}) CHECK(shape.Accepts(Shape{2, 3}));
  CHECK(!some.Accepts(Shape{2, 4}));
  CHECK(!some.Accepts(Shape{3}));
  CHECK(unknown.Accepts(Shape{}));
  CHECK(unknown != PartialShape(Shape{}));
  CHECK(!PartialShape::Make({-2}).ok());
  CHECK(PartialShape::Make({-1, -1, INT64_MAX}).ok());
}

TEST_CASE("types have names, sizes and classes", "[base]") {
  for (int i = 1; i < kDTypeCount; ++i) {
    DType dtype = static_cast<DType>(i);
    INFO(DTypeName(dtype));
    CHECK(DTypeFromName(DTypeName(dtype)) == dtype);
    CHECK(DTypeFromName(Cat(DTypeName(dtype), "_REF")) == dtype);
    CHECK(ElementSize(dtype) > 0);
    CHECK(IsFloating(dtype) + IsComplex(dtype) + IsQuantized(dtype) + IsInteger(dtype) + IsManaged(dtype) + (dtype == DType::kBool) == 1);
    bool listed = false;
    Dispatch(dtype, kAllTypes, [&]<class T>() { listed = sizeof(T) == ElementSize(dtype); });
    CHECK(listed);
  }
  CHECK(DTypeFromName("float32") == DType::kFloat);
  CHECK(DTypeFromName("bfloat16") == DType::kBFloat16);
  CHECK(DTypeFromName("string") == DType::kString);
  for (const char* name : {"", "DT_", "_REF", "DT_FLOAT_REF_REF", "dt_float", "DT_VARIANT"}) CHECK(!DTypeFromName(name));
  CHECK(Dispatch(DType::kBool, kFloats, []<class T>() { return 1; }) == 0);
}

TEST_CASE("integer arithmetic wraps", "[base]") {
  CHECK(WrapAdd<int32_t>(INT32_MAX, 1) == INT32_MIN);
  CHECK(WrapSubtract<int64_t>(INT64_MIN, 1) == INT64_MAX);
  CHECK(WrapMultiply<int64_t>(INT64_MAX, 2) == -2);
  CHECK(WrapMultiply<uint16_t>(65535, 65535) == 1);
  CHECK(WrapMultiply<int8_t>(-128, -1) == -128);
  CHECK(WrapAdd<uint8_t>(255, 1) == 0);
  CHECK(WrapAdd(1.5f, 2.0f) == 3.5f);
  CHECK(WrapMultiply(complex64(0, 1), complex64(0, 1)) == complex64(-1, 0));
}

TEST_CASE("tensors share, clone and print their elements", "[base]") {
  Tensor tensor = Tensor::Of<float>({1, 2.5f, 3, -0.0f}, Shape{2, 2});
  CHECK(ToString(tensor) == "DT_FLOAT [2,2] {{1,2.5},{3,-0}}");
  CHECK(ToString(tensor, 2) == "DT_FLOAT [2,2] {{1,2.5},...}");
  CHECK(ToString(Tensor()) == "nothing");
  CHECK(ToString(Tensor::Scalar<String>("a")) == "DT_STRING [] \"a\"");
  CHECK(ToString(Tensor::Scalar<String>("a\n\"b\\")) == "DT_STRING [] \"a\\n\\\"b\\\\\"");  // one line, whatever the value is
  // Lists without elements are not written without end.
  const Tensor rows = Tensor::Allocate(DType::kFloat, Shape{int64_t{1} << 62, 0}).value();
  CHECK(ToString(rows, 3) == "DT_FLOAT [4611686018427387904,0] {{},{},{},...}");
  CHECK(ToString(Tensor::Allocate(DType::kFloat, Shape{2, 0}).value(), 3) == "DT_FLOAT [2,0] {{},{}}");
  CHECK(ElementText(Tensor::Scalar(complex64(1, -2)), 0) == "1-2j");
  CHECK(ElementText(Tensor::Scalar(complex64(1, -NAN)), 0) == "1+nanj");
  CHECK(ElementText(Tensor::Scalar(half(0.5f)), 0) == "0.5");
  CHECK(ElementText(Tensor::Scalar(true), 0) == "true");
  CHECK(reinterpret_cast<uintptr_t>(tensor.data()) % 64 == 0);
  CHECK(tensor.bytes() == 16);

  Tensor shared = tensor.Reshaped(Shape{4});
  CHECK(shared.data() == tensor.data());
  Tensor clone = tensor.Clone().value();
  CHECK(clone.data() != tensor.data());
  CHECK(SameBits(clone, tensor));
  clone.values<float>()[3] = 0.0f;
  CHECK(!SameBits(clone, tensor));
  CHECK(!SameBits(shared, tensor));
  float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(SameBits(Tensor::Scalar(nan), Tensor::Scalar(nan)));

  Tensor text = Tensor::Of<String>({"one", std::string(100, 'x')});
  Tensor text_clone = text.Clone().value();
  text_clone.values<String>()[0] = "two";
  CHECK(text.values<String>()[0] == "one");
  Tensor empty = Tensor::Allocate(DType::kFloat, Shape{0, 3}).value();
  CHECK(empty.data() != nullptr);
  CHECK(SameBits(empty, empty.Clone().value()));
  CHECK(Tensor::Allocate(DType::kDouble, Shape{INT64_MAX}).status().code() == Code::kResourceExhausted);
  CHECK(Tensor::Allocate(DType::kDouble, Shape{int64_t{1} << 58}).status().code() == Code::kResourceExhausted);
}

TEST_CASE("large tensors begin at different places of a page", "[base]") {
  const Shape large{4 << 20};
  std::vector<Tensor> tensors;
  std::set<uintptr_t> places;
  for (uint8_t i = 0; i < 16; ++i) {
    tensors.push_back(Tensor::Allocate(DType::kUInt8, large).value());
    const uintptr_t address = reinterpret_cast<uintptr_t>(tensors.back().data());
    CHECK(address % 64 == 0);
    places.insert(address % 4096);
    std::span<uint8_t> values = tensors.back().values<uint8_t>();
    values.front() = values.back() = i;
  }
  CHECK(places.size() >= 4);
  for (uint8_t i = 0; i < 16; ++i) CHECK(tensors[i].values<uint8_t>().front() == i);
  for (uint8_t i = 0; i < 16; ++i) CHECK(tensors[i].values<uint8_t>().back() == i);
}

TEST_CASE("a memory budget refuses what goes over it", "[base]") {
  const int64_t first_bytes = Buffer::HeldBytes(800), second_bytes = Buffer::HeldBytes(192);
  CHECK(first_bytes >= 800 + static_cast<int64_t>(sizeof(Buffer)));
  auto budget = std::make_shared<MemoryBudget>(first_bytes + second_bytes);
  {
    Tensor first = Tensor::Allocate(DType::kFloat, Shape{200}, budget).value();
    CHECK(budget->used() == first_bytes);
    Tensor copy = first;
    CHECK(budget->used() == first_bytes);
    auto second = Tensor::Allocate(DType::kFloat, Shape{51}, budget);
    CHECK(second.status().code() == Code::kResourceExhausted);
    CHECK_THAT(second.status().message(), Catch::Contains("204 bytes"));
    CHECK(Tensor::Allocate(DType::kFloat, Shape{48}, budget).ok());
  }
  CHECK(budget->used() == 0);
  {
    const Tensor high = Tensor::Allocate(DType::kInt8, Shape{1, 1, 1, 1, 1, 1, 8}, budget).value();
    CHECK(budget->used() == Buffer::HeldBytes(8) + 7 * static_cast<int64_t>(sizeof(int64_t)));
  }
  CHECK(!budget->Reserve(INT64_MAX));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) (void)Tensor::Allocate(DType::kInt8, Shape{300}, budget).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(budget->used() == 0);
  CHECK(MemoryBudget::ForMachine()->limit() > 0);
}

TEST_CASE("text is built, compared and checked", "[base]") {
  CHECK(Cat("a", 'b', 1, true, 0.1f, 0.1, Shape{2}, DType::kFloat) == "ab1true0.10.1[2]DT_FLOAT");
  CHECK(Cat(std::nanf(""), " ", -INFINITY, " ", -0.0) == "nan -inf -0");
  CHECK(Cat(uint64_t{18446744073709551615u}) == "18446744073709551615");
  CHECK(EditDistance("kitten", "sitting", 10) == 3);
  CHECK(EditDistance("", "abc", 10) == 3);
  CHECK(EditDistance("abcdef", "a", 3) == 3);
  CHECK(EditDistance("Conts", "Const", 10) == 1);
  CHECK(EditDistance("ab", "ba", 2) == 1);
  CHECK(EditDistance("abcd", "badc", 3) == 2);
  CHECK(EditDistance("nchw", "NCHW", 3) == 0);
  CHECK(DidYouMean("Conts", std::vector<std::string>{"Conj", "Cos", "Const"}) == "did you mean 'Const'?");
  const std::vector<std::string> names{"out_backprop", "data_format", "input"};
  CHECK(DidYouMean("out_bakprop", names) == "did you mean 'out_backprop'?");
  CHECK(DidYouMean("zzz", names).empty());
  CHECK(DidYouMean("", names).empty());

  for (const char* good : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF", "\xEE\x80\x80"}) CHECK(IsValidUtf8(good));
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
                          "a\xE2\x82", "\xE2\x28\xA1"}) {
    CHECK(!IsValidUtf8(bad));
  }
  CHECK(IsValidUtf8(std::string_view("\0", 1)));
}
