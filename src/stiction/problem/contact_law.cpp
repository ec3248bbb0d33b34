#include "stiction/problem/contact_law.hpp"

#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/names.hpp"
#include "stiction/base/ranges.hpp"

namespace stiction {

namespace {

constexpr std::array<std::string_view, kLaws.size()> kNames{
#define STICTION_LAW(name, ...) #name,
#include "stiction/problem/laws.def"
#undef STICTION_LAW
};

struct RangeRow {
  std::string_view expected;
  bool (*fits)(double);
};
// In the order of MaterialField::Range.
constexpr std::array kRanges{
    RangeRow{"a finite number >= 0", [](double x) { return x >= 0.0; }}, RangeRow{"a finite number > 0", [](double x) { return x > 0.0; }},
    RangeRow{"a number in [0, 1]", [](double x) { return x >= 0.0 && x <= 1.0; }},
    RangeRow{"a finite number >= 1", [](double x) { return x >= 1.0; }}, RangeRow{"a finite number", [](double) { return true; }}};

void require_one_per_contact(std::string_view argument, std::size_t size, std::ptrdiff_t contacts) {
  if (size != 0) require_size(argument, static_cast<Eigen::Index>(size), contacts);
}

}  // namespace

const ContactMaterial& material_of(const std::vector<ContactMaterial>& material, int i) {
  static const ContactMaterial none;
  return material.empty() ? none : material[i];
}

void validate(const ContactMaterial& m, std::string_view argument) {
  const auto refuse = [&](std::string_view field, std::string_view expected, const std::string& actual) {
    throw InvalidArgument(fmt::format("{}.{}", argument, field), expected, actual);
  };
  for (const MaterialField& field : kMaterialFields) {
    const double value = m.*field.member;
    const RangeRow& range = kRanges[static_cast<std::size_t>(field.range)];
    if (!std::isfinite(value) || !range.fits(value)) refuse(field.name, range.expected, fmt::format("{}", value));
  }
  if (!std::isfinite(m.spring[0]) || !std::isfinite(m.spring[1]))
    refuse("spring", "finite numbers", fmt::format("{}, {}", m.spring[0], m.spring[1]));
}

void require_law(std::string_view argument, Law law) { require_listed(argument, law, kLaws.back()); }

void validate_contact_laws(std::span<const Law> laws, std::span<const ContactMaterial> material, std::ptrdiff_t contacts) {
  require_one_per_contact("laws", laws.size(), contacts);
  require_one_per_contact("material", material.size(), contacts);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (laws[i] < kLaws.front() || laws[i] > kLaws.back()) require_law(fmt::format("laws[{}]", i), laws[i]);
  }
  for (std::size_t i = 0; i < material.size(); ++i) validate(material[i], fmt::format("material[{}]", i));
}

std::string_view to_string(Law law) { return kNames[static_cast<std::size_t>(law)]; }

Law law_from_string(std::string_view name) { return value_named<Law>("law", kNames, name); }

std::string law_names() { return joined_names(kNames); }

}  // namespace stiction
