#include "tools/serve/page_sessions.h"

#include <algorithm>

#include "tools/serve/document.h"

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

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

Json ErrorJson(const char* code, const char* message) { return {{"error", {{"code", code}, {"severity", "error"}, {"message", message}}}}; }

}  // namespace

std::string ShortText(const weft_view* view) {
  StringsHandle text;
  if (weft_view_text(view, 6, text.out(), nullptr) != WEFT_OK) return "";
  std::string words = TextOf(text);
  // "DT_FLOAT [2,2] {{1,2},{3,4}}": type and shape are told elsewhere.
  const size_t shape_end = words.find("] ");
  if (shape_end != std::string::npos) words.erase(0, shape_end + 2);
  return words.size() > 120 ? std::string(CutText(words, 117)) + "..." : words;
}

Json SummaryOf(weft_results* results, size_t index, bool statistics, int64_t first, JsonRoom& room) {
  ViewHandle view;
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  if (weft_results_view(results, index, view.out(), nullptr) != WEFT_OK || weft_view_get_info(view.get(), &info) != WEFT_OK) return nullptr;
  const Tensor tensor = TensorOf(view.get(), info);
  Json summary = {{"dtype", weft_dtype_name(info.dtype)}, {"shape", tensor.shape}, {"count", info.count}, {"bytes", info.bytes}, {"generation", info.generation},
                  {"stale", info.stale != 0}, {"in_progress", info.in_progress != 0}, {"outdated_page", info.outdated_page != 0}};
  summary["text"] = ShortText(view.get());
  JsonElements elements = ElementsJson(tensor, first, room);
  summary["first"] = std::move(elements.list);
  if (elements.cut) summary["cut"] = true;
  if (HasNumbers(info.dtype) && (statistics || info.count <= kMeasured)) PutStatistics(tensor, summary);
  return summary;
}

bool FollowId(std::string& id, const Renames& renames) {
  const auto renamed = renames.find(id);
  if (renamed != renames.end()) id = renamed->second;
  return renamed != renames.end();
}

bool FollowName(std::string& name, const Renames& renames) {
  // An id may have dots: the text in front of each of them may be the one that the engine follows.
  const size_t start = std::min(name.find_first_not_of(" \t"), name.size());
  for (size_t dot = name.find('.', start); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const auto rename = renames.find(name.substr(start, dot - start));
    StringsHandle now;
    if (rename == renames.end() || weft_name_renamed(name.c_str(), rename->first.c_str(), rename->second.c_str(), now.out(), nullptr) != WEFT_OK) continue;
    std::string renamed = TextOf(now);
    if (renamed == name) continue;
    name = std::move(renamed);
    return true;
  }
  return false;
}

// ---- which there are -------------------------------------------------------------------------------------------------------

std::vector<OpenSession*> PageSessions::All() {
  std::vector<OpenSession*> all = Which(false);
  if (fetches_) all.push_back(&*fetches_);
  return all;
}

std::vector<OpenSession*> PageSessions::Which(bool of_fetches) {
  std::vector<OpenSession*> sessions;
  if (of_fetches && fetches_) sessions.push_back(&*fetches_);
  if (of_fetches) return sessions;
  for (OpenSession& session : page_) sessions.push_back(&session);
  return sessions;
}

std::vector<OpenSession*> PageSessions::ByPreference() {
  std::vector<OpenSession*> sessions = All();
  if (fetches_first_ && fetches_) std::rotate(sessions.begin(), sessions.end() - 1, sessions.end());
  return sessions;
}

OpenSession& PageSessions::Of(const std::string& id) {
  for (OpenSession* session : All()) {
    if (session->id == id) return *session;
  }
  throw ApiError(404, "not_found", "the page has no session '" + id + "' that has run");
}

bool PageSessions::Idle() {
  for (OpenSession* session : All()) {
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    if (weft_session_get_info(session->handle.get(), &info, nullptr) == WEFT_OK && info.state != WEFT_IDLE) return false;
  }
  int32_t state = WEFT_IDLE;
  if (page_run_) weft_page_run_wait(page_run_.get(), 0, &state, nullptr);
  return state == WEFT_IDLE;
}

// ---- opening ---------------------------------------------------------------------------------------------------------------

bool PageSessions::AreThoseOfPage() {
  const auto wanted = TextsFrom([&](weft_strings** ids, weft_diagnostics** problems) { return weft_page_sessions(document_.page(), ids, problems); });
  std::vector<std::string> have;
  for (const OpenSession& session : page_) have.push_back(session.id);
  return page_run_ && (have == wanted || (wanted.empty() && have == std::vector<std::string>{"default"}));
}

PageRunHandle PageSessions::OpenPageRun() {
  PageRunHandle opened;
  Call([&](weft_diagnostics** problems) { return weft_page_run_open(document_.page(), nullptr, opened.out(), problems); }, Refusal::kEngine);
  return opened;
}

void PageSessions::Replace(PageRunHandle opened) {
  decltype(page_) sessions;
  for (const std::string& id : TextsFrom([&](weft_strings** ids, weft_diagnostics** problems) { return weft_page_run_sessions(opened.get(), ids, problems); })) {
    OpenSession session;
    session.id = id;
    Call([&](weft_diagnostics** problems) { return weft_page_run_session(opened.get(), id.c_str(), session.handle.out(), problems); });
    sessions.push_back(std::move(session));
  }
  page_ = std::move(sessions);
  page_run_ = std::move(opened);
}

void PageSessions::Drop(bool of_fetches) {
  if (of_fetches) return fetches_.reset();
  page_.clear();
  page_run_.reset();
}

void PageSessions::SetModes(int32_t mode, const weft_run_options& options) {
  if (mode == WEFT_MODE_EDIT && page_run_.get() != nullptr) weft_page_run_cancel(page_run_.get(), nullptr);
  const bool all = mode == WEFT_MODE_EDIT || mode == WEFT_MODE_FREEZE;
  for (OpenSession* session : all ? All() : Which(false)) {
    Call([&](weft_diagnostics** problems) { return weft_session_set_mode(session->handle.get(), mode, &options, problems); }, Refusal::kEngine);
  }
}

bool PageSessions::Loops(const OpenSession& session) const {
  weft_session_info info = WEFT_SESSION_INFO_INIT;
  return !session.of_fetches && weft_session_get_info(session.handle.get(), &info, nullptr) == WEFT_OK && info.loops != 0;
}

OpenSession& PageSessions::OpenFetches(const Json& body) {
  const std::vector<std::string> fetches = TextsField(body, "fetches", 256), operations = TextsField(body, "operations", 256);
  const std::vector<const char*> fetched = Pointers(fetches), run = Pointers(operations);
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.fetches = fetched.data();
  options.fetch_count = fetched.size();
  options.operations = run.data();
  options.operation_count = run.size();
  OpenSession session;
  session.id = "fetch";
  session.of_fetches = true;
  Call([&](weft_diagnostics** problems) { return weft_session_open(document_.page(), &options, session.handle.out(), problems); }, Refusal::kEngine);
  fetches_ = std::move(session);
  return *fetches_;
}

PageSessions::Taken PageSessions::TakeAll() {
  Taken taken{std::move(page_run_), std::move(page_)};
  page_.clear();
  if (fetches_) taken.sessions.push_back(std::move(*fetches_));
  fetches_.reset();
  return taken;
}

// ---- values ----------------------------------------------------------------------------------------------------------------

void PageSessions::ForResults(const std::vector<std::string>* names, const EachResult& each) {
  const std::vector<const char*> wanted = names == nullptr ? std::vector<const char*>() : Pointers(*names);
  for (OpenSession* session : ByPreference()) {
    ResultsHandle results;
    if (weft_session_read_results(session->handle.get(), names == nullptr ? nullptr : wanted.data(), wanted.size(), results.out(), nullptr) != WEFT_OK) continue;
    const weft_result* array = nullptr;
    size_t count = 0;
    weft_results_all(results.get(), &array, &count);
    for (size_t i = 0; i < std::min(count, limits_.names); ++i) each(array[i], *session, results.get(), i);
  }
}

Json PageSessions::Summaries(const std::vector<std::string>& names, bool all, bool statistics, int64_t first) {
  Json values = Json::object();
  JsonRoom room{limits_.json_bytes, limits_.string_bytes};
  ForResults(all ? nullptr : &names, [&](const weft_result& result, OpenSession& session, weft_results* results, size_t index) {
    if (values.contains(result.name) && !values[result.name].contains("error")) return;
    if (result.code != WEFT_OK) {
      values[result.name] = ErrorJson(weft_status_name(result.code), "no run has computed the value, or there is none");
      return;
    }
    Json summary = SummaryOf(results, index, statistics, first, room);
    summary["session"] = session.id;
    values[result.name] = std::move(summary);
  });
  for (const std::string& name : names) {
    if (!values.contains(name)) values[name] = ErrorJson("failed_precondition", "nothing has run yet");
  }
  return {{"revision", document_.revision()}, {"values", std::move(values)}};
}

ViewHandle PageSessions::View(const std::string& name, const std::string& session, std::string& from) {
  const std::vector<OpenSession*> sessions = session.empty() ? ByPreference() : std::vector<OpenSession*>{&Of(session)};
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

// ---- feeds -----------------------------------------------------------------------------------------------------------------

Json PageSessions::Feeds() const {
  Json list = Json::array();
  for (const auto& [name, value] : feeds_) {
    list.push_back({{"name", name}, {"dtype", weft_dtype_name(value->buffer.dtype)}, {"shape", value->shape}});
  }
  return {{"feeds", std::move(list)}};
}

void PageSessions::Feed(const std::string& name, std::unique_ptr<OwnedBuffer> value) {
  if (!feeds_.contains(name) && feeds_.size() >= limits_.feeds) throw ApiError(429, "resource_exhausted", "the page has too many feeds");
  value->counted = value->held_bytes();
  CountFeeds(value->counted);
  std::optional<ApiError> unknown, refusal;
  std::vector<OpenSession*> taken;
  for (OpenSession* session : All()) {
    try {
      Call([&](weft_diagnostics** problems) { return weft_session_feed(session->handle.get(), name.c_str(), &value->buffer, problems); });
      taken.push_back(session);
    } catch (const ApiError& error) {
      (error.http() == HttpStatusOf(WEFT_NOT_FOUND, Refusal::kCall) ? unknown : refusal) = error;
    }
    if (refusal) break;
  }
  if (taken.empty() && !refusal) refusal = unknown;
  if (!refusal) feeds_[name] = std::move(value);
  value.reset();
  CountFeeds(0);
  if (refusal) {
    bool as_before = true;
    for (OpenSession* session : taken) as_before = FeedAsBefore(*session, name) && as_before;
    if (!as_before) Unfeed(name);
    throw *refusal;
  }
  PublishFeeds();
}

bool PageSessions::FeedAsBefore(OpenSession& session, const std::string& name) {
  weft_session_unbind(session.handle.get(), name.c_str(), nullptr);
  const auto before = feeds_.find(name);
  return before == feeds_.end() || weft_session_feed(session.handle.get(), name.c_str(), &before->second->buffer, nullptr) == WEFT_OK;
}

void PageSessions::Unfeed(const std::string& name) {
  if (feeds_.erase(name) == 0) throw ApiError(404, "not_found", "'" + name + "' is not fed");
  CountFeeds(0);
  for (OpenSession* session : All()) weft_session_unbind(session->handle.get(), name.c_str(), nullptr);
  PublishFeeds();
}

void PageSessions::FeedTo(OpenSession& session) {
  for (const auto& [name, value] : feeds_) {
    try {
      Call([&](weft_diagnostics** problems) { return weft_session_feed(session.handle.get(), name.c_str(), &value->buffer, problems); });
    } catch (const ApiError& error) {
      if (error.http() == HttpStatusOf(WEFT_RESOURCE_EXHAUSTED, Refusal::kCall)) throw;  // else it has no such value
    }
  }
}

void PageSessions::Rename(const Renames& renames) {
  std::map<std::string, std::unique_ptr<OwnedBuffer>> renamed;
  for (auto& [name, value] : feeds_) {
    std::string now = name;
    FollowName(now, renames);
    renamed[now] = std::move(value);
  }
  feeds_ = std::move(renamed);
  CountFeeds(0);
  for (OpenSession& session : page_) FollowId(session.id, renames);
}

void PageSessions::CountFeeds(int64_t more) {
  int64_t bytes = more;
  for (const auto& [name, value] : feeds_) bytes += value->counted;
  Call([&](weft_diagnostics** problems) { return weft_page_hold_memory(document_.page(), bytes, problems); });
}

void PageSessions::PublishFeeds() {
  Json names = Json::array();
  for (const auto& [name, value] : feeds_) names.push_back(name);
  document_.log().Publish({{"type", "feeds"}, {"names", std::move(names)}});
}

}  // namespace weft::serve
