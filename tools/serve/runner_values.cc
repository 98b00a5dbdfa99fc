// Values of the page's runs: read and fed.
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
  if (words.size() > 120) {
    words.resize(117);
    words += "...";
  }
  return words;
}

}  // namespace

Json Runner::SummaryOf(weft_results* results, size_t index, bool statistics, int64_t first) const {
  ViewHandle view;
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  if (weft_results_view(results, index, view.out(), nullptr) != WEFT_OK || weft_view_get_info(view.get(), &info) != WEFT_OK) return nullptr;
  const Tensor tensor = TensorOf(view.get(), info);
  Json summary = {{"dtype", weft_dtype_name(info.dtype)}, {"shape", tensor.shape}, {"count", info.count}, {"bytes", info.bytes}, {"generation", info.generation},
                  {"stale", info.stale != 0}, {"in_progress", info.in_progress != 0}, {"outdated_page", info.outdated_page != 0}};
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
      Json summary = SummaryOf(results.get(), i, statistics, first);
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

}  // namespace weft::serve
