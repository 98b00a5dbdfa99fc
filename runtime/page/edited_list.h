// EditedList: a list of a page while edits change it.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/page/order_tree.h"
#include "weft/base/keyed_hash.h"
#include "weft/page/page.h"

namespace weft::page {

/// What elements of a page are found by; literals by nothing.
inline std::optional<std::string_view> NameOf(const PageBlock& block) { return block.id; }
inline std::optional<std::string_view> NameOf(const LayoutEntry& entry) { return entry.block; }
inline std::optional<std::string_view> NameOf(const InputItem& item) {
  const Wire* wire = WireOf(item);
  return wire == nullptr ? std::nullopt : std::optional<std::string_view>(wire->block);
}

inline bool IsNamed(const PageBlock& block, std::string_view name) { return block.id == name; }
inline bool IsNamed(const LayoutEntry& entry, std::string_view name) { return entry.block == name; }
inline bool IsNamed(const InputItem& item, std::string_view name) {
  const Wire* wire = WireOf(item);
  return wire != nullptr && wire->block == name;
}

struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return KeyedHash(name); }
};

/// Elements with handles, found by name and by place. For `many` edits, handles stay, the elements are in order only after Finish, and no edit
/// takes time for those that it does not touch. For few edits the list is walked, as an index would cost more; a handle is a place then, and
/// changes with those before it.
template <class T>
class EditedList {
 public:
  EditedList(std::vector<T>& elements, bool many) : elements_(&elements), many_(many) {}
  EditedList(const EditedList&) = delete;
  EditedList& operator=(const EditedList&) = delete;

  /// The list has moved.
  void Rebind(std::vector<T>& elements) { elements_ = &elements; }
  bool many() const { return many_; }
  int size() const { return order_ ? order_->size() : static_cast<int>(elements_->size()); }
  bool Has(int handle) const { return !order_ || order_->Has(handle); }
  int PlaceOf(int handle) const { return order_ ? order_->PlaceOf(handle) : handle; }
  T& operator[](int handle) { return (*elements_)[static_cast<size_t>(handle)]; }
  T& At(int place) { return (*this)[HandleAt(place)]; }
  int HandleAt(int place) const { return order_ ? order_->At(place) : place; }

  /// The first of that name; -1 where there is none.
  int First(std::string_view name);
  /// All of that name, in order.
  std::vector<int> All(std::string_view name);
  /// Its handle. A place below 0: the end.
  int Insert(int place, T element);
  T Erase(int handle);
  T EraseAt(int place) { return Erase(HandleAt(place)); }
  /// The last first: gone(place, element) gets each of them. `handles` are in order.
  template <class F>
  void EraseAll(const std::vector<int>& handles, F&& gone);
  /// Calls change(element), which may give it another name.
  template <class F>
  void Change(int handle, F&& change);
  /// f(handle), in order.
  template <class F>
  void ForEach(F&& f);
  /// Puts the elements in order. Nothing else may be called afterwards.
  void Finish();

 private:
  struct ByPlace {
    const EditedList* list;
    bool operator()(int a, int b) const { return list->PlaceOf(a) < list->PlaceOf(b); }
  };
  using Handles = std::set<int, ByPlace>;

  void KeepOrder() {
    if (!order_) order_.emplace(static_cast<int>(elements_->size()));
  }
  void AddName(int handle);
  void DropName(int handle);
  const Handles* Named(std::string_view name);

  std::vector<T>* elements_;  // with holes and out of order, once there is an order of its own
  const bool many_;
  std::optional<OrderTree> order_;
  std::optional<std::unordered_map<std::string, Handles, NameHash, std::equal_to<>>> names_;
};

template <class T>
int EditedList<T>::First(std::string_view name) {
  if (many_) {
    const Handles* named = Named(name);
    return named == nullptr ? -1 : *named->begin();
  }
  const auto it = std::ranges::find_if(*elements_, [&](const T& element) { return IsNamed(element, name); });
  return it == elements_->end() ? -1 : static_cast<int>(it - elements_->begin());
}

template <class T>
std::vector<int> EditedList<T>::All(std::string_view name) {
  std::vector<int> all;
  if (many_) {
    if (const Handles* named = Named(name)) all.assign(named->begin(), named->end());
    return all;
  }
  for (int i = 0; i < size(); ++i) {
    if (IsNamed((*this)[i], name)) all.push_back(i);
  }
  return all;
}

template <class T>
int EditedList<T>::Insert(int place, T element) {
  const bool last = place < 0 || place == size();
  if (last) place = size();
  if (!many_) {
    elements_->insert(elements_->begin() + place, std::move(element));
    return place;
  }
  if (!last) KeepOrder();
  const int handle = order_ ? order_->Insert(place) : place;
  elements_->push_back(std::move(element));
  AddName(handle);
  return handle;
}

template <class T>
T EditedList<T>::Erase(int handle) {
  if (many_) {
    KeepOrder();
    DropName(handle);
    order_->Erase(handle);
    return std::move((*this)[handle]);
  }
  T erased = std::move((*this)[handle]);
  elements_->erase(elements_->begin() + handle);
  return erased;
}

template <class T>
template <class F>
void EditedList<T>::EraseAll(const std::vector<int>& handles, F&& gone) {
  for (size_t i = handles.size(); i-- > 0;) {
    const int place = PlaceOf(handles[i]);
    gone(place, many_ ? Erase(handles[i]) : std::move((*this)[handles[i]]));
  }
  if (many_ || handles.empty()) return;
  // All at once: each by itself would take the square of the length.
  size_t next = 0, kept = static_cast<size_t>(handles[0]);
  for (size_t i = kept; i < elements_->size(); ++i) {
    if (next < handles.size() && static_cast<size_t>(handles[next]) == i) ++next;
    else (*elements_)[kept++] = std::move((*elements_)[i]);
  }
  elements_->erase(elements_->begin() + static_cast<ptrdiff_t>(kept), elements_->end());
}

template <class T>
template <class F>
void EditedList<T>::Change(int handle, F&& change) {
  DropName(handle);
  change((*this)[handle]);
  AddName(handle);
}

template <class T>
template <class F>
void EditedList<T>::ForEach(F&& f) {
  if (order_) std::ranges::for_each(order_->InOrder(), f);
  else for (int i = 0; i < size(); ++i) f(i);
}

template <class T>
void EditedList<T>::Finish() {
  if (!order_) return;
  std::vector<T> ordered;
  ordered.reserve(static_cast<size_t>(size()));
  ForEach([&](int handle) { ordered.push_back(std::move((*this)[handle])); });
  *elements_ = std::move(ordered);
}

template <class T>
void EditedList<T>::AddName(int handle) {
  const auto name = NameOf((*this)[handle]);
  if (!names_ || !name) return;
  auto it = names_->find(*name);
  if (it == names_->end()) it = names_->emplace(*name, Handles(ByPlace{this})).first;
  it->second.insert(it->second.end(), handle);
}

template <class T>
void EditedList<T>::DropName(int handle) {
  const auto name = NameOf((*this)[handle]);
  if (!names_ || !name) return;
  const auto it = names_->find(*name);
  it->second.erase(handle);
  if (it->second.empty()) names_->erase(it);
}

template <class T>
auto EditedList<T>::Named(std::string_view name) -> const Handles* {
  if (!names_) {
    names_.emplace();
    names_->reserve(elements_->size());
    ForEach([&](int handle) { AddName(handle); });
  }
  const auto it = names_->find(name);
  return it == names_->end() ? nullptr : &it->second;
}

}  // namespace weft::page
