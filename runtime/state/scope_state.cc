#include "runtime/state/scope_state.h"

#include <cstring>
#include <map>
#include <set>

#include "runtime/base/failure.h"
#include "runtime/state/scope_services.h"
#include "weft/block/stored_state.h"

namespace weft {
namespace {

constexpr std::string_view kOwn = "own/";

/// Of the key of a block's own state, "own/TYPE/BLOCK": the type and the id of the block. Types have no slash.
std::pair<std::string_view, std::string_view> PartsOfOwn(std::string_view key) {
  key.remove_prefix(kOwn.size());
  const size_t slash = std::min(key.find('/'), key.size());
  return {key.substr(0, slash), key.substr(std::min(slash + 1, key.size()))};
}

/// Which blocks of a page make resources.
class ResourceMakers {
 public:
  explicit ResourceMakers(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes()) {
      if (node.def == nullptr || node.broken || node.variable >= 0 || node.def->FindAttr("shared_name") < 0) continue;
      shared_.emplace(ResourceStore::SharedKey(node), node.def->name);
    }
  }

  /// The type of the block that makes the one of this key; empty where none does.
  std::string_view Of(std::string_view key) const {
    if (!key.starts_with(kOwn)) {
      const auto maker = shared_.find(key);
      return maker == shared_.end() ? std::string_view() : maker->second;
    }
    const auto [type, id] = PartsOfOwn(key);
    const int block = graph_.IndexOf(id);
    const bool made = block >= 0 && graph_.node(block).def != nullptr && graph_.node(block).def->name == type;
    return made ? type : std::string_view();
  }

 private:
  const Graph& graph_;
  std::map<std::string, std::string_view, std::less<>> shared_;
};

/// "the queue of 'q'", for messages.
std::string NameOf(std::string_view key, std::string_view kind) {
  if (key.starts_with(kOwn)) return Cat("the ", kind, " of '", PartsOfOwn(key).second, "'");
  return Cat("the ", kind, " '", key.substr(key.rfind('/') + 1), "'");
}

}  // namespace

// ---- saving ----------------------------------------------------------------------------------------------------------------------------

Status ScopeState::Capture(std::chrono::nanoseconds patience) {
  RunGate::Closing gate(scope_.runs());
  WEFT_RETURN_IF_ERROR(gate.Close(patience, true));
  WEFT_RETURN_IF_ERROR(CaptureVariables());
  return CaptureResources();
}

Status ScopeState::CaptureVariables() {
  const Graph& graph = *revision_->graph;
  page_ = graph.name();
  const VariableAccess access(scope_.variables());
  started_ = revision_->started;
  for (size_t v = 0; v < graph.variables().size(); ++v) {
    const VariableInfo& info = graph.variable_info(static_cast<int>(v));
    if (!info.temporary.empty()) continue;
    const Node& node = graph.node(graph.variables()[v]);
    const Tensor& value = revision_->variables[v]->value(access);
    if (value.defined() && value.dtype() == DType::kResource) return Unsupported("the variable holds handles, which cannot be saved").WithBlock(node.id);
    variables_.push_back({node.id, std::string(node.def->name), !value.defined() || info.declared.Accepts(value.shape()), value});
  }
  return {};
}

Status ScopeState::CaptureResources() {
  const ResourceMakers makers(*revision_->graph);
  const ResourceStore::Access access(scope_.resources());
  for (const auto& [key, handle] : access.resources()) {
    const auto* stored = dynamic_cast<const StoredState*>(handle.get());
    if (stored == nullptr) continue;  // what it holds follows from the page
    StateWriter out;
    if (Status status = stored->Save(out); !status.ok()) return Status(status.code(), Cat(NameOf(key, handle->kind()), ": ", status.message()));
    resources_.push_back({key, std::string(makers.Of(key)), std::string(handle->kind()), std::move(out).Take()});
  }
  for (const auto& [key, saved] : access.saved()) resources_.push_back({key, std::string(makers.Of(key)), saved.kind, saved.state});
  return {};
}

Status ScopeState::Write(SnapshotWriter& file) const {
  StateWriter head;
  head.PutText(page_);
  head.Put(started_);
  WEFT_RETURN_IF_ERROR(file.Add(SectionTag::kScope, std::move(head).Take()));
  for (const Variable& variable : variables_) {
    StateWriter out;
    out.PutText(variable.id);
    out.PutText(variable.block);
    out.Put(variable.fits_page);
    out.Put(variable.value.defined());
    if (variable.value.defined()) {
      out.PutText(DTypeName(variable.value.dtype()));
      out.Put(static_cast<uint64_t>(variable.value.shape().rank()));
      for (int64_t dim : variable.value.shape().dims()) out.PutSigned(dim);
    }
    WEFT_RETURN_IF_ERROR(file.Add(SectionTag::kVariable, std::move(out).Take()));
    if (!variable.value.defined()) continue;
    if (variable.value.dtype() == DType::kString) {
      std::string elements;
      AppendElements(variable.value, elements);
      WEFT_RETURN_IF_ERROR(file.Add(SectionTag::kElements, elements));
    } else {
      const auto size = static_cast<size_t>(variable.value.bytes());
      WEFT_RETURN_IF_ERROR(file.Add(SectionTag::kElements, {static_cast<const char*>(variable.value.data()), size}));
    }
  }
  for (const ResourceState& resource : resources_) {
    StateWriter out;
    for (std::string_view text : {resource.key, resource.block, resource.kind, resource.state}) out.PutText(text);
    WEFT_RETURN_IF_ERROR(file.Add(SectionTag::kResource, std::move(out).Take()));
  }
  return {};
}

// ---- reading ---------------------------------------------------------------------------------------------------------------------------

// What is told of a part of the file names the file.
Status ScopeState::Read(SnapshotReader& file) {
  file_ = file.name();
  Status status = ReadSections(file);
  if (status.ok() || IsNoMemory(status) || status.message().find(Cat("'", file_, "'")) != std::string::npos) return status;
  return Status(status.code(), Cat("the snapshot '", file_, "': ", status.message())).WithHint(status.hint());
}

Status ScopeState::ReadSections(SnapshotReader& file) {
  const ScopeFiles files(scope_);
  WEFT_ASSIGN_OR_RETURN(SnapshotReader::Section section, file.Next());
  if (section.tag != SectionTag::kScope) return DataLoss("needs the scope as its first section, found another");
  WEFT_ASSIGN_OR_RETURN(const std::string head, file.ReadText("the scope"));
  StateReader in(head, files, scope_.budget());
  WEFT_ASSIGN_OR_RETURN(page_, in.Text());
  WEFT_ASSIGN_OR_RETURN(const uint64_t started, in.NumberUpTo(1));
  WEFT_RETURN_IF_ERROR(in.End());
  started_ = started != 0;
  for (;;) {
    WEFT_ASSIGN_OR_RETURN(section, file.Next());
    switch (section.tag) {
      case SectionTag::kVariable: WEFT_RETURN_IF_ERROR(ReadVariable(file)); break;
      case SectionTag::kResource: WEFT_RETURN_IF_ERROR(ReadResource(file)); break;
      case SectionTag::kEnd: return {};
      default: return DataLoss("it is damaged: a section is out of place");
    }
  }
}

Status ScopeState::ReadVariable(SnapshotReader& file) {
  const ScopeFiles files(scope_);
  WEFT_ASSIGN_OR_RETURN(const std::string text, file.ReadText("a variable"));
  StateReader in(text, files, scope_.budget());
  Variable variable;
  WEFT_ASSIGN_OR_RETURN(variable.id, in.Text());
  WEFT_ASSIGN_OR_RETURN(variable.block, in.Text());
  WEFT_ASSIGN_OR_RETURN(const uint64_t fits, in.NumberUpTo(1));
  WEFT_ASSIGN_OR_RETURN(const uint64_t has_value, in.NumberUpTo(1));
  variable.fits_page = fits != 0;
  if (has_value != 0) {
    const std::string what = Cat("the variable '", variable.id, "'");
    WEFT_ASSIGN_OR_RETURN(const std::string name, in.Text());
    const auto dtype = DTypeFromName(name);
    if (!dtype || *dtype == DType::kInvalid || *dtype == DType::kResource) return DataLoss(what, " needs a type, found '", name, "'");
    WEFT_ASSIGN_OR_RETURN(const uint64_t rank, in.NumberUpTo(kMaxRank));
    std::vector<int64_t> dims(rank);
    for (int64_t& dim : dims) {
      WEFT_ASSIGN_OR_RETURN(dim, in.Signed());
    }
    auto shape = Shape::Make(dims);
    if (!shape.ok()) return DataLoss(what, " needs a shape: ", shape.status().message());
    WEFT_ASSIGN_OR_RETURN(const SnapshotReader::Section section, file.Next());
    if (section.tag != SectionTag::kElements) return DataLoss(what, " needs its elements, found another section");
    const uint64_t least = *dtype == DType::kString ? sizeof(uint64_t) : ElementSize(*dtype);
    const auto count = static_cast<uint64_t>(shape->count());
    if (count > section.size / least || (*dtype != DType::kString && count * least != section.size)) {
      return DataLoss(what, " of ", *dtype, " ", *shape, " needs its elements, found ", section.size, " bytes");
    }
    WEFT_ASSIGN_OR_RETURN(variable.value, Tensor::Allocate(*dtype, std::move(*shape), scope_.budget()));
    if (*dtype == DType::kString || *dtype == DType::kBool) {
      WEFT_ASSIGN_OR_RETURN(const std::string elements, file.ReadText(what));
      WEFT_RETURN_IF_ERROR(ReadElements(elements, variable.value, scope_.budget()));
    } else {
      WEFT_RETURN_IF_ERROR(file.Read(variable.value.data(), what));
    }
  }
  WEFT_RETURN_IF_ERROR(in.End());
  variables_.push_back(std::move(variable));
  return {};
}

Status ScopeState::ReadResource(SnapshotReader& file) {
  const ScopeFiles files(scope_);
  WEFT_ASSIGN_OR_RETURN(const std::string text, file.ReadText("a queue, reader or random stream"));
  StateReader in(text, files, scope_.budget());
  ResourceState& resource = resources_.emplace_back();
  for (std::string* part : {&resource.key, &resource.block, &resource.kind, &resource.state}) {
    WEFT_ASSIGN_OR_RETURN(*part, in.Text());
  }
  return in.End();
}

// ---- restoring -------------------------------------------------------------------------------------------------------------------------

Result<std::function<void()>> LoadResource(Resource& resource, std::string_view kind, std::string_view state, const Scope& scope) {
  auto* stored = dynamic_cast<StoredState*>(&resource);
  if (resource.kind() != kind || stored == nullptr) return InvalidArgument("the page needs a ", resource.kind(), ", found the state of a ", kind);
  const ScopeFiles files(scope);
  StateReader in(state, files, scope.budget());
  WEFT_ASSIGN_OR_RETURN(auto change, stored->Load(in));
  WEFT_RETURN_IF_ERROR(in.End());
  return change;
}

Status ScopeState::Close(RunGate::Closing& gate, std::chrono::nanoseconds patience) const {
  WEFT_RETURN_IF_ERROR(gate.Close(patience, false));
  if (scope_.revision() == revision_) return {};
  return Aborted("the page was edited while the snapshot was read").WithHint("restore it again");
}

Status ScopeState::Fit(bool partial, ResourceStore::Access& resources, VariableAccess& variables, Diagnostics& problems, std::vector<Change>& changes) const {
  Diagnostics found;
  FitVariables(partial, variables, found, changes);
  FitResources(partial, resources, found, changes);
  const Status first = found.FirstError();
  problems.Append(std::move(found));
  return first;
}

Status ScopeState::Check(const RestoreOptions& options, Diagnostics& problems) {
  RunGate::Closing gate(scope_.runs());
  WEFT_RETURN_IF_ERROR(Close(gate, options.patience));
  std::vector<Change> changes;
  ResourceStore::Access resources(scope_.resources());
  VariableAccess variables(scope_.variables());
  return Fit(options.partial, resources, variables, problems, changes);
}

Status ScopeState::Apply(const RestoreOptions& options, Diagnostics& problems) {
  RunGate::Closing gate(scope_.runs());
  WEFT_RETURN_IF_ERROR(Close(gate, options.patience));
  std::vector<Change> changes;
  ResourceStore::Access resources(scope_.resources());
  VariableAccess variables(scope_.variables());
  WEFT_RETURN_IF_ERROR(Fit(options.partial, resources, variables, problems, changes));
  // From here on nothing fails.
  for (Change& change : changes) change();
  revision_->started = started_ && !options.partial;  // variables that the snapshot has not are still to start
  return {};
}

void ScopeState::FitVariables(bool partial, VariableAccess& access, Diagnostics& problems, std::vector<Change>& changes) const {
  const Graph& graph = *revision_->graph;
  std::vector<char> found(graph.variables().size(), 0);
  for (const Variable& saved : variables_) {
    if (Status status = FitVariable(saved, access, found, changes); !status.ok() && !partial) problems.Error(std::move(status).WithBlock(saved.id).WithPage(graph.name()));
  }
  for (size_t v = 0; v < found.size() && !partial; ++v) {
    const Node& node = graph.node(graph.variables()[v]);
    if (found[v] || !graph.variable_info(static_cast<int>(v)).temporary.empty()) continue;
    Status missing = NotFound("the snapshot '", file_, "' of the page '", page_, "' has no variable '", node.id, "'");
    problems.Error(PlaceAtNode(graph, graph.variables()[v], std::move(missing)));
  }
}

Status ScopeState::FitVariable(const Variable& saved, VariableAccess& access, std::vector<char>& found, std::vector<Change>& changes) const {
  const Graph& graph = *revision_->graph;
  const int index = graph.IndexOf(saved.id);
  if (index < 0 || graph.node(index).variable < 0) {
    return NotFound("the snapshot '", file_, "' of the page '", page_, "' has the ", saved.block, " '", saved.id, "', which this page has not");
  }
  const Node& node = graph.node(index);
  const auto variable = static_cast<size_t>(node.variable);
  const auto refuse = [&](auto needed, auto was) {
    return PlaceAtNode(graph, index, InvalidArgument("the page needs ", needed, ", found ", was, " in the snapshot '", file_, "'"));
  };
  if (node.def->name != saved.block) return refuse(Cat("a ", node.def->name), Cat("a ", saved.block));
  if (std::exchange(found[variable], 1)) return PlaceAtNode(graph, index, InvalidArgument("the snapshot '", file_, "' has the variable twice"));
  if (saved.value.defined()) {
    const DType needed = node.output_types[0] == DType::kResource ? saved.value.dtype() : node.output_types[0];
    if (saved.value.dtype() != needed) return refuse(needed, saved.value.dtype());
    const PartialShape& declared = graph.variable_info(node.variable).declared;
    if (saved.fits_page && !declared.Accepts(saved.value.shape())) return refuse(Cat("the shape ", declared), Cat("the shape ", saved.value.shape()));
  }
  changes.push_back([cell = revision_->variables[variable], value = saved.value, &access]() mutable { cell->Set(std::move(value), access); });
  return {};
}

void ScopeState::FitResources(bool partial, ResourceStore::Access& access, Diagnostics& problems, std::vector<Change>& changes) const {
  const ResourceMakers makers(*revision_->graph);
  std::set<std::string_view> saved_keys;
  auto restored = std::make_shared<ResourceStore::SavedStates>();
  for (const ResourceState& saved : resources_) {
    Status status = FitResource(saved, makers.Of(saved.key), access, *restored, changes);
    if (status.ok()) saved_keys.insert(saved.key);
    else if (!partial) problems.Error(Status(status.code(), Cat(NameOf(saved.key, saved.kind), ": ", status.message())).WithPage(revision_->graph->name()).WithHint(status.hint()));
  }
  changes.push_back([&access, restored] { access.SwapSaved(*restored); });
  // What the snapshot has not was new when it was taken.
  for (const auto& [key, handle] : access.resources()) {
    auto* stored = dynamic_cast<StoredState*>(handle.get());
    if (stored != nullptr && saved_keys.count(key) == 0 && !partial) changes.push_back([handle = handle, stored] { stored->Reset(); });
  }
}

Status ScopeState::FitResource(const ResourceState& saved, std::string_view maker, const ResourceStore::Access& access,
                               ResourceStore::SavedStates& restored, std::vector<Change>& changes) const {
  // What blocks of a page share under a name that none of them was given is no one block's.
  if (maker.empty() && !saved.block.empty()) {
    return NotFound("the snapshot '", file_, "' of the page '", page_, "' has it, made by a ", saved.block, ", and no block of this page makes it");
  }
  if (maker != saved.block) return InvalidArgument("a ", maker, " of the page makes it, in the snapshot '", file_, "' a ", saved.block, " did");
  auto made = access.resources().find(saved.key);
  if (made == access.resources().end()) {
    // The block that makes it takes the state over in its first run.
    restored.insert_or_assign(saved.key, ResourceStore::Saved{saved.kind, saved.state});
    return {};
  }
  auto change = LoadResource(*made->second, saved.kind, saved.state, scope_);
  if (!change.ok()) return std::move(change).status().Append(Cat(", in the snapshot '", file_, "'"));
  changes.push_back(std::move(*change));
  return {};
}

// ---- the calls -------------------------------------------------------------------------------------------------------------------------

Result<SnapshotSummary> SaveSnapshot(Scope& scope, const std::filesystem::path& path, const SnapshotOptions& options) {
  try {
    ScopeState state(scope);
    WEFT_RETURN_IF_ERROR(state.Capture(options.patience));
    SnapshotWriter file;
    WEFT_RETURN_IF_ERROR(file.Open(path));
    WEFT_RETURN_IF_ERROR(state.Write(file));
    WEFT_RETURN_IF_ERROR(file.Finish());
    SnapshotSummary summary = state.summary();
    summary.bytes = file.bytes();
    return summary;
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

Result<SnapshotSummary> RestoreSnapshot(Scope& scope, const std::filesystem::path& path, const RestoreOptions& options, Diagnostics& problems) {
  const auto fail = [&](Status status) {
    if (!problems.has_errors() && !IsNoMemory(status)) problems.Error(status);
    return status;
  };
  try {
    ScopeState state(scope);
    SnapshotReader file;
    if (Status status = file.Open(path, path.string()); !status.ok()) return fail(std::move(status));
    if (Status status = state.Read(file); !status.ok()) return fail(std::move(status));
    if (Status status = state.Apply(options, problems); !status.ok()) return fail(std::move(status));
    SnapshotSummary summary = state.summary();
    summary.bytes = file.bytes();
    return summary;
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

}  // namespace weft
