// One table of a scene file. Internal to scene.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>
#include <Eigen/Geometry>

#include "stiction/base/errors.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// It knows its name and line, and which keys were asked for. What it refuses is a FileError that names them.
class Table {
 public:
  Table(const std::string& file, std::string name, const toml::table& table) : file_(file), name_(std::move(name)), table_(table) {}

  [[noreturn]] void fail(std::string_view key, std::string_view reason) const {
    const toml::node* node = table_.get(key);
    const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
    const bool says_what_came = !reason.starts_with("expected") || reason.find(", got ") != std::string_view::npos;
    throw FileError(file_, fmt::format("line {}, {}.{}", line, name_, key),
                    says_what_came || node == nullptr ? std::string(reason) : fmt::format("{}, got {}", reason, what_came(*node)));
  }
  /// What `read` makes of the text of a key, whose words it may refuse.
  template <class Read>
  auto word(std::string_view key, std::string_view fallback, Read read) {
    const std::string given = text(key, std::string(fallback));
    return at(key, [&] { return read(given); });
  }
  /// What `check` makes of the number of a key, which it may refuse.
  template <class Check>
  double number(std::string_view key, double fallback, Check check) {
    const double given = number(key, fallback);
    at(key, [&] { check(key, given); });
    return given;
  }
  /// Does what an argument named as the key may be refused by, and says so with the key's line.
  template <class Function>
  auto at(std::string_view key, Function function) const {
    try {
      return function();
    } catch (const InvalidArgument& error) {
      const std::string_view message = error.what();  // "law: expected ..."
      fail(key, message.substr(std::min(message.find("expected"), message.size())));
    }
  }
  bool has(std::string_view key) {
    asked_.emplace(key);
    return table_.contains(key);
  }
  /// The same of a key that the table should not have: it is none of those to choose from.
  bool holds(std::string_view key) const { return table_.contains(key); }
  double number(std::string_view key, double fallback) {
    use(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return fallback;
    if (node->is_string() && (*node->value<std::string>() == "inf" || *node->value<std::string>() == "infinity")) return kInfinity;
    const auto value = node->value<double>();
    if (!value || std::isnan(*value) || node->is_boolean()) fail(key, "expected a number");
    return *value;
  }
  int integer(std::string_view key, int fallback) {
    const double value = number(key, fallback);
    if (value != std::floor(value) || std::abs(value) > 1e9) fail(key, "expected an integer of at most 1e9");
    return static_cast<int>(value);
  }
  std::uint64_t seed(std::string_view key, std::uint64_t fallback) {
    use(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return fallback;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0) fail(key, "expected an integer >= 0");
    return static_cast<std::uint64_t>(*value);
  }
  /// Has finish() say that a key is not there, after keys that are none: a misspelt one is the cause. What is read meanwhile counts for
  /// nothing.
  void miss(std::string_view key, std::string_view reason = "missing") {
    if (missing_.empty()) std::tie(missing_, why_missing_) = std::pair(key, reason);
  }
  /// Has finish() take a key that was not read.
  void allow(std::string_view key) { use(key); }
  std::optional<double> maybe_number(std::string_view key) { return has(key) ? std::optional(number(key, 0.0)) : std::nullopt; }
  double required_number(std::string_view key) {
    if (!has(key)) miss(key);
    return number(key, 0.0);
  }
  std::string text(std::string_view key, std::string fallback) {
    use(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return fallback;
    const auto value = node->value<std::string>();
    if (!value) fail(key, "expected a text");
    return *value;
  }
  bool flag(std::string_view key, bool fallback) {
    use(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return fallback;
    const auto value = node->value_exact<bool>();
    if (!value) fail(key, "expected true or false");
    return *value;
  }
  Eigen::Vector3d vector(std::string_view key, const Eigen::Vector3d& fallback) {
    use(key);
    if (!has(key)) return fallback;
    const toml::array* array = table_.get(key)->as_array();
    if (array == nullptr || array->size() != 3) fail(key, "expected three numbers");
    Eigen::Vector3d out;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto value = array->get(i)->value<double>();
      if (!value || !std::isfinite(*value)) fail(key, "expected three finite numbers");
      out[static_cast<Eigen::Index>(i)] = *value;
    }
    return out;
  }
  std::vector<std::string> texts(std::string_view key) {
    use(key);
    std::vector<std::string> out;
    if (!has(key)) return out;
    const toml::array* array = table_.get(key)->as_array();
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) out.push_back(array->get(i)->value<std::string>().value_or(""));
    if (array == nullptr || std::ranges::find(out, "") != out.end()) fail(key, "expected a list of texts");
    return out;
  }
  /// Two numbers, or one that stands for both.
  std::optional<std::array<double, 2>> two_numbers(std::string_view key) {
    use(key);
    if (!has(key)) return {};
    const toml::array* array = table_.get(key)->as_array();
    if (array == nullptr) {
      const double both = number(key, 0.0);
      return std::array{both, both};
    }
    std::array<double, 2> out{};
    if (array->size() != out.size()) fail(key, "expected a number or two");
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto value = array->get(i)->value<double>();
      if (!value || !std::isfinite(*value)) fail(key, "expected finite numbers");
      out[i] = *value;
    }
    return out;
  }
  std::vector<std::pair<std::string, double>> numbers(std::string_view key) {
    use(key);
    std::vector<std::pair<std::string, double>> out;
    if (!has(key)) return out;
    const toml::table* inner = table_.get(key)->as_table();
    if (inner == nullptr) fail(key, "expected a table of numbers");
    for (const auto& [name, node] : *inner) {
      const auto value = node.value<double>();
      if (!value || !std::isfinite(*value)) fail(key, fmt::format("{}: expected a finite number", name.str()));
      out.emplace_back(std::string(name.str()), *value);
    }
    return out;
  }
  std::optional<Eigen::Matrix3d> matrix(std::string_view key) {
    use(key);
    if (!has(key)) return {};
    const toml::array* rows = table_.get(key)->as_array();
    Eigen::Matrix3d out;
    for (std::size_t i = 0; i < 9; ++i) {
      const toml::array* row = rows == nullptr || rows->size() != 3 ? nullptr : rows->get(i / 3)->as_array();
      const auto value = row == nullptr || row->size() != 3 ? std::nullopt : row->get(i % 3)->value<double>();
      if (!value || !std::isfinite(*value)) fail(key, "expected three rows of three finite numbers");
      out(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)) = *value;
    }
    return out;
  }
  /// The tables of an array, or those that a table has by name, each to be finished by whoever reads it.
  std::vector<std::pair<std::string, Table>> tables(std::string_view key) {
    use(key);
    std::vector<std::pair<std::string, Table>> out;
    if (!has(key)) return out;
    const auto add = [&](const std::string& name, const toml::node& node) {
      const std::string full = fmt::format("{}.{}{}", name_, key, name);
      if (node.as_table() == nullptr) fail(key, "expected tables");
      out.emplace_back(name.substr(name.starts_with(".") ? 1 : 0), Table(file_, full, *node.as_table()));
    };
    if (const toml::array* array = table_.get(key)->as_array()) {
      for (std::size_t i = 0; i < array->size(); ++i) add(fmt::format("[{}]", i), *array->get(i));
    } else if (const toml::table* named = table_.get(key)->as_table()) {
      for (const auto& [name, node] : *named) add("." + std::string(name.str()), node);
    } else {
      fail(key, "expected tables");
    }
    return out;
  }
  Eigen::Isometry3d pose() {
    const Eigen::Vector3d rpy = vector("rpy", Eigen::Vector3d::Zero());
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.translation() = vector("position", Eigen::Vector3d::Zero());
    X.linear() = (Eigen::AngleAxisd(rpy[2], Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(rpy[1], Eigen::Vector3d::UnitY()) *
                  Eigen::AngleAxisd(rpy[0], Eigen::Vector3d::UnitX()))
                     .toRotationMatrix();
    return X;
  }
  /// Every key must have been read: a misspelt one is an error, not a default. None may be missing.
  void finish() const {
    for (const auto& [key, node] : table_) {
      if (!used_.contains(std::string(key.str())))
        fail(key.str(), fmt::format("unknown key: expected some of {}", fmt::join(asked_, ", ")));
    }
    if (!missing_.empty()) fail(missing_, why_missing_);
  }
  /// Of keys that have been read: those that would say nothing beside one that has a value, `with`.
  void refuse_others(std::initializer_list<std::string_view> these, std::string_view with) const {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(these, key.str()) == these.end()) fail(key.str(), fmt::format("expected none beside {}", with));
    }
  }

 private:
  void use(std::string_view key) {
    used_.emplace(key);
    asked_.emplace(key);
  }
  static std::string what_came(const toml::node& node) {
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());  // 0.1, not the 17 digits of a stream
    std::ostringstream out;
    node.visit([&](const auto& value) { out << value; });
    std::string said;  // on one line
    for (const char c : out.str()) {
      if (!std::isspace(static_cast<unsigned char>(c))) {
        said += c;
      } else if (!said.empty() && said.back() != ' ') {
        said += ' ';
      }
    }
    return node.is_table() ? "a table" : said;
  }

  const std::string& file_;
  std::string name_;
  const toml::table& table_;
  std::set<std::string> used_, asked_;  ///< keys that were read; those too whose absence was
  std::string missing_, why_missing_;   ///< the first of those that must be there, "": none
};

}  // namespace stiction
