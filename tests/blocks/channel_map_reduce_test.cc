// Sums and maps by channel agree with plain loops at sizes that fill no register, no group of rows and no line.
#include "blocks/kernels/channel/map_reduce.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

using namespace weft;
using namespace weft::kernels;

namespace {

/// Exactly so many elements, so that a sanitizer sees the first that is read beyond them. Small whole numbers: sums are exact.
std::unique_ptr<float[]> PlainValues(int64_t count, int64_t step) {
  std::unique_ptr<float[]> numbers(new float[static_cast<size_t>(count)]);
  for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i * step % 13);
  return numbers;
}

std::vector<float> Joined(const ChannelPartition& cut, const std::vector<float>& partial) {
  std::vector<float> total(static_cast<size_t>(cut.box.channels));
  AddBlocks(cut, partial.data(), 0, cut.box.channels, total.data());
  return total;
}

void CheckBox(const ChannelBox& box, int64_t task_elements, bool stream) {
  const auto g = PlainValues(box.count(), 7), x = PlainValues(box.count(), 5), shift = PlainValues(box.channels, 3);
  std::vector<float> sum(static_cast<size_t>(box.channels)), product(sum.size()), mapped, shifted;
  for (int64_t i = 0; i < box.count(); ++i) {
    const int64_t c = i / box.inner % box.channels;
    sum[c] += g[i];
    product[c] += g[i] * (x[i] - shift[c]);
    mapped.push_back(g[i] + shift[c]);
    shifted.push_back(g[i] * x[i] - shift[c]);
  }
  const ChannelPartition cut = PartitionChannels(box, kLanes<float>, task_elements);
  std::vector<float> first(static_cast<size_t>(cut.partials())), second(first.size()), out(mapped.size());
  auto each = [&](const auto& sweep) {
    for (int64_t task = 0; task < cut.tasks(); ++task) sweep.Run(cut, task);
  };
  auto add = [](const auto& v, const auto&, auto& s) { s[0] += v[0]; };
  each(ChannelMapReduce<float, float, 1, 0, 1, decltype(add)>{{g.get()}, {}, {first.data()}});
  CHECK(Joined(cut, first) == sum);
  auto both = [](const auto& v, const auto& p, auto& s) {
    s[0] += v[0];
    s[1] += v[0] * (v[1] - p[0]);
    return v[0] + p[0];
  };
  each(ChannelMapReduce<float, float, 2, 1, 2, decltype(both)>{{g.get(), x.get()}, {shift.get()}, {first.data(), second.data()}, out.data(), stream});
  CHECK(Joined(cut, first) == sum);
  CHECK(Joined(cut, second) == product);
  CHECK(out == mapped);
  auto map = [](const auto& v, const auto& p, auto&) { return v[0] * v[1] - p[0]; };
  each(ChannelMapReduce<float, float, 2, 1, 0, decltype(map)>{{g.get(), x.get()}, {shift.get()}, {}, out.data(), stream});
  CHECK(out == shifted);
}

TEST_CASE("Sums and maps by channel at every odd size") {
  for (const int64_t outer : {1, 3, 8, 17, 100}) {
    for (const int64_t channels : {1, 15, 17, 31, 33, 49, 64}) {
      for (const int64_t inner : {1, 15, 16, 17, 33, 49, 100, 131, 196}) {
        CAPTURE(outer, channels, inner);
        CheckBox({outer, channels, inner}, 32 * 1024, true);
        CheckBox({outer, channels, inner}, 400, false);
      }
    }
  }
}

TEST_CASE("Blocks of rows cover each row once, and up to sixteen threads have nearly as many each") {
  for (const int64_t rows : {1, 391, 1700, 12544, 54321, 100352}) {
    for (const int64_t channels : {64, 200, 256}) {
      CAPTURE(rows, channels);
      const ChannelPartition cut = PartitionChannels({rows, channels, 1}, kLanes<float>, 32 * 1024);
      if (cut.blocks > 16) CHECK(DivideUp(cut.blocks, 16) * 16 - cut.blocks <= cut.blocks / 96);
      int64_t next = 0;
      for (int64_t block = 0; block < cut.blocks; ++block) {
        const ChannelPartition::Part part = cut.part(block * cut.tiles);
        CHECK(part.first_row == next);
        next = part.end_row;
      }
      CHECK(next == rows);
    }
  }
}

}  // namespace
