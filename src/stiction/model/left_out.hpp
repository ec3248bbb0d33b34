// What a robot file says and its reader does not act on. A table names, per element, the attributes that are read and those that
// have no say in the motion; everything else that a file holds becomes a warning, so that a reader need not know what it leaves out.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stiction/model/xml.hpp"

namespace stiction {

class MjcfContext;

/// Tables of one format; attribute lists are names separated by spaces.
struct Coverage {
  struct Element {
    std::string_view name, attributes;  ///< attributes that act, or have no say in the motion
  };
  struct Reason {
    std::string_view element, attributes, reason;  ///< why these are left out
  };
  struct Neutral {
    std::string_view element, attribute, value;  ///< a value that asks for nothing
  };
  std::span<const Element> elements;
  std::span<const Reason> reasons;
  std::span<const Neutral> neutral;
};

inline bool holds(std::span<const std::string_view> list, std::string_view name) { return std::ranges::find(list, name) != list.end(); }

/// Collects what is left out, one message per element name and reason: "FILE:LINE: solref, margin of <geom> left out: ... (and 7 more)".
class LeftOut {
 public:
  explicit LeftOut(const Coverage& coverage) : coverage_(coverage) {}

  bool knows(std::string_view element) const;
  /// Attributes of an element, but for one that acts here.
  void check(const XmlElement& e, std::string_view acting = {});
  /// The whole element; equal names and reasons share one message.
  void add(const XmlElement& e, std::string_view reason);
  /// A child element, named as a part of its parent.
  void add_child(const XmlElement& parent, const XmlElement& child, std::string_view reason) { add(parent, child.Name(), reason); }
  std::vector<std::string> messages() const;

 private:
  struct Group {
    std::string where, element, reason;
    std::vector<std::string> attributes;  ///< empty: the element itself
    int more = 0;
    const XmlElement* last = nullptr;  ///< counted last
  };
  bool is_neutral(const XmlElement& e, std::string_view attribute, std::string_view value) const;
  std::string_view reason(std::string_view element, std::string_view attribute) const;
  Group& group(const XmlElement& e, std::string_view reason);
  void add(const XmlElement& e, std::string_view part, std::string_view reason);

  const Coverage& coverage_;
  std::vector<Group> groups_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;  ///< element and reason -> group
};

/// `acting_gains`: the <general>, of actuators or default classes, whose gain gives a joint its effort limit.
std::vector<std::string> mjcf_left_out(const XmlElement& root, MjcfContext& context, const std::set<const XmlElement*>& acting_gains);
std::vector<std::string> urdf_left_out(const XmlElement& root);

}  // namespace stiction
