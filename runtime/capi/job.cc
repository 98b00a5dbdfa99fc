// The job that this process is part of.
#include "runtime/capi/objects.h"

using namespace weft;
using namespace weft::capi;

weft_status weft_runtime_get_job(weft_runtime* runtime, weft_job_info* info, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    weft_job_info filled = WEFT_JOB_INFO_INIT;
    filled.library = "";
    WEFT_RETURN_IF_ERROR(FillStruct(filled, info, "weft_job_info"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    filled.rank = object->job->rank();
    filled.ranks = object->job->size();
    filled.library = object->messages.c_str();
    return FillStruct(filled, info, "weft_job_info");
  });
}

weft_status weft_runtime_rank_names(weft_runtime* runtime, weft_strings** names, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(names, "names"));
    *names = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    std::vector<std::string> texts;
    for (int rank = 0; rank < object->job->size(); ++rank) texts.push_back(object->job->Name(rank));
    return GiveTexts(std::move(texts), names);
  });
}

weft_status weft_runtime_abort_job(weft_runtime* runtime, const char* why, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(why, "why"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    if (object->job->size() > 1) object->job->Abort(why);
    return {};
  });
}
