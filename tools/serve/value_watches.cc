#include "tools/serve/value_watches.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tools/serve/document.h"
#include "tools/serve/limits.h"

namespace weft::serve {
namespace {

constexpr int64_t kMostStrings = 1000;  // of a sample

int32_t ReductionNamed(const std::string& name) {
  static constexpr const char* kNames[] = {"each", "last", "mean", "min_max", "decimate", "histogram"};
  for (int32_t k = 0; k < 6; ++k) {
    if (name == kNames[k]) return k;
  }
  throw ApiError(400, "invalid_argument", "'" + name + "' is no reduction", "each, last, mean, min_max, decimate or histogram");
}

/// Whether one subscription of the engine serves both.
bool Same(const ValueWatch& a, const ValueWatch& b) {
  const auto options = [](const ValueWatch& watch) {
    const weft_subscription_options& of = watch.options;
    return std::tuple(of.reduction, of.interval_ns, of.max_bytes, of.every, of.bins, of.most_pending);
  };
  return a.name == b.name && a.session == b.session && options(a) == options(b);
}

}  // namespace

/// Leaves it to wait where there is no session yet, or, unless it is `new_one`, no such value any more.
void ValueWatches::Subscribe(ValueWatch& watch, bool new_one) {
  if (watch.engine) return;
  for (const ValueWatch& other : watches_) {
    if (other.engine && Same(other, watch)) {
      watch.engine = other.engine;
      return;
    }
  }
  std::optional<ApiError> failure;
  for (OpenSession* session : sessions_.All()) {
    if (!watch.session.empty() && watch.session != session->id) continue;
    auto engine = std::make_shared<EngineWatch>();
    engine->tag = watch.options.tag = next_tag_++;
    try {
      Call([&](weft_diagnostics** problems) {
        return weft_session_subscribe(session->handle.get(), watch.name.c_str(), &watch.options, engine->handle.out(), problems);
      });
      engine->of_fetches = session->of_fetches;
      watch.engine = std::move(engine);
      return;
    } catch (const ApiError& error) {
      failure = error;
    }
  }
  if (failure && (new_one || failure->diagnostic()["code"] == "invalid_argument")) throw *failure;
}

Json ValueWatches::Add(const std::shared_ptr<Client>& client, const Json& call, uint64_t sub) {
  ValueWatch watch;
  watch.sub = sub;
  watch.client = client;
  watch.name = TextField(call, "name");
  watch.session = TextField(call, "session", "");
  watch.reduction_name = TextField(call, "reduction", "last");
  watch.options.reduction = ReductionNamed(watch.reduction_name);
  watch.options.interval_ns = NumberField(call, "interval_ms", 50, 0, 3600000) * kMillisecond;
  watch.options.every = static_cast<uint64_t>(NumberField(call, "every", 1, 1, INT64_MAX));
  watch.options.bins = NumberField(call, "bins", 64, 1, 65536);
  watch.options.max_bytes = NumberField(call, "max_bytes", 65536, 1, 16 << 20);
  watch.options.most_pending = static_cast<uint64_t>(NumberField(call, "pending", 0, 0, 65536));
  watch.batch = FlagField(call, "batch", false);
  Subscribe(watch, true);
  watches_.push_back(std::move(watch));
  return {{"topic", "value"}, {"sub", sub}};
}

bool ValueWatches::Remove(const Client& client, uint64_t sub) {
  return std::erase_if(watches_, [&](const ValueWatch& watch) {
           const auto owner = watch.client.lock();
           return watch.sub == sub && (!owner || owner.get() == &client);
         }) > 0;
}

void ValueWatches::RemoveAll(const Client& client) {
  std::erase_if(watches_, [&](const ValueWatch& watch) {
    const auto owner = watch.client.lock();
    return !owner || owner.get() == &client;
  });
}

size_t ValueWatches::Count(const Client& client) const {
  return static_cast<size_t>(std::count_if(watches_.begin(), watches_.end(), [&](const ValueWatch& watch) { return watch.client.lock().get() == &client; }));
}

void ValueWatches::Detach(bool of_fetches) {
  for (ValueWatch& watch : watches_) {
    if (watch.engine && watch.engine->of_fetches == of_fetches) watch.engine.reset();
  }
}

void ValueWatches::Resume() {
  for (ValueWatch& watch : watches_) {
    try {
      Subscribe(watch, false);
    } catch (const ApiError&) {
      // Of another type now: it waits.
    }
  }
}

void ValueWatches::Rename(const Renames& renames) {
  for (ValueWatch& watch : watches_) {
    FollowName(watch.name, renames);
    FollowId(watch.session, renames);
  }
}

void ValueWatches::SendSamples() {
  std::vector<weft_sample> samples(64);
  std::map<uint64_t, std::vector<TakenSample>> taken;
  for (OpenSession* session : sessions_.All()) {
    for (size_t count = samples.size(); count == samples.size();) {
      samples[0] = WEFT_SAMPLE_INIT;
      if (weft_session_samples(session->handle.get(), samples.data(), samples.size(), &count, nullptr) != WEFT_OK) break;
      for (size_t i = 0; i < count; ++i) taken[samples[i].tag].emplace_back(samples[i]);
    }
  }
  for (ValueWatch& watch : watches_) {
    const auto found = watch.engine ? taken.find(watch.engine->tag) : taken.end();
    const std::shared_ptr<Client> client = found == taken.end() ? nullptr : watch.client.lock();
    if (!client) continue;
    StringsHandle name;
    if (watch.engine && weft_subscription_name(watch.engine->handle.get(), name.out(), nullptr) == WEFT_OK) watch.name = TextOf(name);
    const std::vector<TakenSample>& samples_of = found->second;
    for (size_t i = 0; i < samples_of.size();) {
      size_t end = i + 1;
      while (watch.batch && end < samples_of.size() && samples_of[end].Joins(samples_of[i])) ++end;
      if (watch.batch && samples_of[i].value) SendBatch(watch, *client, samples_of.data() + i, end - i);
      else SendSample(watch, *client, samples_of[i]);
      i = end;
    }
  }
}

TakenSample::TakenSample(const weft_sample& taken) : sample(taken), value(taken.value), high(taken.high) {
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  if (value && weft_view_get_info(value.get(), &info) == WEFT_OK) tensor = TensorOf(value.get(), info);
  weft_view_info high_info = WEFT_VIEW_INFO_INIT;
  if (high && weft_view_get_info(high.get(), &high_info) == WEFT_OK) high_tensor = TensorOf(high.get(), high_info);
}

bool TakenSample::Joins(const TakenSample& first) const {
  return value && first.value && tensor.dtype == first.tensor.dtype && tensor.shape == first.tensor.shape && tensor.strings == nullptr && !high;
}

Json ValueWatches::Header(ValueWatch& watch, const char* type, const weft_sample& sample) const {
  return {{"type", type}, {"sub", watch.sub}, {"page", document_.id()}, {"name", watch.name}, {"seq", ++watch.frames}, {"first_run", sample.first_run},
          {"run", sample.run}, {"runs", sample.runs}, {"dropped", sample.dropped}, {"t_ms", static_cast<double>(sample.t_ns) / 1e6}, {"stride", sample.stride},
          {"reduction", watch.reduction_name}, {"generation", sample.run}};
}

void ValueWatches::SendSample(ValueWatch& watch, Client& client, const TakenSample& taken) const {
  const weft_sample& sample = taken.sample;
  if (sample.code != WEFT_OK || !taken.value) {
    watch.engine.reset();
    client.Send({{"type", "value.lost"}, {"page", document_.id()}, {"sub", watch.sub},
                 {"error", {{"code", weft_status_name(sample.code)}, {"severity", "error"}, {"message", "'" + watch.name + "' is gone"}}}});
    return;
  }
  Json header = Header(watch, "sample", sample);
  std::vector<KeyedTensor> tensors;
  if (taken.tensor.strings != nullptr) {
    JsonRoom room{limits_.queue_bytes, limits_.string_bytes};
    JsonElements elements = ElementsJson(taken.tensor, kMostStrings, room);
    header["values"] = std::move(elements.list);
    header["cut"] = elements.cut || taken.tensor.count() > kMostStrings;
  } else {
    tensors.push_back({"value", &taken.tensor});
  }
  if (taken.high) tensors.push_back({"high", &taken.high_tensor});
  if (watch.options.reduction == WEFT_HISTOGRAM) {
    header["low"] = NumberJson(sample.lowest);
    header["high"] = NumberJson(sample.highest);
    header["not_finite"] = sample.not_finite;
  }
  client.Offer(std::make_shared<const std::string>(Frame(std::move(header), tensors)), true, "value");
}

/// Samples of one shape, in one frame: their values, one after another, and the runs that they are of.
void ValueWatches::SendBatch(ValueWatch& watch, Client& client, const TakenSample* first, size_t count) const {
  if (first->tensor.strings != nullptr) return SendSample(watch, client, *first);
  std::string bytes, runs;
  for (size_t i = 0; i < count; ++i) {
    bytes += DenseBytes(first[i].tensor, INT64_MAX);
    const int64_t run = static_cast<int64_t>(first[i].sample.run);
    runs.append(reinterpret_cast<const char*>(&run), sizeof run);
  }
  const auto joined = [&](int32_t dtype, std::vector<int64_t> shape, const std::string& data) {
    Tensor tensor;
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    tensor.strides.assign(tensor.shape.size(), static_cast<int64_t>(weft_dtype_size(dtype)));
    for (size_t k = tensor.shape.size(); k-- > 1;) tensor.strides[k - 1] = tensor.strides[k] * tensor.shape[k];
    tensor.data = data.data();
    return tensor;
  };
  std::vector<int64_t> shape = first->tensor.shape;
  shape.insert(shape.begin(), static_cast<int64_t>(count));
  const Tensor values = joined(first->tensor.dtype, std::move(shape), bytes), numbers = joined(WEFT_INT64, {static_cast<int64_t>(count)}, runs);
  Json header = Header(watch, "samples", first[count - 1].sample);
  header["first_run"] = first->sample.first_run;
  header["count"] = count;
  client.Offer(std::make_shared<const std::string>(Frame(std::move(header), {{"value", &values}, {"run", &numbers}})), true, "value");
}

}  // namespace weft::serve
