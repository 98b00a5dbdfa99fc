#include "tools/serve/page_json.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "tools/serve/object_text.h"
#include "tools/serve/page_source.h"

namespace weft::serve {
namespace {

/// What the engine says of an edit, and a Change as well.
constexpr const char* kLists[] = {"added", "removed", "changed", "renamed", "moved", "keys"};

/// A list of texts of the engine's JSON.
std::vector<std::string> Ids(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? std::vector<std::string>() : found->get<std::vector<std::string>>();
}

/// The places that the page has, as JSON.
std::string LayoutOf(weft_page* page) {
  StringsHandle text;
  return weft_page_layout_json(page, WEFT_LAYOUT_PAGE, text.out(), nullptr) == WEFT_OK ? TextOf(text) : "{}";
}

void AddWires(const std::string& id, const std::string& port, const Json& value, Json& wires) {
  if (value.is_string()) {
    wires.push_back(Json::array({value, id + "." + port}));
  } else if (value.is_array()) {
    for (size_t k = 0; k < value.size(); ++k) {
      if (value[k].is_string()) wires.push_back(Json::array({value[k], id + "." + port + "[" + std::to_string(k) + "]"}));
    }
  }
}

/// The wires into a block: [["a.z", "y.x"], ...], from its JSON.
Json WiresInto(const Json& block) {
  Json wires = Json::array();
  const auto inputs = block.find("inputs");
  if (inputs == block.end() || !inputs->is_object()) return wires;
  for (const auto& [port, value] : inputs->items()) AddWires(block.value("id", ""), port, value, wires);
  return wires;
}

void PutBlocks(weft_page* page, const std::vector<std::string>& ids, Json& change) {
  Json blocks = Json::array(), wires = Json::object();
  if (!ids.empty()) {
    const std::unordered_set<std::string_view> wanted(ids.begin(), ids.end());
    StringsHandle all;
    Call([&](weft_diagnostics** problems) { return weft_page_blocks(page, all.out(), problems); });
    const char* const* names = nullptr;
    size_t count = 0;
    weft_strings_all(all.get(), &names, &count);
    for (size_t place = 0; place < count; ++place) {
      if (!wanted.contains(names[place])) continue;
      const std::string text =
          TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_block_json(page, names[place], json, problems); });
      Json block = Json::parse(text, nullptr, false);
      wires[names[place]] = WiresInto(block);
      blocks.push_back({{"place", place}, {"block", std::move(block)}});
    }
  }
  change["blocks"] = std::move(blocks);
  change["wires"] = std::move(wires);
}

void PutLayout(weft_page* page, const Json& difference, Json& change) {
  const std::vector<std::string> keys = Ids(difference, "keys"), added = Ids(difference, "added");
  std::vector<std::string> moved = Ids(difference, "moved");
  for (std::string& id : Ids(difference, "removed")) moved.push_back(std::move(id));
  const bool all = std::find(keys.begin(), keys.end(), "layout") != keys.end();
  Json entries = Json::object();
  if (all || !moved.empty() || !added.empty()) {
    const ObjectText layout(LayoutOf(page));
    std::unordered_set<std::string> wanted(added.begin(), added.end());
    for (const std::string& id : moved) {
      wanted.insert(id);
      if (!all) entries[id] = nullptr;  // placed no more, unless it is in the layout
    }
    for (const ObjectText::Member& member : layout.members()) {
      const std::string id = KeyOf(member);
      if (all || wanted.contains(id)) entries[id] = ValueOf(member);
    }
  }
  change["layout"] = std::move(entries);
  if (all) change["layout_all"] = true;
}

void PutKeys(const Json& difference, const std::string& text, Json& change) {
  Json entries = Json::object();
  if (const std::vector<std::string> keys = Ids(difference, "keys"); !keys.empty()) {
    const Json now = KeysOf(text);
    for (const std::string& key : keys) {
      if (key != "layout") entries[key] = now.contains(key) ? now[key] : Json(nullptr);
    }
  }
  change["page_keys"] = std::move(entries);
}

std::map<std::string, size_t> PlacesOf(const Json& blocks) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < blocks.size(); ++i) places[blocks[i].value("id", "")] = i;
  return places;
}

}  // namespace

Json KeysOf(const std::string& text) {
  Json keys = Json::object();
  const ObjectText page(text);
  for (const ObjectText::Member& member : page.members()) {
    if (member.key != "\"blocks\"" && member.key != "\"layout\"") keys[KeyOf(member)] = ValueOf(member);
  }
  return keys;
}

Json ChangeOf(weft_page* page, const std::string& difference, const std::string& text) {
  const Json diff = Json::parse(difference, nullptr, false);
  const uint64_t revision = RevisionOf(page);
  Json change = {{"revision", revision}, {"before", revision - 1}};
  for (const char* name : kLists) change[name] = diff.contains(name) ? diff[name] : Json::array();
  std::vector<std::string> ids = Ids(diff, "added");
  for (const std::string& id : Ids(diff, "changed")) ids.push_back(id);
  for (const Json& pair : change["renamed"]) ids.push_back(pair[1].get<std::string>());
  PutBlocks(page, ids, change);
  PutLayout(page, diff, change);
  PutKeys(diff, text, change);
  return change;
}

Json NoChange(weft_page* page) {
  const uint64_t revision = RevisionOf(page);
  Json change = {{"revision", revision}, {"before", revision}, {"blocks", Json::array()}};
  for (const char* name : kLists) change[name] = Json::array();
  for (const char* name : {"wires", "layout", "page_keys"}) change[name] = Json::object();
  return change;
}

std::string ViewOf(weft_page* page) {
  std::string view = "\"keys\":" + Dump(KeysOf(PageText(page))) + ",\"blocks\":[";
  StringsHandle ids;
  Call([&](weft_diagnostics** problems) { return weft_page_blocks(page, ids.out(), problems); });
  const char* const* names = nullptr;
  size_t count = 0;
  weft_strings_all(ids.get(), &names, &count);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) view += ',';
    view += TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_block_json(page, names[i], json, problems); });
  }
  view += "],\"wires\":" + TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_wires_json(page, json, problems); });
  const std::string places = LayoutOf(page);
  view += ",\"layout\":" + places;
  if (places.find('"') == std::string::npos && count > 0) {
    view += ",\"auto_layout\":" +
            TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_layout_json(page, WEFT_LAYOUT_AUTO, json, problems); });
  }
  return view;
}

Json EditsBetween(const std::string& from, const std::string& to) {
  const Json before = Json::parse(from, nullptr, false), after = Json::parse(to, nullptr, false);
  Json edits = Json::array();
  const Json none = Json::array();
  const Json& old_blocks = before.contains("blocks") ? before["blocks"] : none;
  const Json& new_blocks = after.contains("blocks") ? after["blocks"] : none;
  const auto new_places = PlacesOf(new_blocks);
  // What stays where it is among those that both have is left alone; the rest is taken out and put back.
  std::set<std::string> stays;
  size_t next = 0;
  for (const Json& block : old_blocks) {
    const std::string id = block.value("id", "");
    const auto place = new_places.find(id);
    if (place != new_places.end() && place->second >= next && new_blocks[place->second] == block) {
      stays.insert(id);
      next = place->second + 1;
    } else {
      edits.push_back({{"op", "remove"}, {"block", id}, {"keep_wires", true}, {"keep_layout", true}});
    }
  }
  for (size_t place = 0; place < new_blocks.size(); ++place) {
    const std::string id = new_blocks[place].value("id", "");
    if (!stays.contains(id)) edits.push_back({{"op", "add"}, {"block", new_blocks[place]}, {"place", place}});
  }
  for (const auto& [key, value] : after.items()) {
    if (key != "blocks" && key != "weft" && (!before.contains(key) || before[key] != value)) edits.push_back({{"op", "set"}, {"key", key}, {"value", value}});
  }
  for (const auto& [key, value] : before.items()) {
    if (key != "blocks" && key != "weft" && !after.contains(key)) edits.push_back({{"op", "set"}, {"key", key}, {"value", nullptr}});
  }
  return edits;
}

}  // namespace weft::serve
