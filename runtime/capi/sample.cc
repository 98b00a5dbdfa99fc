// Subscriptions and their samples.
#include "runtime/capi/run_options.h"
#include "runtime/capi/watching.h"

using namespace weft;
using namespace weft::capi;

namespace weft::capi {

SubscriptionObject::~SubscriptionObject() {
  if (id != 0) (void)session->watching->subscriptions().Remove(id).ok();
}

}  // namespace weft::capi

namespace {

static_assert(static_cast<int32_t>(Reduction::kHistogram) == WEFT_HISTOGRAM && static_cast<int32_t>(Reduction::kMean) == WEFT_MEAN);
static_assert(static_cast<int32_t>(Reduction::kEach) == WEFT_EACH && static_cast<int32_t>(Reduction::kDecimate) == WEFT_DECIMATE);

Result<SubscriptionSpec> ReadSubscription(const char* name, const weft_subscription_options* options, uint64_t& tag) {
  WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
  weft_subscription_options known = WEFT_SUBSCRIPTION_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_subscription_options"));
  if (known.reduction < WEFT_EACH || known.reduction > WEFT_HISTOGRAM) {
    return InvalidArgument("needs WEFT_EACH to WEFT_HISTOGRAM, found ", known.reduction).WithPort("reduction");
  }
  SubscriptionSpec spec;
  spec.value = name;
  spec.reduction = static_cast<Reduction>(known.reduction);
  spec.interval = std::chrono::nanoseconds(std::min(known.interval_ns, kLongestNs));
  spec.max_bytes = known.max_bytes;
  if (known.every != 0) spec.every = known.every;
  if (known.bins != 0) spec.bins = known.bins;
  spec.most_pending = static_cast<size_t>(known.most_pending);
  tag = known.tag;
  return spec;
}

/// Samples as the host gets them. Views that were made are closed again where one cannot be.
class Samples {
 public:
  Status Add(SessionObject& session, Sample& sample) {
    weft_sample& filled = filled_.emplace_back(weft_sample WEFT_SAMPLE_INIT);
    filled.code = CodeOf(sample.status);
    filled.tag = sample.tag;
    filled.first_run = sample.first_run;
    filled.run = sample.run;
    filled.runs = sample.runs;
    filled.dropped = sample.dropped;
    filled.t_ns = sample.t_ns;
    filled.stride = sample.stride;
    filled.lowest = sample.lowest;
    filled.highest = sample.highest;
    filled.not_finite = sample.not_finite;
    WEFT_RETURN_IF_ERROR(GiveValue(session, sample.value, sample.run, &filled.value));
    return GiveValue(session, sample.high, sample.run, &filled.high);
  }
  ~Samples() {
    for (const weft_sample& sample : filled_) {
      (void)weft_view_release(sample.value);
      (void)weft_view_release(sample.high);
    }
  }
  void HandOver(weft_sample* array, size_t stride) {
    for (size_t i = 0; i < filled_.size(); ++i) FillElement(array, stride, i, filled_[i]);
    filled_.clear();
  }

 private:
  static Status GiveValue(SessionObject& session, const Tensor& tensor, uint64_t run, weft_view** view) {
    if (!tensor.defined()) return {};
    WEFT_ASSIGN_OR_RETURN(Tensor own, OwnValue(session, tensor));
    return GiveView(std::move(own), run, false, view);
  }
  std::vector<weft_sample> filled_;
};

Status TakeSamples(SessionObject& session, uint64_t id, weft_sample* array, size_t capacity, size_t* count) {
  WEFT_ASSIGN_OR_RETURN(const size_t stride, StrideOf(array, capacity, "weft_sample"));
  std::vector<Sample> taken = session.watching->subscriptions().Take(id, capacity);
  Samples samples;
  for (Sample& sample : taken) WEFT_RETURN_IF_ERROR(samples.Add(session, sample));
  samples.HandOver(array, stride);
  *count = taken.size();
  return {};
}

}  // namespace

weft_status weft_session_subscribe(weft_session* session, const char* name, const weft_subscription_options* options,
                                   weft_subscription** subscription, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(subscription, "subscription"));
    *subscription = nullptr;
    auto made = std::make_shared<SubscriptionObject>();
    WEFT_ASSIGN_OR_RETURN(made->session, Find(session));
    uint64_t tag = 0;
    WEFT_ASSIGN_OR_RETURN(SubscriptionSpec spec, ReadSubscription(name, options, tag));
    spec.tag = tag;
    WEFT_ASSIGN_OR_RETURN(made->id, made->session->watching->subscriptions().Add(std::move(spec)));
    return Give(std::move(made), subscription);
  });
}

weft_status weft_subscription_close(weft_subscription* subscription) {
  return Guard(nullptr, [&]() -> Status { return subscription == nullptr ? Status() : Close(subscription).status(); });
}

weft_status weft_subscription_name(weft_subscription* subscription, weft_strings** name, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    *name = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(subscription));
    WEFT_ASSIGN_OR_RETURN(std::string text, object->session->watching->subscriptions().NameOf(object->id));
    return GiveText(std::move(text), name);
  });
}

weft_status weft_session_samples(weft_session* session, weft_sample* array, size_t capacity, size_t* count, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    return TakeSamples(*object, 0, array, capacity, count);
  });
}

weft_status weft_subscription_samples(weft_subscription* subscription, weft_sample* array, size_t capacity, size_t* count,
                                      weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(subscription));
    return TakeSamples(*object->session, object->id, array, capacity, count);
  });
}
