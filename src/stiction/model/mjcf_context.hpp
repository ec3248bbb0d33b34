// What holds throughout an MJCF file: compiler settings, default classes, assets, and the conventions that depend on them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include "stiction/model/robot_description.hpp"
#include "stiction/model/xml.hpp"

namespace stiction {

/// An element in a body or the world: the placement of the <frame>s around it, and the default class in force.
struct MjcfElement {
  const XmlElement* element = nullptr;
  Eigen::Isometry3d X_BF = Eigen::Isometry3d::Identity();
  std::string childclass;
};

class MjcfContext {
 public:
  MjcfContext(const XmlElement& root, XmlDocuments& documents, const RobotOptions& robot_options);

  /// Child elements in order, <include> replaced by what the included file holds.
  std::vector<const XmlElement*> children(const XmlElement& element);
  /// Children of all top-level sections of this name.
  std::vector<const XmlElement*> section(const char* name);

  /// The elements of a body or the world in order, <frame> replaced by what it holds.
  std::vector<MjcfElement> framed(const std::vector<const XmlElement*>& elements, const std::string& childclass);
  /// The default class in force inside a body or frame.
  std::string class_inside(const XmlElement& element, const std::string& inherited) const;

  /// An element's own attribute, else what its default class says for elements of its kind; `childclass` is the class in force. `kind`:
  /// that of its defaults, where it is not told by the element's name.
  Attribute find(const XmlElement& element, const char* name, const std::string& childclass, const char* kind = nullptr) const;
  /// The element, then those of its default class, nearest first.
  std::vector<const XmlElement*> with_defaults(const XmlElement& element, const std::string& childclass, const char* kind = nullptr) const;
  /// Numbers of an attribute that takes up to `most`: those that the element leaves out are of its default class.
  std::vector<double> filled(const XmlElement& element, const char* name, const std::string& childclass, std::size_t most) const;
  /// Low and high of a limit that holds: `limited` is "true", or "auto" with a `range` that is not empty. An error where the compiler's
  /// autolimits="false" leaves that open.
  std::optional<std::pair<double, double>> limits(const XmlElement& element, const char* limited, const char* range,
                                                  const std::string& childclass) const;

  /// pos with quat, axisangle, euler, xyaxes or zaxis.
  Eigen::Isometry3d pose(const XmlElement& element, const std::string& childclass) const;
  /// An angle of the file in radians.
  double angle(double value) const { return degrees ? value * kDegree : value; }

  /// Collision shape of a mesh asset and its place in the geom's frame, which refpos and refquat move.
  std::pair<Shape, Eigen::Isometry3d> mesh(const XmlElement& geom, const std::string& name) const;
  /// What a mesh asset weighs at a density of 1, in the geom's frame, by its `inertia`: kg/m³, kg/m² of a shell.
  Inertial mesh_inertial(const XmlElement& geom, const std::string& name) const;
  /// Collision shape of a height-field asset.
  HeightMap height_field(const XmlElement& geom, const std::string& name) const;

  const RobotOptions& options;
  std::string file;
  bool degrees = true, autolimits = true;
  std::optional<bool> inertia_from_geom;         ///< none: for bodies without <inertial>
  double group_low = 0.0, group_high = 5.0;      ///< groups of geoms that count for inertia
  double bound_mass = 0.0, bound_inertia = 0.0;  ///< least mass (kg) and principal moment (kg m²) of a body
  bool balance_inertia = false;                  ///< moments that violate the triangle inequality become their mean
  double total_mass = -1.0;                      ///< kg to which all bodies are scaled, when > 0

 private:
  static constexpr double kDegree = 0.017453292519943295;
  /// Elements of a default class by kind, those of the classes around it first; the last one that has an attribute counts.
  using Class = std::map<std::string, std::vector<const XmlElement*>>;

  void read_compiler();
  void read_defaults(const XmlElement& element, const std::string& parent);
  void read_assets();
  void add_framed(const std::vector<const XmlElement*>& elements, const std::string& childclass, const Eigen::Isometry3d& X_BF,
                  std::vector<MjcfElement>& list);
  Eigen::Matrix3d euler(const Eigen::Vector3d& angles) const;
  const XmlElement& mesh_asset(const XmlElement& geom, const std::string& name) const;

  const XmlElement& root_;
  XmlDocuments& documents_;
  std::map<const XmlElement*, const XmlElement*> included_;  ///< <include> -> root of its file
  std::set<std::string> included_files_;
  std::map<std::string, Class> classes_;
  std::map<std::string, const XmlElement*> meshes_, height_fields_;
  std::string mesh_folder_, euler_sequence_ = "xyz", main_class_ = "main";
};

/// One of two words, or fails.
bool boolean(const Attribute& a, bool fallback, std::string_view yes = "true", std::string_view no = "false");

/// Fails at a second child of this name.
void require_once(const std::vector<const XmlElement*>& children, std::string_view name);

/// The mass of a mesh, whose file is read only where a body's inertia comes from it.
struct MjcfMeshMass {
  const XmlElement* geom = nullptr;
  std::string mesh;
  Eigen::Isometry3d X_BG = Eigen::Isometry3d::Identity();
  std::optional<double> mass;  ///< kg, else from `density`
  double density = 0.0;
};

/// Shape, placement in the body, mass and flags of one <geom>.
struct MjcfGeom {
  GeometryDescription geometry;
  bool collides = true;
  Inertial inertial;                      ///< in the body frame, from mass or density; none of a mesh
  std::optional<MjcfMeshMass> mesh_mass;  ///< of a mesh that weighs something
};

/// boundmass, boundinertia, balanceinertia and settotalmass, on the links that are bodies of the file.
void apply_mass_settings(const MjcfContext& context, const std::vector<int>& bodies, RobotDescription& robot);

/// A <site>, or the pose of a body in the file's start: a frame fixed to a link.
struct MjcfFrame {
  int link = 0;
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
};

/// What an equality names: bodies with their poses in the world of the file as it is written, sites in their links.
struct MjcfPlaces {
  std::map<std::string, MjcfFrame> bodies, sites;
  std::map<std::string, const JointDescription*> joints;  ///< 1-dof joints
};

/// connect, weld and joint; nothing for the other kinds, which become warnings, and for those that are not active.
std::optional<EqualityDescription> read_equality(const XmlElement& e, const MjcfContext& context, const MjcfPlaces& places,
                                                 std::vector<std::string>& warnings);

/// `is_paired`: a <pair> names it, so it collides whatever its flags say.
MjcfGeom read_geom(const XmlElement& geom, const MjcfContext& context, const std::string& childclass, const Eigen::Isometry3d& X_BF,
                   bool is_paired, std::vector<std::string>& warnings);

/// One <pair> of <contact>: friction along its first direction, none where condim is 1.
PairDescription read_pair(const XmlElement& pair, const MjcfContext& context, std::vector<std::string>& warnings);

}  // namespace stiction
