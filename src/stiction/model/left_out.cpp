#include "stiction/model/left_out.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stiction {

namespace {

/// Whether a list of names separated by spaces holds this one.
bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool same_value(const XmlElement& e, std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::string left(a), right(b);
  try {
    return numbers({&e, "", left.c_str()}) == numbers({&e, "", right.c_str()});
  } catch (const std::exception&) {  // words, of which only equal ones are equal
    return false;
  }
}

}  // namespace

bool LeftOut::knows(std::string_view element) const {
  return std::ranges::any_of(coverage_.elements, [&](const auto& known) { return known.name == element; });
}

bool LeftOut::is_neutral(const XmlElement& e, std::string_view attribute, std::string_view value) const {
  return std::ranges::any_of(coverage_.neutral, [&](const auto& n) {
    return n.element == std::string_view(e.Name()) && n.attribute == attribute && same_value(e, value, n.value);
  });
}

std::string_view LeftOut::reason(std::string_view element, std::string_view attribute) const {
  for (const auto& r : coverage_.reasons) {
    if (r.element == element && lists(r.attributes, attribute)) return r.reason;
  }
  return "not known to this reader";
}

LeftOut::Group& LeftOut::group(const XmlElement& e, std::string_view reason) {
  const auto [at, is_new] = index_.try_emplace({e.Name(), std::string(reason)}, groups_.size());
  if (is_new) groups_.push_back({place(e), e.Name(), std::string(reason), {}, 0, &e});
  Group& found = groups_[at->second];
  if (found.last != &e) ++found.more;
  found.last = &e;
  return found;
}

void LeftOut::add(const XmlElement& e, std::string_view part, std::string_view reason) {
  Group& found = group(e, reason);
  if (std::ranges::find(found.attributes, part) == found.attributes.end()) found.attributes.emplace_back(part);
}

void LeftOut::add(const XmlElement& e, std::string_view reason) { group(e, reason); }

void LeftOut::check(const XmlElement& e, std::string_view acting) {
  std::string_view known;
  for (const auto& element : coverage_.elements) {
    if (element.name == std::string_view(e.Name())) known = element.attributes;
  }
  for (const auto* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (a->Name() != acting && !lists(known, a->Name()) && !is_neutral(e, a->Name(), a->Value()))
      add(e, a->Name(), reason(e.Name(), a->Name()));
  }
}

std::vector<std::string> LeftOut::messages() const {
  std::vector<std::string> list;
  for (const Group& g : groups_) {
    const std::string what =
        g.attributes.empty() ? fmt::format("<{}>", g.element) : fmt::format("{} of <{}>", fmt::join(g.attributes, ", "), g.element);
    const std::string more = g.more > 0 ? fmt::format(" (and {} more)", g.more) : "";
    list.push_back(fmt::format("{}: {} left out: {}{}", g.where, what, g.reason, more));
  }
  return list;
}

}  // namespace stiction
