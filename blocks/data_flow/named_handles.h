// Handles that are text: TensorFlow passes an accumulator as the two strings {container, name}, which a run looks up.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "blocks/data_flow/state_block.h"

namespace weft::blocks {

/// Which resource of a page's scope has which name. Owns none of them. Thread-safe.
class NamedHandles final : public Resource {
 public:
  static constexpr std::string_view kKind = "table of handles";
  std::string_view kind() const override { return kKind; }

  void Add(std::string_view container, std::string_view name, const ResourceHandle& resource);
  /// The resource that a handle names; null where there is none, or no longer.
  ResourceHandle Find(std::string_view container, std::string_view name) const;

 private:
  using Names = std::map<std::string, std::weak_ptr<Resource>, std::less<>>;

  mutable std::mutex mutex_;
  std::map<std::string, Names, std::less<>> containers_;
};

/// What a block that makes a named resource binds: the resource, and what its handle says.
class NamedResource final : public Resource {
 public:
  std::string_view kind() const override { return target->kind(); }

  ResourceHandle target;
  std::string container, name;
};

/// Finds or makes and names a block's resource in the page's scope: container "localhost", name the block's id, where none is given.
Result<ResourceHandle> BindNamed(BindContext& ctx, const std::string& container, const std::string& shared_name,
                                 const BindContext::Factory& make);

/// Binds what a block looks handles up in, whatever its parameters are.
Result<ResourceHandle> BindHandles(BindContext& ctx);
inline constexpr auto kBindHandles = [](const auto&, BindContext& ctx) { return BindHandles(ctx); };

/// The handle of what the block has bound by BindNamed, as its output.
void PutNamedHandle(RunContext& ctx, const auto& port) {
  const NamedResource& named = ctx.state<NamedResource>();
  const std::span<String> handle = ctx.out<String>(port);
  handle[0] = named.container;
  handle[1] = named.name;
}

/// The one S of the page's scope, a table in which blocks of the page look something up.
template <class S>
Result<ResourceHandle> BindTable(BindContext& ctx) {
  const auto make = []() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<S>()); };
  // A container that no page names by chance.
  WEFT_ASSIGN_OR_RETURN(ResourceHandle table, ctx.Shared("\x01weft", S::kKind, make));
  if (dynamic_cast<const S*>(table.get()) == nullptr) return Internal("the ", S::kKind, " is a ", table->kind());
  return table;
}

/// What a block found, or made, under its name; invalid_argument where that is no S.
template <class S>
Result<const S*> FoundAs(const ResourceHandle& resource) {
  if (const auto* found = dynamic_cast<const S*>(resource.get()); found != nullptr) return found;
  return InvalidArgument("needs a ", S::kKind, ", found a ", resource->kind(), " of that name").WithPort("shared_name");
}

/// invalid_argument at the port where its input is not the two strings of a handle.
Status CheckNamedHandle(const PlanContext& ctx, const auto& port) {
  if (ctx.shape(port).count() == 2) return {};
  return ctx.Error(port, "needs a handle, which is two strings, found the shape ", ctx.shape(port));
}

/// The resource that the handle at `port` names, which the caller keeps. The block has bound BindHandles. not_found where there is none,
/// invalid_argument for one of another kind.
template <class S, class Context, class P>
Result<std::shared_ptr<S>> FindNamed(const Context& ctx, const P& port) {
  const std::span<const String> handle = ctx.template in<String>(port);
  const ResourceHandle found = ctx.template state<NamedHandles>().Find(handle[0], handle[1]);
  if (found == nullptr) {
    return NotFound("needs the handle of a ", S::kKind, " of this page, found {\"", handle[0], "\", \"", handle[1],
                    "\"}, which names nothing")
        .WithPort(port.name);
  }
  auto resource = std::dynamic_pointer_cast<S>(found);
  if (resource == nullptr) return InvalidArgument("needs a ", S::kKind, ", found a ", found->kind()).WithPort(port.name);
  return resource;
}

}  // namespace weft::blocks
