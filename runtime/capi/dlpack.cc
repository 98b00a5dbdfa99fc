// Result views as DLPack tensors.
#include <vector>

#include "runtime/capi/objects.h"

using namespace weft;
using namespace weft::capi;

namespace {

enum DlCode : uint8_t { kDlInt = 0, kDlUInt = 1, kDlFloat = 2, kDlBfloat = 4, kDlComplex = 5, kDlBool = 6 };

Result<weft_dl_data_type> DlType(DType dtype) {
  if (IsManaged(dtype)) return Unsupported("DLPack has no ", dtype).WithHint("read strings by weft_view_string");
  uint8_t code = kDlFloat;
  if (dtype == DType::kBool) code = kDlBool;
  else if (dtype == DType::kBFloat16) code = kDlBfloat;
  else if (IsComplex(dtype)) code = kDlComplex;
  else if (IsInteger(dtype)) code = dtype >= DType::kUInt8 ? kDlUInt : kDlInt;
  else if (IsQuantized(dtype)) code = dtype == DType::kQUInt8 || dtype == DType::kQUInt16 ? kDlUInt : kDlInt;
  return weft_dl_data_type{code, static_cast<uint8_t>(8 * ElementSize(dtype)), 1};
}

/// The tensor, with the view that owns its memory.
struct Managed {
  weft_dl_managed_tensor tensor{};
  std::shared_ptr<ViewObject> view;
  std::vector<int64_t> shape, strides;
};

void Delete(weft_dl_managed_tensor* self) {
  if (self != nullptr) delete static_cast<Managed*>(self->manager_ctx);
}

}  // namespace

weft_status weft_view_dlpack(const weft_view* view, weft_dl_managed_tensor** tensor, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(tensor, "tensor"));
    *tensor = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(view));
    WEFT_ASSIGN_OR_RETURN(weft_dl_data_type type, DlType(object->value.tensor.dtype()));
    auto managed = std::make_unique<Managed>();
    managed->shape.assign(object->value.tensor.shape().dims().begin(), object->value.tensor.shape().dims().end());
    managed->strides = object->strides;
    for (int64_t& stride : managed->strides) stride /= static_cast<int64_t>(ElementSize(object->value.tensor.dtype()));
    weft_dl_tensor& dl = managed->tensor.dl_tensor;
    dl.data = const_cast<void*>(object->value.tensor.data());
    dl.device = {1, 0};
    dl.ndim = object->value.tensor.shape().rank();
    dl.dtype = type;
    dl.shape = managed->shape.data();
    dl.strides = managed->strides.data();
    managed->view = std::move(object);
    managed->tensor.manager_ctx = managed.get();
    managed->tensor.deleter = Delete;
    *tensor = &managed.release()->tensor;
    return {};
  });
}
