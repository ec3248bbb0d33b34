#include <cmath>
#include <numbers>
#include <string_view>

#include <fmt/format.h>

#include "stiction/base/rotation.hpp"
#include "stiction/base/utf8.hpp"
#include "stiction/model/mjcf_context.hpp"

namespace stiction {

namespace {

struct Solid {
  Shape shape;
  double volume = 0.0;                                     ///< m³, 0 for what has no mass (plane, height field) and for a mesh
  Eigen::Vector3d unit_inertia = Eigen::Vector3d::Zero();  ///< principal moments per kilogram
  Eigen::Isometry3d X_GS = Eigen::Isometry3d::Identity();  ///< the shape in the geom's frame
};

/// Vertices of a polyhedron inscribed in an ellipsoid, for the hull to be taken.
ConvexMesh inscribed_polyhedron(const Eigen::Vector3d& semi_axes) {
  constexpr int rings = 11, around = 24;
  ConvexMesh mesh;
  mesh.vertices = {Eigen::Vector3d(0, 0, semi_axes.z()), Eigen::Vector3d(0, 0, -semi_axes.z())};
  for (int i = 1; i <= rings; ++i) {
    const double polar = std::numbers::pi * i / (rings + 1);
    for (int j = 0; j < around; ++j) {
      const double turn = 2.0 * std::numbers::pi * j / around;
      mesh.vertices.push_back(
          semi_axes.cwiseProduct(Eigen::Vector3d(std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), std::cos(polar))));
    }
  }
  return mesh;
}

class GeomReader {
 public:
  GeomReader(const XmlElement& geom, const MjcfContext& context, const std::string& childclass, std::vector<std::string>& warnings)
      : geom_(geom), context_(context), childclass_(childclass), warnings_(warnings) {}

  Attribute find(const char* name) const { return context_.find(geom_, name, childclass_); }

  /// Placement in the body; a `fromto` geom gets its middle and, as in MuJoCo, its z from the second end to the first.
  Eigen::Isometry3d placement() {
    const Attribute a = find("fromto"), pos = find("pos");
    if (!a) return context_.pose(geom_, childclass_);
    if (pos && !vector3(pos).isZero(0.0)) fail_attribute(pos, "none beside fromto");
    const std::vector<double> v = numbers(a);
    if (v.size() != 6) fail(geom_, "fromto: expected 6 numbers");
    const Eigen::Vector3d from(v[0], v[1], v[2]), to(v[3], v[4], v[5]);
    half_segment_ = (to - from).norm() / 2.0;
    if (!(half_segment_ > 0.0)) fail(geom_, "fromto: both ends are the same point");
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.translation() = (from + to) / 2.0;
    X.linear() = rotation_of_z((from - to).normalized());
    return X;
  }

  Solid solid() {
    const Attribute type = find("type");
    const std::string_view kind = type ? type.text : "sphere";
    sizes_ = context_.filled(geom_, "size", childclass_, 3);
    const Attribute mesh = find("mesh");
    if (half_segment_ > 0.0 && holds_no_segment(kind)) fail(geom_, "fromto: expected a capsule, cylinder, box or ellipsoid");
    if (kind == "mesh") {
      const auto [shape, X_GS] = context_.mesh(geom_, text(mesh ? mesh : require(geom_, "mesh")));
      return {shape, 0.0, Eigen::Vector3d::Zero(), X_GS};
    }
    if (mesh) fail(geom_, "fitting a primitive to a mesh is not supported");
    if (kind == "plane") return {HalfSpace{}};
    if (kind == "hfield") {
      const Attribute field = find("hfield");
      return {context_.height_field(geom_, text(field ? field : require(geom_, "hfield")))};
    }
    return primitive(kind);
  }

 private:
  static bool holds_no_segment(std::string_view kind) { return kind == "sphere" || kind == "plane" || kind == "hfield" || kind == "mesh"; }

  /// Sizes of the file; the last one comes from `fromto` where that is given.
  Eigen::Vector3d sizes(std::size_t count) const {
    std::vector<double> v = sizes_;
    if (half_segment_ > 0.0 && !v.empty()) v = {v[0], count == 3 ? v[0] : half_segment_, half_segment_};
    if (v.size() < count) fail(geom_, fmt::format("size: expected {} numbers", count));
    for (std::size_t i = 0; i < count; ++i) {
      if (!(v[i] > 0.0)) fail(geom_, fmt::format("size {} is not positive", v[i]));
    }
    v.resize(3, 0.0);
    return Eigen::Vector3d(v.data());
  }

  Solid primitive(std::string_view kind) {
    constexpr double pi = std::numbers::pi;
    if (kind == "sphere") {
      const double r = sizes(1).x();
      return measured(Sphere{r}, 4.0 / 3.0 * pi * r * r * r);
    }
    if (kind == "capsule") {
      const Eigen::Vector3d s = sizes(2);
      return measured(Capsule{s.x(), s.y()}, pi * s.x() * s.x() * (2.0 * s.y() + 4.0 / 3.0 * s.x()));
    }
    if (kind == "cylinder") {
      const Eigen::Vector3d s = sizes(2);
      return measured(Cylinder{s.x(), s.y()}, 2.0 * pi * s.x() * s.x() * s.y());
    }
    if (kind == "box") return measured(Box{sizes(3)}, 8.0 * sizes(3).prod());
    if (kind == "ellipsoid") {
      const Eigen::Vector3d s = sizes(3), d = s.cwiseAbs2();
      warnings_.push_back(fmt::format("{}: an ellipsoid collides as a polyhedron inscribed in it", place(geom_)));
      return {inscribed_polyhedron(s), 4.0 / 3.0 * pi * s.prod(), Eigen::Vector3d(d.y() + d.z(), d.x() + d.z(), d.x() + d.y()) / 5.0};
    }
    fail(geom_, fmt::format("geom type '{}' is not supported", kind));
  }

  static Solid measured(const Shape& shape, double volume) { return {shape, volume, solid_inertia(shape, 1.0).diagonal()}; }

  const XmlElement& geom_;
  const MjcfContext& context_;
  const std::string& childclass_;
  std::vector<std::string>& warnings_;
  std::vector<double> sizes_;  ///< of the file and its classes
  double half_segment_ = 0.0;
};

/// Of geoms and pairs that name none, whatever the world's is.
constexpr double kDefaultFriction = 1.0;

bool has_no_friction(const Attribute& condim) {
  const int dimension = integer_or(condim, 3);
  if (dimension != 1 && dimension != 3 && dimension != 4 && dimension != 6) fail_attribute(condim, "1, 3, 4 or 6");
  return dimension == 1;
}

unsigned bits(const Attribute& a) {
  return static_cast<unsigned>(integer_or(a, 1));  // -1: all bits
}

}  // namespace

MjcfGeom read_geom(const XmlElement& geom, const MjcfContext& context, const std::string& childclass, const Eigen::Isometry3d& X_BF,
                   bool is_paired, std::vector<std::string>& warnings) {
  GeomReader reader(geom, context, childclass, warnings);
  MjcfGeom read;
  GeometryDescription& g = read.geometry;
  if (const Attribute name = attribute(geom, "name")) g.name = printable(name.text);
  g.X_LG = X_BF * reader.placement();
  g.type = bits(reader.find("contype"));
  g.mask = bits(reader.find("conaffinity"));
  read.collides = g.type != 0 || g.mask != 0 || is_paired;
  g.frictionless = has_no_friction(reader.find("condim"));
  g.friction = kDefaultFriction;
  if (reader.find("friction")) {
    const std::vector<double> mu = context.filled(geom, "friction", childclass, 3);
    if (mu.empty() || !(mu[0] >= 0.0)) fail(geom, "friction: expected a number >= 0");
    g.friction = mu[0];
  }
  const Attribute mass = reader.find("mass"), density = reader.find("density");
  const double rho = number_or(density, 1000.0), given = number_or(mass, 0.0);
  if (!(rho >= 0.0) || !(given >= 0.0)) fail(geom, "mass or density is negative");
  const Attribute type = reader.find("type");
  const bool has_no_mass = mass ? given == 0.0 : rho == 0.0;
  if (const Attribute mesh = reader.find("mesh"); type && std::string_view(type.text) == "mesh") {
    if (mesh && !has_no_mass) read.mesh_mass = {&geom, text(mesh), g.X_LG, mass ? std::optional(given) : std::nullopt, rho};
    if (!read.collides) return read;  // a visual mesh: its file may not be needed
  }
  const Solid solid = reader.solid();
  g.X_LG = g.X_LG * solid.X_GS;
  g.shape = solid.shape;
  const double kilograms = solid.unit_inertia.isZero(0.0) ? 0.0 : mass ? given : rho * solid.volume;
  read.inertial = transformed(g.X_LG, {kilograms, Eigen::Vector3d::Zero(), (kilograms * solid.unit_inertia).asDiagonal()});
  return read;
}

PairDescription read_pair(const XmlElement& pair, const MjcfContext& context, std::vector<std::string>& warnings) {
  PairDescription read{text(require(pair, "geom1")), text(require(pair, "geom2")), fmt::format("line {}, <pair>", pair.GetLineNum())};
  read.friction = kDefaultFriction;  // not that of its geoms
  if (context.find(pair, "friction", "")) {
    const std::vector<double> mu = context.filled(pair, "friction", "", 5);
    if (mu.empty() || !(mu[0] >= 0.0)) fail(pair, "friction: expected numbers >= 0");
    read.friction = mu[0];
    const double second = mu.size() > 1 ? mu[1] : kDefaultFriction;
    if (second != mu[0])
      warnings.push_back(
          fmt::format("{}: friction is that of the first direction, {}; of the second it would be {}", place(pair), mu[0], second));
  }
  if (has_no_friction(context.find(pair, "condim", ""))) read.friction = 0.0;
  return read;
}

}  // namespace stiction
