// Random small pages of differentiable blocks: their gradients, and the gradients of these, agree with finite differences.
#include <catch2/catch.hpp>
#include <random>

#include "tests/kit/gradient_rows.h"

namespace weft::kit {
namespace {

struct Node {
  std::string wire;
  Shape shape;
  double size;  // a bound of its elements, so that no page leaves the range where differences are exact enough
};

class RandomPage {
 public:
  explicit RandomPage(uint32_t seed) : random_(seed) {}

  PageFunction Make() {
    const Shape shapes[] = {{2, 3}, {3}, {}, {2, 1}, {3, 2}};
    for (uint32_t i = 0, count = 2 + Pick(3); i < count; ++i) {
      const Shape& shape = shapes[i == 0 ? 0 : Pick(5)];
      nodes_.push_back({AddConst(f_.page, Cat("x", i), MakeValues(Any(shape), DType::kDouble, random_())), shape, 1.5});
      f_.xs.push_back(nodes_.back().wire);
    }
    for (uint32_t added = 0, count = 5 + Pick(6); added < count;) added += AddAny();
    f_.ys.push_back(nodes_.back().wire);
    if (Pick(2) == 0) f_.ys.push_back(nodes_[Pick(static_cast<uint32_t>(nodes_.size()))].wire);
    if (f_.ys.size() == 2 && f_.ys[0] == f_.ys[1]) f_.ys.pop_back();
    return std::move(f_);
  }

 private:
  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  /// Any value; late ones more often, so that pages are deep.
  const Node& PickNode() {
    const uint32_t n = static_cast<uint32_t>(nodes_.size());
    return nodes_[Pick(2) == 0 ? n - 1 - Pick(std::min(n, 3u)) : Pick(n)];
  }

  bool Add(const char* block, PageInputs inputs, const char* output, Shape shape, double size, std::string attrs = "") {
    if (size > 6) return false;
    const std::string id = Cat("b", f_.page.blocks.size());
    AddBlock(f_.page, id, block, std::move(inputs), std::move(attrs));
    nodes_.push_back({Cat(id, ".", output), std::move(shape), size});
    return true;
  }

  bool AddAny() {
    switch (Pick(4)) {
      case 0: return AddFunction(PickNode());
      case 1: return AddPair(PickNode(), PickNode());
      case 2: return AddReduction(PickNode());
      default: return AddMove(PickNode());
    }
  }

  bool AddFunction(Node x) {
    switch (Pick(7)) {
      case 0: return Add("Tanh", {{"x", {x.wire}}}, "y", x.shape, 1);
      case 1: return Add("Sigmoid", {{"x", {x.wire}}}, "y", x.shape, 1);
      case 2: return Add("Square", {{"x", {x.wire}}}, "y", x.shape, x.size * x.size);
      case 3: return Add("Negate", {{"x", {x.wire}}}, "y", x.shape, x.size);
      case 4: return x.shape.rank() > 0 && Add("Softmax", {{"logits", {x.wire}}}, "softmax", x.shape, 1);
      case 5: return x.shape.rank() > 0 && Add("LogSoftmax", {{"logits", {x.wire}}}, "logsoftmax", x.shape, 2 * x.size + 2);
      default: return AddLog(x);
    }
  }
  /// Of 1 + x * x, which is far from 0.
  bool AddLog(const Node& x) {
    if (!Add("Square", {{"x", {x.wire}}}, "y", x.shape, x.size * x.size)) return false;
    Add("Add", {{"x", {nodes_.back().wire}}, {"y", {Tensor::Scalar(1.0)}}}, "z", x.shape, 2);
    return Add(Pick(2) == 0 ? "Log" : "Reciprocal", {{"x", {nodes_.back().wire}}}, "y", x.shape, 2);
  }

  bool AddPair(const Node& x, const Node& y) {
    if (x.shape.rank() == 2 && y.shape.rank() == 2 && Pick(2) == 0) return AddProduct(x, y);
    if (x.shape.rank() == 2 && y.shape.rank() == 1 && x.shape[1] == y.shape[0] && Pick(2) == 0) {
      return Add("BiasAdd", {{"value", {x.wire}}, {"bias", {y.wire}}}, "output", x.shape, x.size + y.size);
    }
    if (x.shape == y.shape && Pick(3) == 0) {
      return Add("AddN", {{"inputs", {x.wire, y.wire, x.wire}}}, "sum", x.shape, 2 * x.size + y.size);
    }
    std::vector<int64_t> dims;
    for (int i = 0, rank = std::max(x.shape.rank(), y.shape.rank()); i < rank; ++i) {
      const int a = i - (rank - x.shape.rank()), b = i - (rank - y.shape.rank());
      const int64_t p = a < 0 ? 1 : x.shape[a], q = b < 0 ? 1 : y.shape[b];
      if (p != q && p != 1 && q != 1) return false;
      dims.push_back(std::max(p, q));
    }
    const char* const blocks[] = {"Add", "Subtract", "Multiply"};
    const uint32_t which = Pick(3);
    return Add(blocks[which], {{"x", {x.wire}}, {"y", {y.wire}}}, "z", Shape(dims), which == 2 ? x.size * y.size : x.size + y.size);
  }
  bool AddProduct(const Node& x, const Node& y) {
    const bool ta = Pick(2) == 1, tb = Pick(2) == 1;
    if (x.shape[!ta] != y.shape[tb]) return false;
    return Add("MatMul", {{"a", {x.wire}}, {"b", {y.wire}}}, "product", {x.shape[ta], y.shape[!tb]},
               x.size * y.size * static_cast<double>(x.shape[!ta]), Cat("transpose_a_ = ", ta, ";transpose_b_ = ", tb, ";"));
  }

  bool AddReduction(const Node& x) {
    if (x.shape.rank() != 2) return x.shape.rank() == 1 && Add("L2Loss", {{"t", {x.wire}}}, "output", {}, 2 * x.size * x.size);
    const int32_t axis = static_cast<int32_t>(Pick(2));
    const bool keep = Pick(2) == 0, mean = Pick(2) == 0;
    Shape shape{x.shape[1 - axis]};
    if (keep) shape = axis == 0 ? Shape{1, x.shape[1]} : Shape{x.shape[0], 1};
    return Add(mean ? "Mean" : "Sum", {{"input", {x.wire}}, {"axis", {Tensor::Scalar(axis)}}}, "output", shape,
               mean ? x.size : x.size * static_cast<double>(x.shape[axis]), Cat("keep_dims_ = ", keep, ";"));
  }

  bool AddMove(const Node& x) {
    switch (Pick(4)) {
      case 0:
        return x.shape.rank() == 2 &&
               Add("Transpose", {{"x", {x.wire}}, {"perm", {Tensor::Of<int32_t>({1, 0})}}}, "y", {x.shape[1], x.shape[0]}, x.size);
      case 1: return Add("Reshape", {{"tensor", {x.wire}}, {"shape", {Tensor::Of<int32_t>({-1})}}}, "output", {x.shape.count()}, x.size);
      case 2: return Add("Identity", {{"input", {x.wire}}}, "output", x.shape, x.size);
      default: return AddChoice(x);
    }
  }
  /// There and back on one of two ways.
  bool AddChoice(const Node& x) {
    const std::string id = Cat("b", f_.page.blocks.size());
    AddBlock(f_.page, id, "Switch", {{"data", {x.wire}}, {"pred", {Tensor::Scalar(Pick(2) == 0)}}});
    AddBlock(f_.page, id + "_tanh", "Tanh", {{"x", {id + ".output_true"}}});
    return Add("Merge", {{"inputs", {id + ".output_false", id + "_tanh.y"}}}, "output", x.shape, x.size);
  }

  std::mt19937 random_;
  PageFunction f_;
  std::vector<Node> nodes_;
};

}  // namespace

TEST_CASE("Gradients of random pages agree with finite differences", "[gradients]") {
  int without = 0;
  double worst = 0;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    const PageFunction function = RandomPage(seed).Make();
    const GradientReport report = CheckGradient(GradientRuntime(), function, {.orders = 2, .seed = seed});
    std::string blocks;
    for (const PageBlock& block : function.page.blocks) blocks += Cat(" ", block.type);
    INFO("page " << seed << ":" << blocks << "\n" << ToString(report.status) << "\n" << report.where);
    CHECK(report.status.ok());
    CHECK(report.error < 1e-8);
    CHECK(report.elements > 0);
    without += report.missing == static_cast<int>(function.xs.size());
    worst = std::max(worst, report.error);
  }
  CHECK(without < 5);  // pages whose ys depend on no x would show nothing
  if (std::getenv("WEFT_SHOW_GRADIENTS") != nullptr) WARN("the largest error: " << worst);
}

}  // namespace weft::kit
