// DecodeCSV: the fields of records as tensors, one a column.
#include "blocks/limits.h"
#include "blocks/parsing/number.h"
#include "blocks/string/elements.h"
#include "blocks/string/quoted.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> records{"records", "DT_STRING", "of any shape: a record each, RFC 4180"};
constexpr InTuple<1> record_defaults{"record_defaults", "OUT_TYPE",
                                     "for each column a scalar or a vector of one element, for empty fields; an empty vector: the field is needed"};
constexpr OutTuple<0> output{"output", "OUT_TYPE", "for each column a tensor of the shape of records"};
constexpr Attr<DTypes> types{"OUT_TYPE", kRequired, "the types of the columns; follow from record_defaults", nullptr, 1};
constexpr Attr<std::string> field_delim{"field_delim", ",", "the byte between two fields"};
constexpr Attr<bool> use_quote_delim{"use_quote_delim", "true", "whether a field in double quotes may have delimiters and line ends in it, and \"\" as a quote"};
constexpr Attr<std::string> na_value{"na_value", "", "what stands for an empty field, besides nothing"};
constexpr Attr<Ints> select_cols{"select_cols", "{}", "the columns to take, in ascending order; none: all"};

constexpr TypeList<float, double, int32_t, int64_t, String> kFields;

struct Parameters {
  DTypes types;
  std::vector<bool> has_default;
  std::vector<int64_t> columns;  // none: all
  std::string na_value;
  char delimiter = ',';
  bool quotes = true;
};

Result<Parameters> Plan(PlanContext& ctx) {
  Parameters p{DTypesOf(ctx, record_defaults), {}, ctx.attr(select_cols), ctx.attr(na_value)};
  const std::string delimiter = ctx.attr(field_delim);
  if (delimiter.size() != 1) return ctx.Error(field_delim, "needs one byte, found '", delimiter, "'");
  p.delimiter = delimiter[0];
  p.quotes = ctx.attr(use_quote_delim);
  if (!p.columns.empty() && p.columns.size() != p.types.size()) {
    return ctx.Error(select_cols, "needs a column for each of the ", p.types.size(), " defaults, found ", p.columns.size());
  }
  for (size_t c = 0; c < p.columns.size(); ++c) {
    if (p.columns[c] < 0) return ctx.Error(select_cols, "needs columns of 0 or more, found ", p.columns[c]);
    if (c > 0 && p.columns[c] <= p.columns[c - 1]) return ctx.Error(select_cols, "needs columns in ascending order, found ", p.columns[c], " after ", p.columns[c - 1]);
  }
  for (int k = 0; k < ctx.count(record_defaults); ++k) {
    const Shape& shape = ctx.shape(record_defaults, k);
    if (shape.rank() > 1 || shape.count() > 1) {
      return ctx.Error(record_defaults, "needs a scalar or a vector of at most one element for each column, found ", shape, " for column ", k);
    }
    p.has_default.push_back(shape.count() == 1);
    ctx.set(output, ctx.shape(records), k);
  }
  return p;
}

/// Finds the fields of a record, one after another.
class FieldSplitter {
 public:
  FieldSplitter(std::string_view record, const Parameters& p, std::string& unquoted, kernels::StopCheck& stop)
      : record_(record), p_(p), unquoted_(unquoted), stop_(stop) {}
  /// Whether there is a field, which is given until the next call; false with ok() at the end of the record.
  bool Next(std::string_view& field) {
    while (at_ < record_.size() && (record_[at_] == '\n' || record_[at_] == '\r') && !stop_()) ++at_;
    if (at_ >= record_.size()) {
      // What follows a delimiter at the end of the record is an empty field.
      const bool last = !ended_ && !record_.empty() && record_.back() == p_.delimiter;
      ended_ = true;
      field = {};
      return last;
    }
    return p_.quotes && record_[at_] == '"' ? NextQuoted(field) : NextPlain(field);
  }
  bool ok() const { return fault_ == nullptr; }
  const char* fault() const { return fault_; }

 private:
  bool Fail(const char* fault) {
    fault_ = fault;
    return false;
  }
  bool NextPlain(std::string_view& field) {
    const size_t begin = at_;
    for (; at_ < record_.size() && record_[at_] != p_.delimiter; ++at_) {
      const char byte = record_[at_];
      if ((p_.quotes && byte == '"') || byte == '\n' || byte == '\r') return Fail("quotes and line ends in fields within quotes only");
      if (stop_()) break;
    }
    field = record_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }
  /// A field ends with a quote before a delimiter or the end of the record.
  bool NextQuoted(std::string_view& field) {
    const size_t size = record_.size(), begin = ++at_;
    const auto ends = [&] { return record_[at_] == '"' && (at_ + 1 == size || record_[at_ + 1] == p_.delimiter); };
    unquoted_.clear();
    size_t copied = begin;  // what comes before is in `unquoted_`
    for (; at_ < size && !ends(); ++at_) {
      if (stop_()) break;
      if (record_[at_] != '"') continue;
      if (at_ + 1 == size || record_[at_ + 1] != '"') return Fail("a quote within quotes doubled");
      unquoted_.append(record_, copied, ++at_ - copied);
      copied = at_ + 1;
    }
    if (at_ >= size) return Fail("a quote at the end of a field that begins with one");
    if (copied == begin) {
      field = record_.substr(begin, at_ - begin);
    } else {
      unquoted_.append(record_, copied, at_ - copied);
      field = unquoted_;
    }
    at_ += 2;
    return true;
  }

  const std::string_view record_;
  const Parameters& p_;
  std::string& unquoted_;
  kernels::StopCheck& stop_;
  size_t at_ = 0;
  bool ended_ = false;
  const char* fault_ = nullptr;
};

template <class T>
Status StoreField(std::string_view field, int k, int64_t record, const Parameters& p, RunContext& ctx, kernels::StopCheck& stop) {
  T& to = ctx.out<T>(output, k)[static_cast<size_t>(record)];
  if (field.empty() || field == p.na_value) {
    if (!p.has_default[static_cast<size_t>(k)]) {
      return ctx.Error(records, "needs a value in field ", k, ", which has no default, found none in record ", record);
    }
    to = ctx.in<T>(record_defaults, k)[0];
    return {};
  }
  if constexpr (std::is_same_v<T, String>) {
    auto made = MakeString(field, ctx.budget(), stop);
    if (!made.ok()) return std::move(made).status();
    to = std::move(*made);
  } else {
    if (!ParseNumber(field, to)) {
      return ctx.Error(records, "needs a number of ", kDTypeOf<T>, " in field ", k, ", found ", Quoted(field), " in record ", record);
    }
  }
  return {};
}

Status ParseRecord(const Parameters& p, RunContext& ctx, int64_t i, kernels::StopCheck& stop) {
  std::string unquoted;
  FieldSplitter splitter(ctx.in<String>(records)[static_cast<size_t>(i)], p, unquoted, stop);
  const size_t count = p.types.size();
  size_t found = 0;
  int64_t column = 0;
  std::string_view field;
  // The first columns that are no fault of their own are kept until all are counted.
  for (; (found < count || p.columns.empty()) && splitter.Next(field) && !stop(); ++column) {
    if (!p.columns.empty() && column != p.columns[found]) continue;
    if (found < count) {
      const int k = static_cast<int>(found);
      WEFT_RETURN_IF_ERROR(Dispatch(p.types[found], kFields, [&]<class T>() { return StoreField<T>(field, k, i, p, ctx, stop); }));
    }
    ++found;
  }
  if (stop(0)) return {};
  if (!splitter.ok()) return ctx.Error(records, "needs ", splitter.fault(), ", found otherwise in field ", column, " of record ", i);
  if (found != count) return ctx.Error(records, "needs ", count, " fields, found ", found, " in record ", i);
  return {};
}

constexpr auto Run = [](const Parameters& p, RunContext& ctx) -> Status {
  const auto count = static_cast<int64_t>(ctx.in<String>(records).size());
  return ForElements(ctx.workers(), count, [&](int64_t i, kernels::StopCheck& stop) { return ParseRecord(p, ctx, i, stop); });
};

}  // namespace

BlockDef DecodeCSV() {
  return Block("DecodeCSV", "The fields of CSV records as tensors, one for each column.")
      .Details("A line end is skipped before a field and refused after one. Each record needs as many fields as there are defaults.")
      .Ports(records, record_defaults, output)
      .Attrs(types, field_delim, use_quote_delim, na_value, select_cols)
      .Inferred(types)
      .Types("OUT_TYPE", kFields)
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
