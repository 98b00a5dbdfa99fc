#include "tools/cli/sweep/table_arrays.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "weft/base/float16.h"
#include "weft/base/string.h"
#include "weft/page/reader.h"

namespace weft::cli {
namespace {

using Cells = std::vector<TableCell>;

template <class T>
constexpr bool kHasNan = std::is_floating_point_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || std::is_same_v<T, complex64> ||
                         std::is_same_v<T, complex128>;

/// An array of as many values as there are cells; those of null are T().
template <class T>
Result<Tensor> ArrayOf(const Cells& cells, T missing, const std::function<T(const TableCell&)>& value) {
  WEFT_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(std::vector<int64_t>{static_cast<int64_t>(cells.size())}));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(kDTypeOf<T>, shape));
  std::ranges::transform(cells, tensor.values<T>().begin(), [&](const TableCell& cell) { return cell.is_null() ? missing : value(cell); });
  return tensor;
}

/// A column of single values.
Result<Tensor> Column(const Cells& cells) {
  const auto all = [&](auto&& is) { return std::ranges::all_of(cells, [&](const TableCell& cell) { return cell.is_null() || is(cell); }); };
  if (all([](const TableCell& cell) { return cell.is_number_integer() && (!cell.is_number_unsigned() || cell.get<uint64_t>() <= INT64_MAX); })) {
    return ArrayOf<int64_t>(cells, 0, [](const TableCell& cell) { return cell.get<int64_t>(); });
  }
  if (all([](const TableCell& cell) { return cell.is_boolean(); })) {
    return ArrayOf<bool>(cells, false, [](const TableCell& cell) { return cell.get<bool>(); });
  }
  if (all([](const TableCell& cell) { return NumberOfCell(cell).has_value(); })) {
    return ArrayOf<double>(cells, NAN, [](const TableCell& cell) { return *NumberOfCell(cell); });
  }
  return ArrayOf<String>(cells, String(), [](const TableCell& cell) { return String(TextOfCell(cell)); });
}

/// Rows of one type and shape below each other; those that are not defined have what stands for no value.
Result<Tensor> Stacked(const std::vector<Tensor>& rows, const Tensor& like) {
  std::vector<int64_t> dims(like.shape().dims().begin(), like.shape().dims().end());
  dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  WEFT_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  WEFT_ASSIGN_OR_RETURN(Tensor all, Tensor::Allocate(like.dtype(), shape));
  const auto count = static_cast<size_t>(like.count());
  Dispatch(like.dtype(), kNumbers + kQuantized + TypeList<bool, String>{}, [&]<class T>() {
    T missing{};
    if constexpr (kHasNan<T>) missing = static_cast<T>(NAN);
    auto to = all.values<T>().begin();
    for (const Tensor& row : rows) {
      to = row.defined() ? std::copy_n(row.values<T>().begin(), count, to) : std::fill_n(to, count, missing);
    }
  });
  return all;
}

}  // namespace

std::optional<double> NumberOfCell(const TableCell& cell) {
  if (cell.is_number()) return cell.get<double>();
  if (cell.is_boolean()) return cell.get<bool>() ? 1 : 0;
  if (cell == "nan") return NAN;
  if (cell == "inf" || cell == "-inf") return cell == "inf" ? INFINITY : -INFINITY;
  return std::nullopt;
}

std::string TextOfCell(const TableCell& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return cell.get<std::string>();
  std::string text = cell.dump(-1, ' ', false, TableCell::error_handler_t::replace);
  if (cell.is_number_float() && text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string TableArrays::Free(std::string name) {
  while (!names_.insert(name).second) name += '_';
  return name;
}

Status TableArrays::Add(const std::string& name, const std::vector<TableCell>& cells) {
  const auto is_null = [](const TableCell& cell) { return cell.is_null(); };
  if (!cells.empty() && std::ranges::all_of(cells, is_null)) return {};
  const std::string own = Free(name);
  if (std::ranges::none_of(cells, [](const TableCell& cell) { return cell.is_object(); })) {
    WEFT_ASSIGN_OR_RETURN(Tensor column, Column(cells));
    made.emplace_back(own, std::move(column));
  } else {
    std::vector<Tensor> rows(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].is_null()) continue;
      if (cells[i].is_object()) {
        WEFT_ASSIGN_OR_RETURN(rows[i], ReadTensor(cells[i].dump()));
      } else {  // a single value, where other points have several
        WEFT_ASSIGN_OR_RETURN(const Tensor one, Column({cells[i]}));
        rows[i] = Tensor::View(one.dtype(), Shape{}, const_cast<void*>(one.data()), one.owner());
      }
    }
    WEFT_RETURN_IF_ERROR(AddRows(own, std::move(rows)));
  }
  if (std::ranges::none_of(cells, is_null)) return {};
  WEFT_ASSIGN_OR_RETURN(Tensor valid, ArrayOf<bool>(cells, false, [](const TableCell&) { return true; }));
  made.emplace_back(Free(own + ".valid"), std::move(valid));
  return {};
}

Status TableArrays::AddRows(const std::string& name, std::vector<Tensor> rows) {
  const Tensor& like = *std::ranges::find_if(rows, &Tensor::defined);
  const auto alike = [&](const Tensor& row) { return !row.defined() || (row.dtype() == like.dtype() && row.shape() == like.shape()); };
  if (std::ranges::all_of(rows, alike)) {
    WEFT_ASSIGN_OR_RETURN(Tensor all, Stacked(rows, like));
    made.emplace_back(name, std::move(all));
    return {};
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].defined()) made.emplace_back(Free(Cat(name, "/", points[i])), std::move(rows[i]));
  }
  return {};
}

}  // namespace weft::cli
