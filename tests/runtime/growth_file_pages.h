// Pages of readers and files that grow. Relative names are in a folder that the page may write.
#pragma once

#include <string>
#include <vector>

#include "tests/runtime/growth_data_pages.h"

namespace weft::test::growth {

// ---- readers ----------------------------------------------------------------------------------------------------------------------------

/// A reader that reads n records by a block each, and others that are asked and told as often.
inline Blocks Readers(int n) {
  const std::string strings = "component_types_ = {DT_STRING};shapes_ = [];", handle = "asked.reader_handle";
  Blocks blocks = {Block("q", "FIFOQueue", {}, strings), Block("r", "IdentityReader", {}),
                   Block("asked", "IdentityReader", {}, "shared_name_ = asked;"),
                   Block("told", "IdentityReader", {}, "shared_name_ = told;"), Block("reset", "IdentityReader", {}, "shared_name_ = reset;"),
                   Block("names", "QueueEnqueueMany", {{"handle", "q.handle"},
                                                       {"components", Cat("[", Texts(n, [](int i) { return Cat("name", i); }), "]")}})};
  AddEach(blocks, n, "read", "ReaderRead", {{"reader_handle", "r.reader_handle"}, {"queue_handle", "q.handle"}});
  AddEach(blocks, n, "records", "ReaderNumRecordsProduced", {{"reader_handle", handle}});
  AddEach(blocks, n, "units", "ReaderNumWorkUnitsCompleted", {{"reader_handle", handle}});
  AddEach(blocks, n, "state", "ReaderSerializeState", {{"reader_handle", handle}});
  for (int i = 0; i < n; ++i) {
    const std::string state = Cat("state", i, ".state");
    blocks.push_back(Block(Cat("restore", i), "ReaderRestoreState", {{"reader_handle", "told.reader_handle"}, {"state", state}}));
  }
  AddEach(blocks, n, "again", "ReaderReset", {{"reader_handle", "reset.reader_handle"}});
  blocks.push_back(Fetching("read", Outputs("read", "value", n), "[\"names.operation\"]"));
  blocks.push_back(Fetching("ask_records", Outputs("records", "records_produced", n)));
  blocks.push_back(Fetching("ask_units", Outputs("units", "units_completed", n)));
  blocks.push_back(Fetching("tell", "[]", Operations("restore", n)));
  blocks.push_back(Fetching("reset_all", "[]", Operations("again", n)));
  return blocks;
}

/// A file of n records of 8 bytes each, read by one block.
inline Blocks RecordFile(std::string_view reader, int n) {
  const bool lines = reader == "TextLineReader";
  std::string contents;
  for (int i = 0; i < n; ++i) contents += lines ? "1234567\\n" : "12345678";
  return {Block("q", "FIFOQueue", {}, "component_types_ = {DT_STRING};shapes_ = [];"), Block("r", reader, {}, lines ? "" : "record_bytes_ = 8;"),
          Block("write", "WriteFile", {{"filename", Text("records")}, {"contents", Text(contents)}}),
          Block("name", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Text("records"), "]")}}),
          Block("read", "ReaderReadUpTo", {{"reader_handle", "r.reader_handle"}, {"queue_handle", "q.handle"}, {"num_records", LongInt(n)}}),
          Fetching("write_it", "[]", "[\"write.operation\"]"), Fetching("read_it", "[\"read.values\"]", "[\"name.operation\"]")};
}

// ---- files ------------------------------------------------------------------------------------------------------------------------------

/// n files that a pattern matches, and a long one.
inline Blocks WholeFiles(int n) {
  Blocks blocks;
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("write", i), "WriteFile", {{"filename", Text(Cat("part", i, ".txt"))}, {"contents", Text("x")}}));
  }
  blocks.push_back(Block("long", "WriteFile", {{"filename", Text("long")}, {"contents", Text(std::string(static_cast<size_t>(n) * 20000, 'x'))}}));
  blocks.push_back(Block("match", "MatchingFiles", {{"pattern", Text("part*.txt")}}));
  blocks.push_back(Block("read", "ReadFile", {{"filename", Text("long")}}));
  blocks.push_back(Fetching("write_all", "[]", Cat("[\"long.operation\", ", Operations("write", n).substr(1))));
  blocks.push_back(Fetching("read_all", "[\"match.filenames\", \"read.contents\"]"));
  return blocks;
}

/// A checkpoint of n tensors, one of them long, and one of n slices of one tensor.
inline Blocks Checkpoints(int n) {
  const auto data = [n](int i) { return i == 0 ? Vector(CountTo(20 * n)) : Vector({1, 2}); };
  const std::string names = Texts(n, [](int i) { return Cat("t", i); }), slices = Texts(n, [n](int i) { return Cat(n, " 2 ", i, ",1:-"); });
  const std::string last = Text(Cat("t", n - 1)), row = Literal("DT_FLOAT", {1, 2}, {1, 2}), floats = "dt_ = DT_FLOAT;";
  return {Block("save", "Save", {{"filename", Text("all")}, {"tensor_names", names}, {"data", ListOf(n, data)}}),
          Block("save_slices", "SaveSlices", {{"filename", Text("slices")}, {"tensor_names", Texts(n, [](int) { return "t"; })},
                                              {"shapes_and_slices", slices},
                                              {"data", ListOf(n, [&](int) { return row; })}}),
          Block("first", "Restore", {{"file_pattern", Text("all")}, {"tensor_name", Text("t0")}}, floats),
          Block("last", "Restore", {{"file_pattern", Text("all")}, {"tensor_name", last}}, floats),
          Block("whole", "RestoreSlice", {{"file_pattern", Text("slices")}, {"tensor_name", Text("t")},
                                          {"shape_and_slice", Text(Cat(n, " 2 -:-"))}}, floats),
          Fetching("write", "[]", "[\"save.operation\", \"save_slices.operation\"]"),
          Fetching("read", "[\"first.tensor\", \"last.tensor\", \"whole.tensor\"]")};
}

inline Blocks CheckpointsV2(int n) {
  const std::string names = Texts(n, [](int i) { return Cat("t", i); }), whole = Texts(n, [](int) { return ""; });
  const auto data = [n](int i) { return i == 0 ? Vector(CountTo(20 * n)) : Vector({1, 2}); };
  std::string types = "DT_FLOAT";
  for (int i = 1; i < n; ++i) types += ",DT_FLOAT";
  return {Block("save", "SaveV2", {{"prefix", Text("parts/one")}, {"tensor_names", names}, {"shape_and_slices", whole},
                                   {"tensors", ListOf(n, data)}}),
          Block("merge", "MergeV2Checkpoints", {{"checkpoint_prefixes", Texts(1, [](int) { return "parts/one"; })},
                                                {"destination_prefix", Text("merged")}}),
          Block("restore", "RestoreV2", {{"prefix", Text("merged")}, {"tensor_names", names},
                                         {"shape_and_slices", whole}}, Cat("dtypes_ = {", types, "};")),
          Fetching("write", "[]", "[\"save.operation\"]"), Fetching("merge_them", "[]", "[\"merge.operation\"]"),
          Fetching("read", Wires(n, [](int i) { return Cat("restore.tensors[", i, "]"); }))};
}

}  // namespace weft::test::growth
