// Values of an enumeration, and rows of a table, by name.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "stiction/base/errors.hpp"

namespace stiction {

/// The names of all, separated by ", ": rows are names, or have one that `name_of` gives.
template <class Rows, class Name = std::identity>
std::string joined_names(const Rows& rows, Name name_of = Name()) {
  std::string names;
  for (const auto& row : rows) names.append(names.empty() ? "" : ", ").append(std::invoke(name_of, row));
  return names;
}

/// The place of the row of this name. Throws InvalidArgument that lists the names known.
template <class Rows, class Name = std::identity>
std::size_t find_named(std::string_view argument, const Rows& rows, std::string_view name, Name name_of = Name()) {
  const auto found = std::ranges::find(rows, name, name_of);
  if (found == rows.end()) throw InvalidArgument(argument, "one of " + joined_names(rows, name_of), "'" + std::string(name) + "'");
  return static_cast<std::size_t>(found - rows.begin());
}

/// The value of this name of an enumeration that counts from 0 in the order of the rows.
template <class Enum, class Rows, class Name = std::identity>
Enum value_named(std::string_view argument, const Rows& rows, std::string_view name, Name name_of = Name()) {
  return static_cast<Enum>(find_named(argument, rows, name, name_of));
}

}  // namespace stiction
