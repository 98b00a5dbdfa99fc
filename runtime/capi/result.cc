// Results as views.
#include <algorithm>

#include "runtime/capi/dtypes.h"
#include "runtime/capi/objects.h"
#include "runtime/capi/strides.h"

using namespace weft;
using namespace weft::capi;

namespace weft::capi {

ViewObject::ViewObject(ResultValue shown) : value(std::move(shown)), strides(static_cast<size_t>(value.tensor.shape().rank())) {
  RowMajorStrides(value.tensor.shape(), ElementSize(value.tensor.dtype()), strides.data());
}

Status GiveView(ResultValue value, weft_view** out) { return Give(std::make_shared<ViewObject>(std::move(value)), out); }

Status GiveView(Tensor tensor, uint64_t generation, bool stale, weft_view** out) {
  ResultValue value;
  value.tensor = std::move(tensor);
  value.run = generation;
  value.stale = stale;
  return GiveView(std::move(value), out);
}

Result<Tensor> OwnValue(SessionObject& session, Tensor tensor) {
  if (!session.has_bound_inputs.load()) return tensor;
  const LateRelease late;  // of memory that another thread lets go meanwhile
  std::lock_guard lock(session.bound_mutex);
  for (const auto& bound : session.bound_inputs) {
    auto memory = bound.lock();
    if (memory && memory->Holds(tensor.data())) return tensor.Clone(session.page->scope->budget());
  }
  return tensor;
}

Status GiveResult(SessionObject& session, ResultValue result, weft_view** view) {
  WEFT_ASSIGN_OR_RETURN(result.tensor, OwnValue(session, std::move(result.tensor)));
  return GiveView(std::move(result), view);
}

}  // namespace weft::capi

weft_status weft_session_view(weft_session* session, const char* name, weft_view** view, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(view, "view"));
    *view = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    const std::string_view wanted = name;
    WEFT_ASSIGN_OR_RETURN(ResultValue result, std::move(object->runner->Read({&wanted, 1})[0]));
    return GiveResult(*object, std::move(result), view);
  });
}

weft_status weft_session_views(weft_session* session, const char* const* names, size_t count, weft_view** views,
                               weft_diagnostics** problems) {
  Diagnostics failures;
  weft_status status = Guard(problems, [&]() -> Status {
    if (count == 0) return Find(session).status();
    WEFT_RETURN_IF_ERROR(NeedPointer(views, "views"));
    std::fill(views, views + count, nullptr);
    WEFT_RETURN_IF_ERROR(NeedPointer(names, "names"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    std::vector<std::string_view> wanted;
    for (size_t i = 0; i < count; ++i) {
      WEFT_RETURN_IF_ERROR(NeedPointer(names[i], Cat("names[", i, "]")));
      wanted.emplace_back(names[i]);
    }
    std::vector<Result<ResultValue>> results = object->runner->Read(wanted);
    for (size_t i = 0; i < count; ++i) {
      Status given = results[i].ok() ? GiveResult(*object, std::move(*results[i]), views + i) : results[i].status();
      if (!given.ok()) failures.Error(std::move(given));
    }
    return {};
  });
  return status == WEFT_OK && count > 0 && failures.errors() == count ? ReportAll(failures, problems) : status;
}

weft_status weft_session_results(weft_session* session, weft_strings** names, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(names, "names"));
    *names = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    const Session& own = object->runner->session();
    if (!own.planned()) return FailedPrecondition("the session could not be planned").WithHint("run it: that says why");
    std::vector<std::string> texts;
    for (auto& [name, value] : own.Results()) texts.push_back(std::move(name));
    return GiveTexts(std::move(texts), names);
  });
}

weft_status weft_view_get_info(const weft_view* view, weft_view_info* info) {
  return Guard(nullptr, [&]() -> Status {
    weft_view_info filled = WEFT_VIEW_INFO_INIT;
    WEFT_RETURN_IF_ERROR(FillStruct(filled, info, "weft_view_info"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(view));
    const ResultValue& value = object->value;
    const Tensor& tensor = value.tensor;
    bool plain = !IsManaged(tensor.dtype());
    filled.dtype = ToC(tensor.dtype());
    filled.rank = tensor.shape().rank();
    filled.stale = value.stale || value.outdated ? 1 : 0;
    filled.in_progress = value.in_progress ? 1 : 0;
    filled.outdated_page = value.outdated_page ? 1 : 0;
    filled.shape = filled.rank > 0 ? tensor.shape().dims().data() : nullptr;
    filled.strides = filled.rank > 0 ? object->strides.data() : nullptr;
    filled.count = tensor.count();
    filled.bytes = plain ? tensor.bytes() : 0;
    filled.data = plain && filled.count > 0 ? tensor.data() : nullptr;
    filled.generation = value.run;
    return FillStruct(filled, info, "weft_view_info");
  });
}

weft_status weft_view_string(const weft_view* view, int64_t index, weft_bytes* bytes) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(bytes, "bytes"));
    *bytes = {nullptr, 0};
    WEFT_ASSIGN_OR_RETURN(auto object, Find(view));
    const Tensor& tensor = object->value.tensor;
    if (tensor.dtype() != DType::kString) return InvalidArgument("needs a view of DT_STRING, found ", tensor.dtype());
    if (index < 0 || index >= tensor.count()) return OutOfRange("needs an index of 0 to ", tensor.count() - 1, ", found ", index);
    const String& element = tensor.values<String>()[static_cast<size_t>(index)];
    *bytes = {element.data(), element.size()};
    return {};
  });
}

weft_status weft_view_text(const weft_view* view, int64_t limit, weft_strings** text, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(text, "text"));
    *text = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(view));
    if (limit < 0) return InvalidArgument("needs a limit of 0 or more, found ", limit);
    return GiveText(ToString(object->value.tensor, limit), text);
  });
}

weft_status weft_view_retain(weft_view* view) {
  return Guard(nullptr, [&] { return CountReference(Kind::kView, view, 1).status(); });
}

weft_status weft_view_release(weft_view* view) {
  return Guard(nullptr, [&] { return view == nullptr ? Status() : Close(view).status(); });
}
