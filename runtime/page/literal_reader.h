// Reads one literal object of Weft's JSON: {"dtype", "shape", "values" | "text" | "file", "offset"}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/page/elements.h"
#include "runtime/page/json_text.h"
#include "runtime/page/json_walk.h"
#include "runtime/page/report.h"

namespace weft::page {

/// Receives the events of one "values" array. Reports only the first few faults of an array.
class ValuesReader {
 public:
  using Report = std::function<void(Status)>;
  ValuesReader() = default;
  ValuesReader(DType dtype, Report report) : store_(dtype), report_(std::move(report)) {}

  void Scalar(JsonScalar& value);
  void Start(bool object);
  void Key(std::string& key);
  void End(bool object);

  bool faulty() const { return faults_ > 0; }
  ElementStore& store() { return store_; }

 private:
  void Fault(Status status);
  void ComplexPart(const JsonScalar& value);

  ElementStore store_;
  Report report_;
  int depth_ = 0;         // 1 inside [re, im] or {"base64"}
  bool ignored_ = false;  // a fault of the current element was reported; the rest of it is skipped
  bool object_ = false;
  bool base64_seen_ = false;
  Number parts_[2];
  std::string part_text_[2];  // storage for parts_[i].text
  int part_count_ = 0;
  int faults_ = 0;
};

/// Receives the events inside the object: from after its Start up to and including its End.
class LiteralReader {
 public:
  /// The arguments must outlive the reader.
  LiteralReader(Report& report, const JsonWalk& walk, const ReadOptions& options) : report_(report), walk_(walk), options_(options) {}

  void Begin(std::string_view port);
  bool active() const { return state_ != State::kDone; }
  /// Whether a fault of the literal was reported.
  bool faulty() const { return faulty_; }
  void Scalar(JsonScalar& value);
  void Start(bool object);
  void Key(std::string& key);
  /// At the end of the literal object itself, the literal is complete: active() is then false, and Take() returns it.
  void End(bool object);
  Literal Take() { return std::move(literal_); }

 private:
  enum class State : uint8_t { kDone, kMembers, kShape, kValues, kRecord, kSkip };
  enum class Member : uint8_t { kDType, kShape, kValues, kText, kFile, kOffset, kOther };
  /// The forms that the literal has; it needs exactly one.
  struct Forms {
    bool values = false, text = false, file = false;
  };

  void Error(Status status) {
    faulty_ = true;
    report_.Error(std::move(status), walk_.pointer(), port_);
  }
  void ErrorAt(std::string_view member, Status status);
  void WrongKind(std::string_view needed, std::string_view found);
  void SetDType(const std::string& name);
  void ShapeDim(const JsonScalar& value);
  void EndRecord();
  void ReplayValues();
  void Finish();
  void FinishValues();
  void FinishFile();

  Report& report_;
  const JsonWalk& walk_;
  const ReadOptions& options_;
  std::string port_;
  Literal literal_;
  State state_ = State::kDone;
  Member member_ = Member::kOther;
  std::string key_;
  Forms forms_;
  bool faulty_ = false;  // a fault was reported; its consequences are not
  int depth_ = 0;        // open objects and arrays inside the literal
  std::vector<int64_t> dims_;
  ValuesReader values_;
  JsonRecorder recorder_;
  std::string values_text_;  // JSON text of "values" where that comes before "dtype"
};

}  // namespace weft::page
