// Runtimes, and the blocks that they offer as JSON.
#include "runtime/base/fnv.h"
#include "runtime/capi/objects.h"
#include "runtime/capi/run_options.h"
#include "weft/block/block_lists.h"
#include "weft/block/manifest.h"
#include "weft/host/reference.h"

using namespace weft;
using namespace weft::capi;

namespace {

/// In hexadecimal digits.
std::string HashText(std::string_view text) {
  const uint64_t hash = Fnv1a(text);
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15];
  return digits;
}

/// Joins the job of the launcher, where the host wants to.
Result<std::shared_ptr<Job>> OpenJob(const weft_runtime_options& options) {
  if (options.job_deadline_ns < 0) {
    return InvalidArgument("needs a deadline of 0 or more nanoseconds, found ", options.job_deadline_ns).WithPort("job_deadline_ns");
  }
  JobOptions chosen;
  chosen.messages = options.messages == nullptr || *options.messages == '\0' ? "none" : options.messages;
  if (options.job_deadline_ns > 0) chosen.deadline = std::chrono::nanoseconds(std::min(options.job_deadline_ns, kLongestNs));
  if (options.job_ends != nullptr) {
    chosen.tell = [ends = options.job_ends, user = options.job_user](std::string_view why) { ends(user, std::string(why).c_str()); };
  }
  return Job::Open(std::move(chosen));
}

}  // namespace

weft_status weft_runtime_open(const weft_runtime_options* options, weft_runtime** runtime, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(runtime, "runtime"));
    *runtime = nullptr;
    weft_runtime_options known = WEFT_RUNTIME_OPTIONS_INIT;
    WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_runtime_options"));
    if (known.threads < 0 || known.threads > RuntimeObject::kMostThreads) {
      return InvalidArgument("needs 0 to ", RuntimeObject::kMostThreads, " threads, found ", known.threads).WithPort("threads");
    }
    if (known.memory_limit < 0) {
      return InvalidArgument("needs a memory limit of 0 or more bytes, found ", known.memory_limit).WithPort("memory_limit");
    }
    if (known.page_memory_limit < 0) {
      return InvalidArgument("needs a memory limit of 0 or more bytes, found ", known.page_memory_limit).WithPort("page_memory_limit");
    }
    if (known.call_deadline_ns < 0) {
      return InvalidArgument("needs a deadline of 0 or more nanoseconds, found ", known.call_deadline_ns).WithPort("call_deadline_ns");
    }
    RuntimeOptions own;
    own.threads = known.threads;
    own.memory_limit = known.memory_limit;
    own.page_memory_limit = known.page_memory_limit;
    own.call_deadline = std::chrono::nanoseconds(known.call_deadline_ns);
    BlockLists lists;
    WEFT_ASSIGN_OR_RETURN(lists.allowed, ReadTexts(known.allowed_blocks, known.allowed_block_count, "allowed_blocks"));
    WEFT_ASSIGN_OR_RETURN(lists.refused, ReadTexts(known.refused_blocks, known.refused_block_count, "refused_blocks"));
    WEFT_ASSIGN_OR_RETURN(Registry registry, ApplyLists(MakeCatalog(), lists));
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Job> job, OpenJob(known));  // last: it waits for the other processes
    if (own.threads == 0) own.threads = job->threads();
    return Give(std::make_shared<RuntimeObject>(std::move(job), std::move(registry), own), runtime);
  });
}

weft_status weft_runtime_close(weft_runtime* runtime) {
  return Guard(nullptr, [&] { return runtime == nullptr ? Status() : Close(runtime).status(); });
}

weft_status weft_runtime_get_info(weft_runtime* runtime, weft_runtime_info* info, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    weft_runtime_info filled = WEFT_RUNTIME_INFO_INIT;
    WEFT_RETURN_IF_ERROR(FillStruct(filled, info, "weft_runtime_info"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    filled.threads = object->runtime.threads();
    filled.memory_limit = object->runtime.budget()->limit();
    filled.memory_used = object->runtime.budget()->used();
    return FillStruct(filled, info, "weft_runtime_info");
  });
}

weft_status weft_blocks_json(weft_runtime* runtime, weft_strings** json, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(json, "json"));
    *json = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    std::shared_lock lock(object->blocks_mutex);
    return GiveText(WriteManifest(object->runtime.registry()), json);
  });
}

weft_status weft_blocks_hash(weft_runtime* runtime, weft_strings** hash, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(hash, "hash"));
    *hash = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    std::lock_guard lock(object->blocks_mutex);
    const size_t blocks = object->runtime.registry().blocks().size();
    if (object->hashed_blocks != blocks) {
      object->hash = HashText(WriteManifest(object->runtime.registry()));
      object->hashed_blocks = blocks;
    }
    return GiveText(object->hash, hash);
  });
}

weft_status weft_block_json(weft_runtime* runtime, const char* block, weft_strings** json, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(json, "json"));
    *json = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(block, "block"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    std::shared_lock lock(object->blocks_mutex);
    const Registry& registry = object->runtime.registry();
    WEFT_ASSIGN_OR_RETURN(const BlockDef* def, FindBlock(registry, block));
    return GiveText(WriteManifest(*def), json);
  });
}

weft_status weft_block_markdown(weft_runtime* runtime, const char* block, weft_strings** markdown, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(markdown, "markdown"));
    *markdown = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(block, "block"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(runtime));
    std::shared_lock lock(object->blocks_mutex);
    const Registry& registry = object->runtime.registry();
    WEFT_ASSIGN_OR_RETURN(const BlockDef* def, FindBlock(registry, block));
    return GiveText(BlockMarkdown(registry, *def), markdown);
  });
}
