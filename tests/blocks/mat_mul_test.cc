// Products of sizes that are packed, cut into tiles and shared out, against plain sums in double.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "blocks/kernels/gemm/gemm.h"
#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

struct ProductSizes {
  int64_t rows, inner, columns;
};

/// Small whole numbers: products and their sums are exact in every type.
template <class T>
Tensor WholeFactors(Shape shape, uint32_t seed) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  uint32_t state = seed;
  for (T& value : tensor.values<T>()) {
    state = state * 1664525u + 1013904223u;
    if constexpr (Complex<T>) value = T(static_cast<float>(state >> 30), static_cast<float>((state >> 28) & 3u) - 1.0f);
    else value = static_cast<T>(static_cast<float>(state >> 30));
  }
  return tensor;
}

template <class T>
Tensor PlainProduct(const Tensor& a, bool ta, const Tensor& b, bool tb, const ProductSizes& s) {
  using Wide = std::conditional_t<Complex<T>, complex128, double>;
  Tensor product = Tensor::Allocate(kDTypeOf<T>, Shape{s.rows, s.columns}).value();
  const auto x = a.values<T>(), y = b.values<T>();
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t c = 0; c < s.columns; ++c) {
      Wide sum{};
      for (int64_t i = 0; i < s.inner; ++i) {
        sum += static_cast<Wide>(x[ta ? i * s.rows + r : r * s.inner + i]) * static_cast<Wide>(y[tb ? c * s.inner + i : i * s.columns + c]);
      }
      product.values<T>()[r * s.columns + c] = static_cast<T>(sum);
    }
  }
  return product;
}

template <class T>
void CheckProducts(const ProductSizes& s) {
  for (int transposes = 0; transposes < 4; ++transposes) {
    const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
    INFO(ToString(kDTypeOf<T>) << " " << s.rows << " by " << s.inner << " by " << s.columns << ", transposes " << ta << " " << tb);
    const Tensor a = WholeFactors<T>(ta ? Shape{s.inner, s.rows} : Shape{s.rows, s.inner}, 1);
    const Tensor b = WholeFactors<T>(tb ? Shape{s.columns, s.inner} : Shape{s.inner, s.columns}, 2);
    const BlockResult result =
        BlockTester(Catalog(), "MatMul").Attrs(Cat("transpose_a_ = ", ta, ";transpose_b_ = ", tb, ";")).Input("a", a).Input("b", b).Run();
    INFO(ToString(result.status));
    REQUIRE(result.status.ok());
    CHECK(SameBits(result.outputs.at("product"), PlainProduct<T>(a, ta, b, tb, s)));
  }
}

TEST_CASE("Products are computed by the implementation that their sizes choose", "[matmul]") {
  const auto chosen = [](const ProductSizes& s, bool turned = false) {
    kernels::Product<float> p{s.rows, s.columns, s.inner, {nullptr, s.inner, 1}, {nullptr, s.columns, 1}, nullptr, s.columns};
    if (turned) p.right = {nullptr, 1, s.inner};
    return std::string(kernels::NameOf(kernels::ChooseGemm(p)));
  };
  CHECK(chosen({4, 4, 4}) == "plain");
  CHECK(chosen({0, 500, 400}) == "plain");
  CHECK(chosen({1, 1024, 1024}) == "skinny gemv");
  CHECK(chosen({1024, 1024, 1}) == "skinny gemv");
  CHECK(chosen({100, 784, 5}) == "skinny dot");
  CHECK(chosen({5, 784, 100}) == "blocked");  // the other operand does not lie along the inner dimension
  CHECK(chosen({5, 784, 100}, true) == "skinny dot");
  CHECK(chosen({256, 256, 256}) == "blocked");
}

TEST_CASE("Products whose rows may be in any number are computed alike for all of them", "[matmul]") {
  const auto chosen = [](const ProductSizes& s, kernels::SumOrder order) {
    kernels::Product<float> p{s.rows, s.columns, s.inner, {nullptr, s.inner, 1}, {nullptr, s.columns, 1}, nullptr, s.columns};
    p.order = order;
    return std::string(kernels::NameOf(kernels::ChooseGemm(p)));
  };
  for (const int64_t rows : {1, 2, 5, 100, 5000}) {
    INFO(rows << " rows");
    CHECK(chosen({rows, 784, 1}, kernels::SumOrder::kByColumns) == "skinny gemv");
    CHECK(chosen({rows, 784, 4}, kernels::SumOrder::kByColumns) == "skinny gemv");
    CHECK(chosen({rows, 784, 5}, kernels::SumOrder::kByColumns) == "skinny dot");
    CHECK(chosen({rows, 784, 5}, kernels::SumOrder::kBySteps) == "blocked");
  }
}

TEST_CASE("Large products of floats, in tiles", "[matmul]") {
  for (const ProductSizes& s :
       {ProductSizes{97, 257, 300}, ProductSizes{200, 30, 40}, ProductSizes{13, 700, 33}, ProductSizes{500, 20, 513},
        ProductSizes{784, 100, 10}, ProductSizes{32, 400, 512}, ProductSizes{9, 400, 70}, ProductSizes{6, 1000, 6}}) {
    CheckProducts<float>(s);
    CheckProducts<double>(s);
  }
}

TEST_CASE("Large products of other types, in tiles", "[matmul]") {
  const ProductSizes s{101, 150, 270};
  CheckProducts<half>(s);
  CheckProducts<bfloat16>({101, 25, 270});  // sums that bfloat16 holds
  CheckProducts<int16_t>(s);
  CheckProducts<int32_t>(s);
  CheckProducts<int64_t>(s);
  CheckProducts<uint8_t>({101, 28, 270});
  CheckProducts<complex64>(s);
  CheckProducts<complex128>(s);
}

TEST_CASE("Products with few rows or columns", "[matmul]") {
  const ProductSizes thin[] = {{1, 1500, 700}, {700, 1100, 1}, {3, 130, 900}, {900, 130, 4},
                               {1, 100000, 1}, {2, 3, 5000},   {0, 5, 300},   {300, 0, 300}};
  for (const ProductSizes& s : thin) {
    CheckProducts<float>(s);
    CheckProducts<int32_t>(s);
  }
  // Of five to twelve, along whose inner dimension whole registers are read: no multiple of them, and longer than what is laid out.
  for (const ProductSizes& s : {ProductSizes{100, 784, 10}, ProductSizes{9, 77, 60}, ProductSizes{70, 2100, 5}, ProductSizes{12, 1030, 333},
                                ProductSizes{8, 65, 11}, ProductSizes{65, 5, 7}, ProductSizes{129, 770, 12}, ProductSizes{5, 300, 1000}}) {
    CheckProducts<float>(s);
    CheckProducts<double>(s);
  }
  CheckProducts<half>({3, 130, 900});
  CheckProducts<bfloat16>({900, 25, 2});
  for (const ProductSizes& s :
       {ProductSizes{1, 130, 300}, ProductSizes{2, 200, 131}, ProductSizes{4, 150, 68}}) {  // sums that small integers may hold or not
    CheckProducts<int16_t>(s);
    CheckProducts<int64_t>(s);
    CheckProducts<half>(s);
  }
  CheckProducts<uint8_t>({1, 28, 135});
  CheckProducts<uint16_t>({3, 140, 99});
  CheckProducts<int16_t>({2, 900, 1001});
  CheckProducts<complex64>({2, 130, 300});
}

/// Memory of some bytes, aligned as a cache line is.
class Lines {
 public:
  explicit Lines(int64_t bytes) : memory_(static_cast<size_t>(bytes) + 64) {}
  void* data() { return memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64) % 64; }

 private:
  std::vector<std::byte> memory_;
};

/// The tiles of a product from the first or from the last, each packing for itself or sharing what is packed before.
template <class T>
void ComputeTiles(kernels::Product<T> p, bool shared, bool backwards) {
  kernels::GemmParts parts = kernels::PartsOf(p);
  Lines packed(parts.packed_bytes);
  if (shared && parts.packed_parts > 0) {
    p.packed = packed.data();
    for (int64_t i = parts.packed_parts; i-- > 0;) kernels::PackPart(p, i);
    parts = kernels::PartsOf(p);
  }
  Lines workspace(parts.workspace_bytes);
  const int64_t tiles = parts.tiles;
  for (int64_t i = 0; i < tiles; ++i) kernels::ComputeTile(p, backwards ? tiles - 1 - i : i, workspace.data());
}

template <class T>
std::vector<T> InTiles(kernels::Product<T> p, bool shared, bool backwards) {
  std::vector<T> out(static_cast<size_t>(p.rows * p.columns));
  p.out = out.data();
  ComputeTiles(p, shared, backwards);
  return out;
}

template <class T>
void CheckShared(const ProductSizes& s, bool transposed) {
  INFO(ToString(kDTypeOf<T>) << " " << s.rows << " by " << s.inner << " by " << s.columns << ", transposed " << transposed);
  Tensor a = Tensor::Allocate(kDTypeOf<T>, Shape{s.rows, s.inner}).value(),
         b = Tensor::Allocate(kDTypeOf<T>, Shape{s.inner, s.columns}).value();
  for (const Tensor* operand : {&a, &b}) {
    for (int64_t i = 0; i < operand->count(); ++i)
      const_cast<T*>(operand->values<T>().data())[i] = static_cast<T>(std::sin(static_cast<float>(i)));
  }
  kernels::Product<T> p{s.rows,  s.columns, s.inner, {a.values<T>().data(), s.inner, 1}, {b.values<T>().data(), s.columns, 1},
                        nullptr, s.columns};
  if (transposed) p.right = {b.values<T>().data(), 1, s.inner};
  REQUIRE(kernels::PartsOf(p).packed_bytes > 0);
  REQUIRE(kernels::PartsOf(p).packed_parts > 1);
  const std::vector<T> own = InTiles(p, false, false);
  CHECK(std::memcmp(own.data(), InTiles(p, true, false).data(), own.size() * sizeof(T)) == 0);
  CHECK(std::memcmp(own.data(), InTiles(p, true, true).data(), own.size() * sizeof(T)) == 0);
}

TEST_CASE("Tiles that share a packed operand give the bits of tiles that pack for themselves", "[matmul]") {
  for (const ProductSizes& s : {ProductSizes{450, 330, 513}, ProductSizes{400, 70, 560}, ProductSizes{393, 700, 545}}) {
    CheckShared<float>(s, false);
    CheckShared<float>(s, true);
    CheckShared<double>(s, false);
    CheckShared<half>(s, false);
    CheckShared<bfloat16>(s, true);
  }
}

/// A product with one side of five to twelve, added to what is there in a wider matrix or not, in slices or not.
template <class T>
void CheckSkinny(const ProductSizes& s, bool turned, bool add, bool shared) {
  INFO(ToString(kDTypeOf<T>) << " " << s.rows << " by " << s.inner << " by " << s.columns << ", turned " << turned << ", shared "
                             << shared);
  const Tensor a = WholeFactors<T>(turned ? Shape{s.inner, s.rows} : Shape{s.rows, s.inner}, 3),
               b = WholeFactors<T>(Shape{s.inner, s.columns}, 4);
  const Tensor product = PlainProduct<T>(a, turned, b, false, s);
  const int64_t stride = s.columns + (add ? 5 : 0);
  std::vector<T> out(static_cast<size_t>(s.rows * stride) + 1, T(7));
  const T *x = a.values<T>().data(), *y = b.values<T>().data();
  kernels::Product<T> p{s.rows, s.columns, s.inner, {x, s.inner, 1}, {y, s.columns, 1}, out.data(), stride};
  if (turned) p.left = {x, 1, s.rows};
  p.add = add;
  ComputeTiles(p, shared, true);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t r = i / stride, c = i % stride;
    const bool inside = r < s.rows && c < s.columns;
    const T expected = (inside ? product.values<T>()[r * s.columns + c] : T(0)) + (add || !inside ? T(7) : T(0));
    if (out[static_cast<size_t>(i)] != expected)
      FAIL("at " << r << ", " << c << ": " << out[static_cast<size_t>(i)] << ", not " << expected);
  }
}

TEST_CASE("Sums of thin products, in pieces that threads share, are those of whole ones", "[matmul]") {
  for (const ProductSizes& s : {ProductSizes{1, 1024, 1024}, ProductSizes{3, 700, 555}, ProductSizes{2, 5000, 67}}) {
    CheckShared<float>(s, false);
    CheckShared<double>(s, false);
  }
  for (const ProductSizes& s : {ProductSizes{1, 200003, 1}, ProductSizes{4, 70001, 5}, ProductSizes{5, 70001, 2}}) {
    CheckShared<float>(s, true);
    CheckShared<double>(s, true);
    CheckShared<half>(s, true);
  }
  CheckShared<half>({1, 900, 1000}, false);
  CheckShared<bfloat16>({4, 2000, 333}, false);
}

TEST_CASE("Thin products leave alone what lies between and after their results", "[matmul]") {
  for (const ProductSizes& s :
       {ProductSizes{3, 784, 1100}, ProductSizes{1100, 784, 3}, ProductSizes{4, 1030, 261}, ProductSizes{2, 300, 77},
        ProductSizes{70, 200, 1}, ProductSizes{1, 131, 1}, ProductSizes{500, 1500, 2}, ProductSizes{2, 4101, 3}}) {
    for (int kind = 0; kind < 8; ++kind) {
      CheckSkinny<float>(s, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
      CheckSkinny<double>(s, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
    }
  }
}

/// A thin product by a matrix whose elements lie apart in both directions.
template <class T>
void CheckApart(int64_t few, int64_t inner, int64_t many, bool on_left) {
  INFO(ToString(kDTypeOf<T>) << " " << few << " by " << inner << " by " << many << ", on the left " << on_left);
  const Tensor x = WholeFactors<T>(Shape{few, inner}, 5), matrix = WholeFactors<T>(Shape{inner * many * 6}, 6);
  const int64_t step = 2, stride = 3 * many;
  const kernels::MatrixView<T> vectors{x.values<T>().data(), inner, 1}, apart{matrix.values<T>().data(), stride, step};
  std::vector<T> out(static_cast<size_t>(few * many));
  kernels::Product<T> p{few, many, inner, vectors, apart, out.data(), many};
  if (on_left) p = {many, few, inner, apart.Transposed(), vectors.Transposed(), out.data(), few};
  Lines workspace(kernels::PartsOf(p).workspace_bytes);
  p.scratch = workspace.data();
  kernels::MatMul(p);
  for (int64_t f = 0; f < few; ++f) {
    for (int64_t m = 0; m < many; ++m) {
      double sum = 0;
      for (int64_t i = 0; i < inner; ++i) {
        sum += static_cast<double>(x.values<T>()[f * inner + i]) * static_cast<double>(matrix.values<T>()[i * stride + m * step]);
      }
      const T found = out[static_cast<size_t>(on_left ? m * few + f : f * many + m)];
      if (found != static_cast<T>(static_cast<int64_t>(sum)))
        FAIL("at " << f << ", " << m << ": " << static_cast<double>(found) << ", expected " << sum);
    }
  }
}

TEST_CASE("Thin products by matrices whose elements lie apart", "[matmul]") {
  for (bool on_left : {false, true}) {
    for (int64_t few : {1, 2, 3, 4}) {
      CheckApart<float>(few, 300, 1, on_left);
      CheckApart<float>(few, 5000, 7, on_left);
      CheckApart<double>(few, 140, 90, on_left);
      CheckApart<half>(few, 150, 9, on_left);
      CheckApart<uint8_t>(few, 9000 + few, 3, on_left);
    }
  }
}

TEST_CASE("Narrow products leave alone what lies between and after their results", "[matmul]") {
  for (const ProductSizes& s : {ProductSizes{100, 784, 10}, ProductSizes{784, 100, 10}, ProductSizes{10, 784, 90},
                                ProductSizes{61, 1500, 12}, ProductSizes{333, 300, 5}}) {
    for (int kind = 0; kind < 8; ++kind) {
      CheckSkinny<float>(s, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
      CheckSkinny<double>(s, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
    }
  }
}

TEST_CASE("A product can be added to what is there, and lie in a wider matrix", "[matmul]") {
  for (const ProductSizes& s : {ProductSizes{2, 2, 2}, ProductSizes{3, 40, 300}, ProductSizes{30, 300, 40}}) {
    const Tensor a = WholeFactors<float>(Shape{s.rows, s.inner}, 3), b = WholeFactors<float>(Shape{s.inner, s.columns}, 4);
    const Tensor product = PlainProduct<float>(a, false, b, false, s);
    const int64_t stride = s.columns + 5;
    std::vector<float> out(static_cast<size_t>(s.rows * stride), 7.0f);
    const float *x = a.values<float>().data(), *y = b.values<float>().data();
    kernels::Product<float> p{s.rows, s.columns, s.inner, {x, s.inner, 1}, {y, s.columns, 1}, out.data(), stride};
    p.add = true;
    Lines workspace(kernels::PartsOf(p).workspace_bytes);
    p.scratch = workspace.data();
    kernels::MatMul(p);
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t c = 0; c < stride; ++c) {
        const float expected = c < s.columns ? 7.0f + product.values<float>()[r * s.columns + c] : 7.0f;
        if (out[r * stride + c] != expected) FAIL("at " << r << ", " << c << ": " << out[r * stride + c] << ", expected " << expected);
      }
    }
  }
}

template <class T>
int64_t WorkspaceElements(const kernels::Product<T>& p) {
  return kernels::PartsOf(p).workspace_bytes / static_cast<int64_t>(sizeof(Accumulator<T>));
}

TEST_CASE("No product of some size needs more workspace than is planned for all of them", "[matmul]") {
  for (int64_t rows : {1, 9, 33, 57, 98, 99, 400, 1000}) {
    for (int64_t columns : {1, 9, 31, 64, 161, 256, 300, 1000}) {
      for (int64_t inner : {1, 12, 160, 320, 321, 513, 2000}) {
        const int64_t most = kernels::MostWorkspace(rows, columns, inner);
        for (int kind = 0; kind < 4; ++kind) {
          const auto of = [&]<class T>(T) {
            kernels::Product<T> p{rows, columns, inner, {nullptr, inner, 1}, {nullptr, columns + 600, 1}, nullptr, columns};
            if (kind & 1) p.left = {nullptr, 1, rows + 5};
            if (kind & 2) p.right = {nullptr, 1, inner + 7};
            return WorkspaceElements(p);
          };
          INFO(rows << " by " << inner << " by " << columns << ", kind " << kind);
          CHECK(std::max({of(0.0f), of(0.0), of(half(0)), of(bfloat16(0)), of(int32_t{0})}) <= most);
        }
      }
    }
  }
}

template <class T>
void CheckBatch(const ProductSizes& s, int64_t count) {
  INFO(ToString(kDTypeOf<T>) << ", " << count << " of " << s.rows << " by " << s.inner << " by " << s.columns);
  for (bool adjoint : {false, true}) {
    const Tensor x = WholeFactors<T>(Shape{count, s.rows, s.inner}, 7),
                 y = WholeFactors<T>(adjoint ? Shape{count, s.columns, s.inner} : Shape{count, s.inner, s.columns}, 8);
    const BlockResult result =
        BlockTester(Catalog(), "BatchMatMulV2").Attrs(Cat("adj_y_ = ", adjoint, ";")).Input("x", x).Input("y", y).Run();
    INFO(ToString(result.status));
    REQUIRE(result.status.ok());
    const auto found = result.outputs.at("output").template values<T>();
    for (int64_t i = 0; i < count; ++i) {
      Tensor a = Tensor::Allocate(kDTypeOf<T>, Shape{s.rows, s.inner}).value(), b = Tensor::Allocate(kDTypeOf<T>, Shape{s.inner, s.columns}).value();
      std::copy_n(x.values<T>().data() + i * a.count(), a.count(), a.values<T>().data());
      std::copy_n(y.values<T>().data() + i * b.count(), b.count(), b.values<T>().data());
      if (adjoint && Complex<T>) {
        if constexpr (Complex<T>) for (T& z : b.values<T>()) z = std::conj(z);
      }
      const Tensor expected = PlainProduct<T>(a, false, b, adjoint, s);
      CHECK(std::memcmp(found.data() + i * expected.count(), expected.values<T>().data(), static_cast<size_t>(expected.count()) * sizeof(T)) == 0);
    }
  }
}

TEST_CASE("Batches of products, with packed operands and without", "[matmul]") {
  CheckBatch<float>({450, 130, 513}, 3);
  CheckBatch<float>({40, 50, 60}, 20);
  CheckBatch<float>({1, 300, 700}, 20);
  CheckBatch<float>({1, 300, 700}, 2);
  CheckBatch<half>({120, 60, 300}, 3);
  CheckBatch<complex64>({70, 90, 200}, 3);
  CheckBatch<int32_t>({400, 20, 560}, 2);
}

}  // namespace
}  // namespace weft::kit
