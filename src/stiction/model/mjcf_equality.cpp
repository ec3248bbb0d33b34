// <connect>, <weld> and <joint> of an <equality>. What is not given by the file is what holds in the pose in which it is written.
#include <algorithm>

#include <fmt/format.h>

#include "stiction/model/mjcf_context.hpp"

namespace stiction {

namespace {

class EqualityReader {
 public:
  EqualityReader(const XmlElement& e, const MjcfPlaces& places) : e_(e), places_(places) {}

  EqualityDescription read(std::string_view kind) {
    const Attribute name = attribute(e_, "name");
    out_.place = fmt::format("line {}, <{}>", e_.GetLineNum(), kind);
    out_.equality.name = name ? text(name) : fmt::format("{}:{}", kind, e_.GetLineNum());
    if (kind == "joint") {
      joint();
    } else {
      out_.equality.kind = kind == "weld" ? EqualityKind::weld : EqualityKind::connect;
      attribute(e_, "site1") || attribute(e_, "site2") ? sites() : bodies();
    }
    return std::move(out_);
  }

 private:
  const MjcfFrame& named(const std::map<std::string, MjcfFrame>& frames, const Attribute& a, const char* what) const {
    const auto at = frames.find(text(a));
    if (at == frames.end()) fail(e_, fmt::format("{}: unknown {} '{}'", a.name, what, a.text));
    return at->second;
  }

  void require_distinct(const Attribute& first, const Attribute& second) const {
    if (second && text(first) == text(second)) fail_attribute(second, fmt::format("another than {}", first.name));
  }

  void sites() {
    for (const char* name : {"body1", "body2", "anchor", "relpose"}) {
      if (const Attribute a = attribute(e_, name)) fail_attribute(a, "none beside sites");
    }
    require_distinct(require(e_, "site1"), require(e_, "site2"));
    const MjcfFrame &a = named(places_.sites, require(e_, "site1"), "site"), &b = named(places_.sites, require(e_, "site2"), "site");
    out_.link_a = a.link;
    out_.link_b = b.link;
    out_.equality.X_AF = a.X;
    out_.equality.X_BF = b.X;
  }

  void bodies() {
    const Attribute first = require(e_, "body1"), second = attribute(e_, "body2");
    require_distinct(first, second);
    if (!second && text(first) == "world") fail_attribute(first, "another than body2, the world");
    const MjcfFrame &a = named(places_.bodies, first, "body"), b = second ? named(places_.bodies, second, "body") : MjcfFrame{};
    out_.link_a = a.link;
    out_.link_b = b.link;
    const Eigen::Isometry3d X_BA = b.X.inverse() * a.X;
    Equality& equality = out_.equality;
    if (equality.kind == EqualityKind::connect) {
      equality.X_AF.translation() = vector3(require(e_, "anchor"));
      equality.X_BF.translation() = X_BA * equality.X_AF.translation();
    } else {
      if (const Attribute anchor = attribute(e_, "anchor")) equality.X_BF.translation() = vector3(anchor);
      if (!relative_pose(equality.X_AF)) equality.X_AF = X_BA.inverse() * equality.X_BF;
    }
  }

  /// relpose: of body 2's axes at its `anchor`, in body 1; a zero quaternion says that it is the one in which the file is written.
  bool relative_pose(Eigen::Isometry3d& X_AB) const {
    const Attribute a = attribute(e_, "relpose");
    if (!a) return false;
    const std::vector<double> v = numbers(a);
    if (v.size() != 7) fail(e_, "relpose: expected 7 numbers");
    const Eigen::Quaterniond r(v[3], v[4], v[5], v[6]);
    if (r.norm() < 1e-12) return false;
    X_AB.translation() << v[0], v[1], v[2];
    X_AB.linear() = r.normalized().toRotationMatrix();
    return true;
  }

  std::string joint_named(const Attribute& a, double& reference) const {
    const auto at = places_.joints.find(text(a));
    if (at == places_.joints.end()) fail(e_, fmt::format("{}: '{}' is no joint with one coordinate", a.name, a.text));
    reference = at->second->reference.value_or(0.0);
    return a.text;
  }

  void joint() {
    Equality& equality = out_.equality;
    equality.kind = EqualityKind::joint;
    out_.joint_a = joint_named(require(e_, "joint1"), equality.reference_a);
    require_distinct(require(e_, "joint1"), attribute(e_, "joint2"));
    if (const Attribute second = attribute(e_, "joint2")) out_.joint_b = joint_named(second, equality.reference_b);
    if (const Attribute a = attribute(e_, "polycoef")) {
      const std::vector<double> c = numbers(a, equality.polynomial.size());
      std::ranges::copy(c, equality.polynomial.begin());
    }
  }

  const XmlElement& e_;
  const MjcfPlaces& places_;
  EqualityDescription out_;
};

}  // namespace

std::optional<EqualityDescription> read_equality(const XmlElement& e, const MjcfContext& context, const MjcfPlaces& places,
                                                 std::vector<std::string>& warnings) {
  const std::string_view kind = e.Name();
  if (!boolean(context.find(e, "active", "", "equality"), true)) return {};
  if (kind != "connect" && kind != "weld" && kind != "joint") {
    warnings.push_back(fmt::format("{}: an equality constraint (<{}>) is left out", place(e), kind));
    return {};
  }
  return EqualityReader(e, places).read(kind);
}

}  // namespace stiction
