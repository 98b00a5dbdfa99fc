// Times what training on several ranks is made of, without the training: tools/bench_ranks starts it under a launcher of MPI.
//   weft_rank_bench join BATCHES BYTES...                a value of so many bytes of each rank, added in the order of the tree
//   weft_rank_bench messages BATCHES COUNTxBYTES...      so many messages of so many bytes at a time, both ways between two ranks
// Rank 0 prints a line of JSON for each. A batch is some calls that follow one another, as long as the slowest rank takes; the best counts.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <span>

#include "runtime/host/ranks/value_join.h"
#include "weft/host/rank_link.h"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  double best_ms = 0, median_ms = 0;
};

/// Short calls are timed many at a time: one that waits for another rank's start would count the start.
int CallsOfBatch(int64_t bytes) { return static_cast<int>(std::clamp<int64_t>((int64_t{16} << 20) / std::max<int64_t>(bytes, 1), 1, 200)); }

Result<Times> TimeCalls(RankLink& link, int batches, int64_t bytes, const std::function<Status()>& call) {
  const int calls = CallsOfBatch(bytes);
  std::vector<double> own, slowest(static_cast<size_t>(batches), 0.0);
  for (int batch = -1; batch < batches; ++batch) {  // the first is not counted: memory is touched, connections are made
    WEFT_RETURN_IF_ERROR(Barrier(link, CollectiveUser::kControl, "for the batch to begin"));
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < calls; ++i) WEFT_RETURN_IF_ERROR(call());
    if (batch >= 0) own.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count() / calls);
  }
  const std::string_view text(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(link, CollectiveUser::kControl, text, "for the times of all ranks"));
  for (const std::string& times : all) {
    if (times.size() != text.size()) return Internal("a rank has timed another number of batches");
    std::vector<double> of_rank(own.size());
    std::memcpy(of_rank.data(), times.data(), times.size());
    for (size_t i = 0; i < own.size(); ++i) slowest[i] = std::max(slowest[i], of_rank[i]);
  }
  std::ranges::sort(slowest);
  return Times{slowest.front(), slowest[slowest.size() / 2]};
}

Status BenchJoin(RankLink& link, int batches, int64_t bytes) {
  const Shape shape{bytes / static_cast<int64_t>(sizeof(float))};
  WEFT_ASSIGN_OR_RETURN(Tensor mine, Tensor::Allocate(DType::kFloat, shape));
  const auto values = [&](const Tensor& tensor) { return std::span(static_cast<float*>(const_cast<void*>(tensor.data())), static_cast<size_t>(shape.count())); };
  std::ranges::fill(values(mine), static_cast<float>(link.rank() + 1));
  const std::atomic<bool> cancelled = false;
  ValueJoin join(link, ShardTree(link.size(), link.size()), cancelled);
  WEFT_RETURN_IF_ERROR(join.Make({{"value", DType::kFloat, shape, JoinKind::kSum}}, nullptr));
  WEFT_ASSIGN_OR_RETURN(const Times times, TimeCalls(link, batches, bytes, [&]() -> Status {
    join.Begin();
    WEFT_RETURN_IF_ERROR(join.Add(0, link.rank(), mine));
    return join.Finish();
  }));
  const auto sum = static_cast<float>(link.size() * (link.size() + 1) / 2);
  if (std::ranges::any_of(values(join.result(0)), [&](float value) { return value != sum; })) return Internal("the sum is wrong");
  if (link.rank() != 0) return {};
  std::cout << Cat("{\"reduction\": \"tree\", \"ranks\": ", link.size(), ", \"bytes\": ", bytes, ", \"ms\": ", times.best_ms, ", \"median_ms\": ", times.median_ms, "}\n") << std::flush;
  return {};
}

Status BenchMessages(RankLink& link, int batches, int count, int64_t bytes) {
  if (link.size() != 2) return InvalidArgument("messages are timed between two ranks, there are ", link.size());
  std::vector<char> sent(static_cast<size_t>(count * bytes), 'x'), received(sent.size());
  std::vector<Message> messages;
  for (int i = 0; i < count; ++i) {
    for (const bool receive : {false, true}) {
      messages.push_back({1 - link.rank(), receive, (receive ? received : sent).data() + i * bytes, static_cast<size_t>(bytes)});
    }
  }
  WEFT_ASSIGN_OR_RETURN(const Times times, TimeCalls(link, batches, count * bytes, [&] { return link.Move(CollectiveUser::kGradients, messages, "for the other's messages"); }));
  if (received != sent) return Internal("other bytes have come than were sent");
  if (link.rank() != 0) return {};
  std::cout << Cat("{\"messages\": ", count, ", \"bytes\": ", bytes, ", \"ms\": ", times.best_ms, ", \"median_ms\": ", times.median_ms, "}\n") << std::flush;
  return {};
}

Status Bench(RankLink& link, std::string_view what, int batches, std::span<char*> cases) {
  for (const char* text : cases) {
    char* rest = nullptr;
    const int64_t first = std::strtoll(text, &rest, 10);
    const int64_t second = *rest == 'x' ? std::strtoll(rest + 1, &rest, 10) : 0;
    if (*rest != 0 || first < 1) return InvalidArgument("'", text, "' is no case");
    if (what == "join") WEFT_RETURN_IF_ERROR(BenchJoin(link, batches, first));
    else if (what == "messages" && second > 0) WEFT_RETURN_IF_ERROR(BenchMessages(link, batches, static_cast<int>(first), second));
    else return InvalidArgument("'", what, "' of '", text, "' cannot be timed");
  }
  return {};
}

int Run(std::span<char*> arguments) {
  const std::optional<Launch> launch = FindLaunch();
  if (!launch || arguments.size() < 3 || std::atoi(arguments[1]) < 1) {
    std::cerr << "weft_rank_bench: join BATCHES BYTES... | messages BATCHES COUNTxBYTES..., under a launcher of MPI\n";
    return 2;
  }
  LinkOptions options;
  options.library = launch->library;
  auto link = RankLink::Open(options);
  Status status = link.ok() ? Bench(**link, arguments[0], std::atoi(arguments[1]), arguments.subspan(2)) : link.status();
  if (!status.ok()) {
    std::cerr << "weft_rank_bench: " << status.message() << "\n" << std::flush;
    if (link.ok()) (*link)->Abort("a rank has failed");
    return 1;
  }
  (*link)->Close();
  return 0;
}

}  // namespace
}  // namespace weft

int main(int count, char** arguments) { return weft::Run(std::span(arguments, static_cast<size_t>(count)).subspan(1)); }
