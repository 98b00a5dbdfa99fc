// The catalog against the facts of tests/facts/blocks.json: names, ports, types, attributes and their order, defaults, spellings. What
// differs, and why, stands in one table.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "weft/block/manifest.h"
#include "weft/block/registry.h"

using namespace weft;
using nlohmann::json;

namespace {

using Names = std::set<std::string>;

/// "Block" or "Block.name" with what differs there: "types", "inferred", "minimum", "allowed", "reference", "structural", "spelling", "listed",
/// "handle".
struct Exception {
  const char *what, *where, *reason;
};
constexpr Exception kExceptions[] = {
    {"allowed", "GatherNd.bad_indices_policy", "TensorFlow's kernel refuses other words; here they are refused by name"},
    {"allowed", "ScatterNd.bad_indices_policy", "TensorFlow's kernel refuses other words; here they are refused by name"},
    {"allowed", "ScatterNdAdd.bad_indices_policy", "TensorFlow's kernel refuses other words; here they are refused by name"},
    {"allowed", "ScatterNdNonAliasingAdd.bad_indices_policy", "TensorFlow's kernel refuses other words; here they are refused by name"},
    {"allowed", "ScatterNdSub.bad_indices_policy", "TensorFlow's kernel refuses other words; here they are refused by name"},
    {"allowed", "ScatterNdUpdate.bad_indices_policy", "TensorFlow's kernel refuses other words; here they are refused by name"},
    {"handle", "LMDBReader", "the blocks that read take handles of resources, and a reader is one"},
    {"inferred", "Const.dtype", "a literal says its type"},
    {"inferred", "Variable.shape", "follows from the initial value"},
    {"inferred", "Variable.dtype", "follows from the initial value"},
    {"listed", "AvgPoolGrad", "the gradient of a listed block, useful by itself"},
    {"listed", "CollectiveBcastRecvV2", "for pages on several processes, which enuSpace has not"},
    {"listed", "CollectiveBcastSendV2", "for pages on several processes, which enuSpace has not"},
    {"listed", "CollectiveGatherV2", "for pages on several processes, which enuSpace has not"},
    {"listed", "CollectiveReduceV2", "for pages on several processes, which enuSpace has not"},
    {"listed", "MaxPoolGrad", "the gradient of a listed block, useful by itself"},
    {"listed", "MaxPoolGradWithArgmax", "the gradient of a listed block, useful by itself"},
    {"listed", "ReluGrad", "the gradient of a listed block, useful by itself"},
    {"minimum", "FixedLengthRecordReader.header_bytes", "negative sizes are refused when the page is loaded"},
    {"minimum", "FixedLengthRecordReader.record_bytes", "negative sizes are refused when the page is loaded"},
    {"minimum", "FixedLengthRecordReader.footer_bytes", "negative sizes are refused when the page is loaded"},
    {"minimum", "FixedLengthRecordReader.hop_bytes", "negative sizes are refused when the page is loaded"},
    {"minimum", "Output.index", "negative indices are refused when the page is loaded"},
    {"minimum", "SampleDistortedBoundingBox.aspect_ratio_range", "two ends make a range"},
    {"minimum", "SampleDistortedBoundingBox.area_range", "two ends make a range"},
    {"minimum", "SampleDistortedBoundingBoxV2.aspect_ratio_range", "two ends make a range"},
    {"minimum", "SampleDistortedBoundingBoxV2.area_range", "two ends make a range"},
    {"minimum", "TextLineReader.skip_header_lines", "negative numbers are refused when the page is loaded"},
    {"reference", "AccumulatorApplyGradient", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "AccumulatorNumAccumulated", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "AccumulatorSetGlobalStep", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "AccumulatorTakeGradient", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "Barrier", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "BarrierClose", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "BarrierIncompleteSize", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "BarrierInsertMany", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "BarrierReadySize", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "BarrierTakeMany", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "ConditionalAccumulator", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "SparseAccumulatorApplyGradient", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "SparseAccumulatorTakeGradient", "a handle is a text, which a run looks up: a value like others"},
    {"reference", "SparseConditionalAccumulator", "a handle is a text, which a run looks up: a value like others"},
    {"spelling", "QuantizedBiasAdd", "pins of the palette that name outputs"},
    {"structural", "TemporaryVariable", "the plan makes its variable"},
    {"structural", "VarHandleOp", "the plan makes its variable"},
    {"types", "Bincount.T", "complex weights have kernels but no declaration"},
    {"types", "DecodeRaw.out_type", "bytes are moved, whatever they mean"},
    {"types", "DeserializeManySparse.dtype", "a handle has no value to read"},
    {"types", "Diag.T", "elements are moved, whatever they are"},
    {"types", "DiagPart.T", "elements are moved, whatever they are"},
    {"types", "ImmutableConst.dtype", "a file of bytes holds no strings and no handles"},
    {"types", "MaxPool3D.T", "double costs nothing, and gradients are checked in it"},
    {"types", "MaxPool3DGrad.T", "double costs nothing, and gradients are checked in it"},
    {"types", "MaxPool3DGrad.TInput", "double costs nothing, and gradients are checked in it"},
    {"types", "ParseTensor.out_type", "a message holds no handle"},
    {"types", "RandomNormal_ex.dtype", "normal numbers are floating-point"},
    {"types", "SerializeManySparse.T", "a handle has no value to write"},
    {"types", "SerializeSparse.T", "a handle has no value to write"},
    {"types", "TensorSummary.T", "a handle has no value to summarise"},
};

bool Excepted(const std::string& what, const std::string& where) {
  const auto same = [&](const Exception& e) { return e.what == what && e.where == where; };
  return std::any_of(std::begin(kExceptions), std::end(kExceptions), same);
}

json Facts() {
  std::ifstream in(std::filesystem::path(WEFT_SOURCE_DIR) / "tests" / "facts" / "blocks.json", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return json::parse(text.str(), nullptr, false);
}

/// What is said under a key; null where nothing is.
json Get(const json& object, const char* key) { return object.contains(key) ? object[key] : json(); }

std::vector<std::string> NamesOf(const json& list, const char* key) {
  std::vector<std::string> names;
  for (const json& one : list) names.push_back(one[key]);
  return names;
}

/// The types of a list that Weft has; all of them where there is no list.
Names TypesOf(const json& list) {
  Names types;
  for (DType type : kAllTypes.dtypes()) {
    const bool in = !list.is_array() || std::find(list.begin(), list.end(), DTypeName(type)) != list.end();
    if (in) types.emplace(DTypeName(type));
  }
  return types;
}

std::string Joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += " " + name;
  return text;
}

Names Without(const Names& all, const Names& some) {
  Names rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::inserter(rest, rest.end()));
  return rest;
}

void ComparePorts(const json& ours, const json& facts, bool references) {
  CHECK(NamesOf(ours, "port") == NamesOf(facts, "port"));
  for (size_t i = 0; i < std::min(ours.size(), facts.size()); ++i) {
    INFO("port " << ours[i]["port"]);
    for (const char* key : {"type_attr", "type", "list_length_attr", "type_list_attr", "reference", "list", "kind"}) {
      INFO(key);
      if (references || std::string(key) != "reference") CHECK(Get(ours[i], key) == Get(facts[i], key));
    }
  }
}

/// A block takes at least the types of TensorFlow's kernels that its declaration allows, or all that are allowed where no kernels are
/// known; and none that neither kernels nor declaration name.
void CompareTypes(const std::string& where, const json& ours, const json& fact, const json& kernels) {
  if (Excepted("types", where)) return;
  const Names taken = TypesOf(Get(ours, "allowed")), allowed = TypesOf(Get(fact, "allowed"));
  Names needed = allowed, known = allowed;
  if (kernels.is_array()) {
    const Names named = TypesOf(kernels);
    needed = Without(named, Without(named, allowed));
    known.insert(named.begin(), named.end());
  }
  INFO("missing:" << Joined(Without(needed, taken)) << "; beyond:" << Joined(Without(taken, known)));
  CHECK(Without(needed, taken).empty());
  CHECK(Without(taken, known).empty());
}

/// Numbers as floats, alone or in a list.
json AsFloats(const json& value) {
  if (value.is_number_float()) return value.get<float>();
  json list = value;
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) list[i] = AsFloats(value[i]);
  return list;
}

/// No list is shorter than nothing.
json MinimumOf(const json& attr) {
  const json minimum = Get(attr, "minimum");
  return attr["type"].get<std::string>().starts_with("list") && minimum == 0 ? json() : minimum;
}

void CompareAttr(const std::string& where, const json& ours, const json& fact, const json& kernels) {
  CHECK(ours["type"] == fact["type"]);
  const bool inferred = ours.value("inferred", false);
  if (!Excepted("inferred", where)) CHECK(inferred == fact.value("inferred", false));
  if (!inferred) CHECK(AsFloats(Get(ours, "default")) == AsFloats(Get(fact, "default")));
  if (!Excepted("minimum", where)) CHECK(MinimumOf(ours) == MinimumOf(fact));
  if (ours["type"] == "type" || ours["type"] == "list(type)") {
    CompareTypes(where, ours, fact, kernels);
  } else if (ours["type"] == "string" && !Excepted("allowed", where)) {
    const auto words = [](const json& attr) { return attr.contains("allowed") ? attr["allowed"].get<Names>() : Names(); };
    CHECK(words(ours) == words(fact));
  }
}

/// Attributes that follow from the inputs may be left out; those that are there have the order of the facts.
void CompareAttrs(const std::string& block, const json& ours, const json& facts, const json& kernels) {
  std::map<std::string, const json*> mine;
  for (const json& attr : ours) mine[attr["name"]] = &attr;
  std::vector<std::string> expected, found = NamesOf(ours, "name");
  for (const json& fact : facts) {
    const std::string name = fact["name"];
    const auto attr = mine.find(name);
    INFO("attribute " << name);
    CHECK((attr != mine.end() || fact.value("inferred", false)));
    if (attr == mine.end()) continue;
    expected.push_back(name);
    CompareAttr(block + "." + name, *attr->second, fact, Get(kernels, name.c_str()));
  }
  CHECK(found == expected);
}

void CompareBlock(const json& ours, const json& fact) {
  const std::string name = ours["block"];
  CHECK(ours["category"] == fact["category"]);
  CHECK((ours.value("stateful", false) || !fact.value("stateful", false)));
  if (!Excepted("structural", name)) CHECK(ours.value("structural", false) == fact.value("structural", false));
  if (!Excepted("spelling", name)) CHECK(Get(ours, "palette_spelling") == Get(fact, "palette_spelling"));
  const bool references = !Excepted("reference", name);
  {
    INFO("inputs");
    ComparePorts(ours["inputs"], fact["inputs"], references);
  }
  if (!Excepted("handle", name)) {
    INFO("outputs");
    ComparePorts(ours["outputs"], fact["outputs"], references);
  }
  CompareAttrs(name, ours["attrs"], fact["attrs"], Get(fact, "cpu_types"));
}

}  // namespace

TEST_CASE("the catalog agrees with the facts: ports, types, attributes, defaults, spellings", "[catalog]") {
  const json facts = Facts(), ours = json::parse(WriteManifest(MakeCatalog()), nullptr, false);
  REQUIRE(facts.is_array());
  REQUIRE(ours.is_array());
  std::map<std::string, const json*> by_name;
  for (const json& fact : facts) by_name[fact["block"]] = &fact;
  for (const json& block : ours) {
    if (block.value("internal", false)) continue;
    const std::string name = block["block"];
    INFO(name);
    const auto fact = by_name.find(name);
    if (fact != by_name.end()) CompareBlock(block, *fact->second);
    else CHECK(Excepted("listed", name));
  }
}

TEST_CASE("a block is found by the name of TensorFlow's operation", "[catalog]") {
  const json facts = Facts();
  REQUIRE(facts.is_array());
  Names names;
  for (const json& fact : facts) names.insert(fact["block"]);
  const Registry registry = MakeCatalog();
  for (const json& fact : facts) {
    const BlockDef* block = registry.Find(fact["block"].get<std::string>());
    const std::string operation = fact.value("operation", "");
    if (block == nullptr || block->name != fact["block"] || operation.empty() || names.contains(operation)) continue;
    INFO(block->name << " computes " << operation);
    CHECK(registry.Find(operation) == block);
  }
}

TEST_CASE("every exception to the facts names a block and says why", "[catalog]") {
  const Registry registry = MakeCatalog();
  for (const Exception& e : kExceptions) {
    INFO(e.where);
    const std::string where = e.where;
    CHECK(registry.Find(where.substr(0, where.find('.'))) != nullptr);
    CHECK(std::string(e.reason).size() > 10);
  }
}
