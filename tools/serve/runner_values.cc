// Values of the page's runs: read, fed, and sent to those who subscribed.
#include <algorithm>
#include <cmath>

#include "tools/serve/document.h"
#include "tools/serve/runner.h"

namespace weft::serve {
namespace {

constexpr int64_t kMeasured = 65536;  // elements up to which a summary has statistics unasked

void PutStatistics(const Tensor& tensor, Json& summary) {
  const Statistics all = StatisticsOf(tensor, 0);
  if (all.finite > 0) {
    summary["min"] = NumberJson(all.min);
    summary["max"] = NumberJson(all.max);
    summary["mean"] = NumberJson(all.mean);
  }
  summary["nan"] = all.nan;
  summary["inf"] = all.inf;
}

std::string ShortText(const weft_view* view) {
  StringsHandle text;
  if (weft_view_text(view, 6, text.out(), nullptr) != WEFT_OK) return "";
  std::string words = TextOf(text);
  // "DT_FLOAT [2,2] {{1,2},{3,4}}": type and shape are told elsewhere.
  const size_t shape_end = words.find("] ");
  if (shape_end != std::string::npos) words.erase(0, shape_end + 2);
  if (words.size() > 120) words = words.substr(0, 117) + "...";
  return words;
}

int32_t ReductionNamed(const std::string& name) {
  static constexpr const char* kNames[] = {"each", "last", "mean", "min_max", "decimate", "histogram"};
  for (int32_t k = 0; k < 6; ++k) {
    if (name == kNames[k]) return k;
  }
  throw ApiError(400, "invalid_argument", "'" + name + "' is no reduction", "each, last, mean, min_max, decimate or histogram");
}

}  // namespace

Json Runner::SummaryOf(const weft_result& result, weft_results* results, size_t index, bool statistics, int64_t first) const {
  ViewHandle view;
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  if (weft_results_view(results, index, view.out(), nullptr) != WEFT_OK || weft_view_get_info(view.get(), &info) != WEFT_OK) return nullptr;
  const Tensor tensor = TensorOf(view.get(), info);
  Json summary = {{"dtype", weft_dtype_name(info.dtype)}, {"shape", tensor.shape}, {"count", info.count}, {"bytes", info.bytes}, {"generation", info.generation},
                  {"stale", info.stale != 0}, {"in_progress", info.in_progress != 0}, {"outdated_page", info.outdated_page != 0}};
  (void)result;
  summary["text"] = ShortText(view.get());
  summary["first"] = ElementsJson(tensor, first);
  if (HasNumbers(info.dtype) && (statistics || info.count <= kMeasured)) PutStatistics(tensor, summary);
  return summary;
}

Json Runner::Summaries(const std::vector<std::string>& names, bool all, bool statistics, int64_t first) {
  const Lock lock(mutex_);
  Json values = Json::object();
  std::vector<OpenSession*> sessions = AllSessions();
  if (fetches_latest_) std::reverse(sessions.begin(), sessions.end());
  std::vector<const char*> wanted;
  for (const std::string& name : names) wanted.push_back(name.c_str());
  for (OpenSession* session : sessions) {
    ResultsHandle results;
    if (weft_session_read_results(session->handle.get(), all ? nullptr : wanted.data(), wanted.size(), results.out(), nullptr) != WEFT_OK) continue;
    const weft_result* array = nullptr;
    size_t count = 0;
    weft_results_all(results.get(), &array, &count);
    for (size_t i = 0; i < std::min(count, limits_.names); ++i) {
      // The first session that has the value: as that of weft_page_run_view.
      if (values.contains(array[i].name) && !values[array[i].name].contains("error")) continue;
      if (array[i].code != WEFT_OK) {
        values[array[i].name] = {{"error", {{"code", weft_status_name(array[i].code)}, {"severity", "error"}, {"message", "no run has computed the value, or there is none"}}}};
        continue;
      }
      Json summary = SummaryOf(array[i], results.get(), i, statistics, first);
      summary["session"] = session->id;
      values[array[i].name] = std::move(summary);
    }
  }
  for (const std::string& name : names) {
    if (!values.contains(name)) values[name] = {{"error", {{"code", "failed_precondition"}, {"severity", "error"}, {"message", "nothing has run yet"}}}};
  }
  return {{"revision", document_.revision()}, {"values", std::move(values)}};
}

ViewHandle Runner::View(const std::string& name, const std::string& session, std::string& from) {
  const Lock lock(mutex_);
  std::vector<OpenSession*> sessions = session.empty() ? AllSessions() : std::vector<OpenSession*>{&SessionOf(session)};
  if (fetches_latest_) std::reverse(sessions.begin(), sessions.end());
  if (sessions.empty()) throw ApiError(409, "failed_precondition", "nothing has run yet, so '" + name + "' has no value", "run the page");
  std::optional<ApiError> failure;
  for (OpenSession* candidate : sessions) {
    try {
      ViewHandle view;
      Call([&](weft_diagnostics** problems) { return weft_session_view(candidate->handle.get(), name.c_str(), view.out(), problems); });
      from = candidate->id;
      return view;
    } catch (const ApiError& error) {
      if (!failure || failure->http() == 404) failure = error;
    }
  }
  throw *failure;
}

Json Runner::Feeds() {
  const Lock lock(mutex_);
  Json list = Json::array();
  for (const auto& [name, value] : feeds_) {
    list.push_back({{"name", name}, {"dtype", weft_dtype_name(value->buffer.dtype)}, {"shape", value->shape}});
  }
  return {{"feeds", std::move(list)}};
}

void Runner::Feed(const std::string& name, std::unique_ptr<OwnedBuffer> value) {
  const Lock lock(mutex_);
  if (!feeds_.contains(name) && feeds_.size() >= limits_.feeds) throw ApiError(429, "resource_exhausted", "the page has too many feeds");
  if (sessions_.empty()) OpenSessions();
  std::optional<ApiError> failure;
  bool taken = false;
  for (OpenSession* session : AllSessions()) {
    try {
      Call([&](weft_diagnostics** problems) { return weft_session_feed(session->handle.get(), name.c_str(), &value->buffer, problems); });
      taken = true;
    } catch (const ApiError& error) {
      if (!failure) failure = error;
    }
  }
  if (!taken && failure) throw *failure;
  feeds_[name] = std::move(value);
  Json names = Json::array();
  for (const auto& [fed, buffer] : feeds_) names.push_back(fed);
  document_.log().Publish({{"type", "feeds"}, {"names", std::move(names)}});
}

void Runner::Unfeed(const std::string& name) {
  const Lock lock(mutex_);
  if (feeds_.erase(name) == 0) throw ApiError(404, "not_found", "'" + name + "' is not fed");
  for (OpenSession* session : AllSessions()) weft_session_unbind(session->handle.get(), name.c_str(), nullptr);
  Json names = Json::array();
  for (const auto& [fed, buffer] : feeds_) names.push_back(fed);
  document_.log().Publish({{"type", "feeds"}, {"names", std::move(names)}});
}

void Runner::Subscribe(ValueWatch& watch) {
  if (watch.handle) return;
  std::optional<ApiError> failure;
  for (OpenSession* session : AllSessions()) {
    if (!watch.session.empty() && watch.session != session->id) continue;
    try {
      Call([&](weft_diagnostics** problems) {
        return weft_session_subscribe(session->handle.get(), watch.name.c_str(), &watch.options, watch.handle.out(), problems);
      });
      return;
    } catch (const ApiError& error) {
      failure = error;
    }
  }
  if (failure && failure->diagnostic()["code"] == "invalid_argument") throw *failure;
}

Json Runner::WatchValue(const std::shared_ptr<Client>& client, const Json& call, uint64_t sub) {
  ValueWatch watch;
  watch.sub = sub;
  watch.client = client;
  watch.name = TextField(call, "name");
  watch.session = TextField(call, "session", "");
  watch.reduction_name = TextField(call, "reduction", "last");
  watch.options.reduction = ReductionNamed(watch.reduction_name);
  watch.options.interval_ns = NumberField(call, "interval_ms", 50, 0, 3600000) * 1000000;
  watch.options.every = static_cast<uint64_t>(NumberField(call, "every", 1, 1, INT64_MAX));
  watch.options.bins = NumberField(call, "bins", 64, 1, 65536);
  watch.options.max_bytes = NumberField(call, "max_bytes", 65536, 1, 16 << 20);
  watch.options.tag = sub;
  const Lock lock(mutex_);
  Subscribe(watch);
  values_.push_back(std::move(watch));
  return {{"topic", "value"}, {"sub", sub}};
}

bool Runner::UnwatchValue(const Client& client, uint64_t sub) {
  const Lock lock(mutex_);
  return std::erase_if(values_, [&](const ValueWatch& watch) {
           const auto owner = watch.client.lock();
           return watch.sub == sub && (!owner || owner.get() == &client);
         }) > 0;
}

void Runner::WatchTicks(const std::shared_ptr<Client>& client, const Json& call) {
  TickWatch watch;
  watch.client = client;
  watch.interval = std::chrono::milliseconds(NumberField(call, "interval_ms", 100, 16, 60000));
  watch.blocks = FlagField(call, "blocks", false);
  watch.timings = FlagField(call, "timings", false);
  const Lock lock(mutex_);
  std::erase_if(ticks_, [&](const TickWatch& other) { return other.client.lock() == client; });
  ticks_.push_back(std::move(watch));
  ChooseProgress();
  KeepTicking();
}

void Runner::WatchSummaries(const std::shared_ptr<Client>& client, const Json& call) {
  SummaryWatch watch;
  watch.client = client;
  watch.interval = std::chrono::milliseconds(NumberField(call, "interval_ms", 250, 16, 60000));
  watch.names = TextsField(call, "names", limits_.names);
  const Lock lock(mutex_);
  for (SummaryWatch& other : summaries_) {
    if (other.client.lock() == client) watch.sent = std::move(other.sent);
  }
  std::erase_if(summaries_, [&](const SummaryWatch& other) { return other.client.lock() == client; });
  summaries_.push_back(std::move(watch));
  KeepTicking();
}

void Runner::Unwatch(const Client& client, const std::string& topic) {
  const Lock lock(mutex_);
  const auto mine = [&](const auto& watch) {
    const auto owner = watch.client.lock();
    return !owner || owner.get() == &client;
  };
  if (topic.empty() || topic == "value") std::erase_if(values_, mine);
  if (topic.empty() || topic == "summaries") std::erase_if(summaries_, mine);
  if (topic.empty() || topic == "run") {
    std::erase_if(ticks_, mine);
    ChooseProgress();
  }
}

size_t Runner::WatchesOf(const Client& client) {
  const Lock lock(mutex_);
  return static_cast<size_t>(std::count_if(values_.begin(), values_.end(), [&](const ValueWatch& watch) { return watch.client.lock().get() == &client; }));
}

void Runner::TakeSamples() {
  std::vector<weft_sample> samples(64);
  for (OpenSession* session : AllSessions()) {
    for (size_t count = samples.size(); count == samples.size();) {
      samples[0] = WEFT_SAMPLE_INIT;
      if (weft_session_samples(session->handle.get(), samples.data(), samples.size(), &count, nullptr) != WEFT_OK) break;
      for (size_t i = 0; i < count; ++i) {
        const ViewHandle value(samples[i].value), high(samples[i].high);
        for (ValueWatch& watch : values_) {
          if (watch.sub == samples[i].tag) SendSample(watch, samples[i]);
        }
      }
    }
  }
}

void Runner::SendSample(ValueWatch& watch, weft_sample& sample) {
  const std::shared_ptr<Client> client = watch.client.lock();
  if (!client) return;
  if (sample.code != WEFT_OK || sample.value == nullptr) {
    client->Send({{"type", "value.lost"}, {"page", document_.id()}, {"sub", watch.sub},
                  {"error", {{"code", weft_status_name(sample.code)}, {"severity", "error"}, {"message", "'" + watch.name + "' is gone"}}}});
    return;
  }
  weft_view_info info = WEFT_VIEW_INFO_INIT, high_info = WEFT_VIEW_INFO_INIT;
  weft_view_get_info(sample.value, &info);
  const Tensor value = TensorOf(sample.value, info);
  Tensor high;
  StringsHandle name;
  if (weft_subscription_name(watch.handle.get(), name.out(), nullptr) == WEFT_OK) watch.name = TextOf(name);
  Json header = {{"type", "sample"}, {"sub", watch.sub}, {"page", document_.id()}, {"name", watch.name}, {"seq", ++watch.frames}, {"first_run", sample.first_run},
                 {"run", sample.run}, {"runs", sample.runs}, {"dropped", sample.dropped}, {"t_ms", static_cast<double>(sample.t_ns) / 1e6}, {"stride", sample.stride},
                 {"reduction", watch.reduction_name}, {"generation", sample.run}};
  std::vector<KeyedTensor> tensors;
  if (info.dtype == WEFT_STRING) header["values"] = ElementsJson(value, 1000);
  else tensors.push_back({"value", &value});
  if (sample.high != nullptr && weft_view_get_info(sample.high, &high_info) == WEFT_OK) {
    high = TensorOf(sample.high, high_info);
    tensors.push_back({"high", &high});
  }
  if (watch.options.reduction == WEFT_HISTOGRAM) {
    header["low"] = NumberJson(sample.lowest);
    header["high"] = NumberJson(sample.highest);
    header["not_finite"] = sample.not_finite;
  }
  client->Offer(std::make_shared<const std::string>(Frame(std::move(header), tensors)), true, "value");
}

void Runner::SendSummaries(Clock::time_point now, bool last) {
  std::erase_if(summaries_, [](const SummaryWatch& watch) { return watch.client.expired(); });
  for (SummaryWatch& watch : summaries_) {
    const std::shared_ptr<Client> client = watch.client.lock();
    if (!client || (!last && now - watch.last < watch.interval)) continue;
    watch.last = now;
    Json different = Json::object();
    std::vector<const char*> names;
    for (const std::string& name : watch.names) names.push_back(name.c_str());
    std::vector<OpenSession*> sessions = AllSessions();
    if (fetches_latest_) std::reverse(sessions.begin(), sessions.end());
    std::map<std::string, bool> had;
    for (OpenSession* session : sessions) {
      ResultsHandle results;
      if (weft_session_read_results(session->handle.get(), names.data(), names.size(), results.out(), nullptr) != WEFT_OK) continue;
      const weft_result* array = nullptr;
      size_t count = 0;
      weft_results_all(results.get(), &array, &count);
      for (size_t i = 0; i < count; ++i) {
        if (array[i].code != WEFT_OK || std::exchange(had[array[i].name], true)) continue;
        // What is the same run's is the same value: nothing is read of it.
        const std::string key = session->id + std::to_string(array[i].generation) + (array[i].stale != 0 ? "s" : "") + (last ? "" : "r");
        std::string& sent = watch.sent[array[i].name];
        if (sent == key && runs_.front().state != "paused") continue;
        sent = key;
        Json summary = SummaryOf(array[i], results.get(), i, false, 8);
        summary["session"] = session->id;
        different[array[i].name] = std::move(summary);
      }
    }
    if (!different.empty()) {
      const Json message = {{"type", "values"}, {"page", document_.id()}, {"revision", document_.revision()}, {"values", std::move(different)}};
      if (!client->Offer(std::make_shared<const std::string>(Dump(message)), false, "summaries")) watch.sent.clear();
    }
  }
}

}  // namespace weft::serve
