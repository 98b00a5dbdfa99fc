#include "runtime/host/followed_name.h"

#include "runtime/plan/id_map.h"

namespace weft {

std::string FollowedName(const Graph& from, const Graph& to, const std::string& name) {
  if (&from == &to) return name;
  const size_t dot = name.substr(0, name.find('[')).rfind('.');
  if (dot == std::string::npos) return name;
  const int block = IdMap(from, to).Block(from.IndexOf(name.substr(0, dot)));
  return block < 0 ? name : to.node(block).id + name.substr(dot);
}

}  // namespace weft
