#include "stiction/model/mjcf_context.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "stiction/base/rotation.hpp"
#include "stiction/model/mesh_surface.hpp"
#include "stiction/model/resources.hpp"

namespace stiction {

namespace {

constexpr int kMostSamples = 100'000'000;  // of a height field: 0.8 GB

Eigen::Vector3d unit(const Attribute& a, const Eigen::Vector3d& v) {
  if (!(v.norm() > 1e-12)) fail(*a.element, fmt::format("{}: a direction is zero", a.name));
  return v.normalized();
}

std::vector<double> exactly(const Attribute& a, std::size_t count) {
  std::vector<double> values = numbers(a);
  if (values.size() != count) fail(*a.element, fmt::format("{}: expected {} numbers, got {}", a.name, count, values.size()));
  return values;
}

/// Of a quaternion [w x y z].
Eigen::Matrix3d rotation_of(const Attribute& a) {
  const Eigen::Vector4d q = vector4(a);
  if (!(q.norm() > 1e-12)) fail(*a.element, fmt::format("{} is zero", a.name));
  return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

Eigen::Matrix3d from_axes(const Attribute& a) {
  const std::vector<double> v = exactly(a, 6);
  Eigen::Matrix3d R;
  R.col(0) = unit(a, Eigen::Vector3d(v[0], v[1], v[2]));
  const Eigen::Vector3d y(v[3], v[4], v[5]);
  R.col(1) = unit(a, y - R.col(0) * R.col(0).dot(y));
  R.col(2) = R.col(0).cross(R.col(1));
  return R;
}

/// Elements of one kind share their defaults: all that act on joints and tendons are actuators.
std::string kind_of_default(const XmlElement& element) {
  constexpr std::array<std::string_view, 10> actuators = {"general", "motor",    "position", "velocity", "intvelocity",
                                                          "damper",  "cylinder", "muscle",   "adhesion", "dcmotor"};
  const std::string_view name = element.Name();
  return std::ranges::find(actuators, name) != actuators.end() ? "general" : std::string(name);
}

}  // namespace

bool boolean(const Attribute& a, bool fallback, std::string_view yes, std::string_view no) {
  if (!a) return fallback;
  if (a.text != yes && a.text != no) fail(*a.element, fmt::format("{}=\"{}\": expected {} or {}", a.name, a.text, yes, no));
  return a.text == yes;
}

void require_once(const std::vector<const XmlElement*>& children, std::string_view name) {
  const auto has_name = [&](const XmlElement* e) { return std::string_view(e->Name()) == name; };
  const auto first = std::ranges::find_if(children, has_name);
  if (first == children.end()) return;
  const auto second = std::find_if(first + 1, children.end(), has_name);
  if (second != children.end()) fail(**second, fmt::format("second <{}>, the first is at line {}", name, (*first)->GetLineNum()));
}

MjcfContext::MjcfContext(const XmlElement& root, XmlDocuments& documents, const RobotOptions& robot_options)
    : options(robot_options), file(source_of(root)), root_(root), documents_(documents) {
  included_files_.insert(file);
  read_compiler();
  for (const XmlElement* e : children(root_)) {
    if (std::string_view(e->Name()) == "default") read_defaults(*e, "");
  }
  read_assets();
}

std::vector<const XmlElement*> MjcfContext::children(const XmlElement& element) {
  std::vector<const XmlElement*> list;
  for (const XmlElement* e = element.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    if (std::string_view(e->Name()) != "include") {
      list.push_back(e);
      continue;
    }
    const XmlElement*& content = included_[e];
    if (content == nullptr) {
      const std::string name = text(require(*e, "file"));
      std::string path = find_resource(name, file, {});
      if (path.empty()) path = find_resource(name, source_of(*e), {});  // as in MuJoCo, the main file's folder first
      if (path.empty()) fail(*e, fmt::format("included file '{}' is not found", name));
      if (!included_files_.insert(path).second) fail(*e, fmt::format("file '{}' is included twice", name));
      content = &documents_.load(path);
    }
    const std::vector<const XmlElement*> inner = children(*content);
    list.insert(list.end(), inner.begin(), inner.end());
  }
  return list;
}

std::vector<const XmlElement*> MjcfContext::section(const char* name) {
  std::vector<const XmlElement*> list;
  for (const XmlElement* e : children(root_)) {
    if (std::string_view(e->Name()) != name) continue;
    const std::vector<const XmlElement*> inner = children(*e);
    list.insert(list.end(), inner.begin(), inner.end());
  }
  return list;
}

void MjcfContext::read_compiler() {
  for (const XmlElement* e : children(root_)) {
    if (std::string_view(e->Name()) != "compiler") continue;
    if (const Attribute a = attribute(*e, "angle")) {
      degrees = std::string_view(a.text) == "degree";
      if (!degrees && std::string_view(a.text) != "radian") fail(*e, fmt::format("angle=\"{}\": expected degree or radian", a.text));
    }
    autolimits = boolean(attribute(*e, "autolimits"), autolimits);
    if (const Attribute a = attribute(*e, "eulerseq")) euler_sequence_ = a.text;
    if (const Attribute a = attribute(*e, "assetdir")) mesh_folder_ = a.text;
    if (const Attribute a = attribute(*e, "meshdir")) mesh_folder_ = a.text;
    if (const Attribute a = attribute(*e, "inertiafromgeom"); a && std::string_view(a.text) != "auto") {
      inertia_from_geom = boolean(a, false);
    }
    bound_mass = number_or(attribute(*e, "boundmass"), bound_mass);
    bound_inertia = number_or(attribute(*e, "boundinertia"), bound_inertia);
    balance_inertia = boolean(attribute(*e, "balanceinertia"), balance_inertia);
    total_mass = number_or(attribute(*e, "settotalmass"), total_mass);
    if (const Attribute a = attribute(*e, "inertiagrouprange")) {
      const std::vector<double> range = exactly(a, 2);
      group_low = range[0];
      group_high = range[1];
    }
    if (const Attribute a = attribute(*e, "coordinate"); a && std::string_view(a.text) == "global") {
      fail(*e, "coordinate=\"global\" is not supported");
    }
    if (euler_sequence_.size() != 3 || euler_sequence_.find_first_not_of("xyzXYZ") != std::string::npos) {
      fail(*e, fmt::format("eulerseq=\"{}\": expected three of x, y, z", euler_sequence_));
    }
  }
}

void MjcfContext::read_defaults(const XmlElement& element, const std::string& parent) {
  const Attribute a = attribute(element, "class");
  if (!a && !parent.empty()) fail(element, "attribute 'class' is missing");
  const std::string name = a ? text(a) : main_class_;
  if (parent.empty()) main_class_ = name;
  if (!parent.empty() && classes_.contains(name)) fail(element, fmt::format("second default class '{}'", name));
  Class entry = parent.empty() ? classes_[name] : classes_[parent];
  for (const XmlElement* e : children(element)) {
    if (std::string_view(e->Name()) != "default") require_once(children(element), e->Name());
    if (std::string_view(e->Name()) != "default") entry[kind_of_default(*e)].push_back(e);
  }
  classes_[name] = std::move(entry);
  for (const XmlElement* e : children(element)) {
    if (std::string_view(e->Name()) == "default") read_defaults(*e, name);
  }
}

void MjcfContext::read_assets() {
  for (const XmlElement* e : section("asset")) {
    const std::string_view kind = e->Name();
    if (kind != "mesh" && kind != "hfield") continue;
    const Attribute named = attribute(*e, "name");
    const std::string name = named ? text(named) : std::filesystem::path(text(require(*e, "file"))).stem().string();
    auto& assets = kind == "mesh" ? meshes_ : height_fields_;
    if (!assets.emplace(name, e).second) fail(*e, fmt::format("second {} of the name '{}'", kind, name));
  }
}

std::vector<MjcfElement> MjcfContext::framed(const std::vector<const XmlElement*>& elements, const std::string& childclass) {
  std::vector<MjcfElement> list;
  add_framed(elements, childclass, Eigen::Isometry3d::Identity(), list);
  return list;
}

void MjcfContext::add_framed(const std::vector<const XmlElement*>& elements, const std::string& childclass, const Eigen::Isometry3d& X_BF,
                             std::vector<MjcfElement>& list) {
  for (const XmlElement* e : elements) {
    if (std::string_view(e->Name()) == "frame") {
      add_framed(children(*e), class_inside(*e, childclass), X_BF * pose(*e, childclass), list);
    } else {
      list.push_back({e, X_BF, childclass});
    }
  }
}

std::string MjcfContext::class_inside(const XmlElement& element, const std::string& inherited) const {
  const Attribute a = attribute(element, "childclass");
  if (!a) return inherited;
  if (!classes_.contains(text(a))) fail(element, fmt::format("unknown default class '{}'", a.text));
  return a.text;
}

std::vector<const XmlElement*> MjcfContext::with_defaults(const XmlElement& element, const std::string& childclass,
                                                          const char* kind) const {
  std::vector<const XmlElement*> list{&element};
  const Attribute own_class = attribute(element, "class");
  const std::string name = own_class ? own_class.text : childclass.empty() ? main_class_ : childclass;
  const auto entry = classes_.find(name);
  if (own_class && entry == classes_.end() && name != main_class_) fail(element, fmt::format("unknown default class '{}'", name));
  if (entry == classes_.end()) return list;
  const auto defaults = entry->second.find(kind != nullptr ? kind : kind_of_default(element));
  if (defaults != entry->second.end()) list.insert(list.end(), defaults->second.rbegin(), defaults->second.rend());
  return list;
}

Attribute MjcfContext::find(const XmlElement& element, const char* name, const std::string& childclass, const char* kind) const {
  for (const XmlElement* e : with_defaults(element, childclass, kind)) {
    if (const Attribute a = attribute(*e, name)) return a;
  }
  return {&element, name, nullptr};
}

std::vector<double> MjcfContext::filled(const XmlElement& element, const char* name, const std::string& childclass,
                                        std::size_t most) const {
  std::vector<double> values;
  for (const XmlElement* e : with_defaults(element, childclass)) {
    const Attribute a = attribute(*e, name);
    const std::vector<double> own = a ? numbers(a, most) : std::vector<double>();
    if (own.size() > values.size()) values.insert(values.end(), own.begin() + std::ssize(values), own.end());
  }
  return values;
}

std::optional<std::pair<double, double>> MjcfContext::limits(const XmlElement& element, const char* limited, const char* range,
                                                             const std::string& childclass) const {
  const Attribute a = find(element, limited, childclass), r = find(element, range, childclass);
  const bool is_auto = !a || std::string_view(a.text) == "auto";
  if (is_auto ? !r : !boolean(a, false)) return {};
  if (!r) fail(element, fmt::format("attribute '{}' is missing", range));
  const std::vector<double> v = exactly(r, 2);
  if (is_auto && v[0] == v[1]) return {};  // as in MuJoCo: "0 0" takes the range of a class away
  // A position may be held where it is; an effort of nothing is no actuator.
  const bool is_position = std::string_view(range) == "range";
  if (!(v[0] < v[1] || (is_position && v[0] == v[1]))) fail(element, fmt::format("{}=\"{}\": expected low and high", range, r.text));
  if (is_auto && !autolimits) fail(element, fmt::format("{} is given and {} is not, which autolimits=\"false\" asks for", range, limited));
  return std::pair(v[0], v[1]);
}

Eigen::Matrix3d MjcfContext::euler(const Eigen::Vector3d& angles) const {
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = euler_sequence_[i];
    const bool moves_along = letter >= 'x';  // lower case: about the axes of the rotated frame
    const Eigen::Matrix3d step =
        Eigen::AngleAxisd(angle(angles[i]), Eigen::Vector3d::Unit(letter - (moves_along ? 'x' : 'X'))).toRotationMatrix();
    R = moves_along ? Eigen::Matrix3d(R * step) : Eigen::Matrix3d(step * R);
  }
  return R;
}

Eigen::Isometry3d MjcfContext::pose(const XmlElement& element, const std::string& childclass) const {
  Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
  X.translation() = vector3_or(find(element, "pos", childclass), Eigen::Vector3d::Zero());
  // An element's own orientation replaces that of its class, in whichever notation.
  for (const XmlElement* e : with_defaults(element, childclass)) {
    constexpr std::array notations{"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    if (std::ranges::count_if(notations, [&](const char* name) { return e->Attribute(name) != nullptr; }) > 1) {
      fail(*e, "more than one orientation");
    }
    if (const Attribute a = attribute(*e, "quat")) {
      X.linear() = rotation_of(a);
    } else if (const Attribute b = attribute(*e, "axisangle")) {
      const Eigen::Vector4d v = vector4(b);
      X.linear() = Eigen::AngleAxisd(angle(v[3]), unit(b, v.head<3>())).toRotationMatrix();
    } else if (const Attribute c = attribute(*e, "euler")) {
      X.linear() = euler(vector3(c));
    } else if (const Attribute d = attribute(*e, "xyaxes")) {
      X.linear() = from_axes(d);
    } else if (const Attribute z = attribute(*e, "zaxis")) {
      X.linear() = rotation_of_z(unit(z, vector3(z)));
    } else {
      continue;
    }
    break;
  }
  return X;
}

const XmlElement& MjcfContext::mesh_asset(const XmlElement& geom, const std::string& name) const {
  const auto at = meshes_.find(name);
  if (at == meshes_.end()) fail(geom, fmt::format("unknown mesh '{}'", name));
  return *at->second;
}

// A vertex v of the file is S Rᵀ (v - p) in the geom: p refpos, R refquat, S the scale's diagonal. That is Rᵀ S' (v - p) with
// S' = R S Rᵀ, which has to be a diagonal too for a mesh that stays in its file.
std::pair<Shape, Eigen::Isometry3d> MjcfContext::mesh(const XmlElement& geom, const std::string& name) const {
  const XmlElement& e = mesh_asset(geom, name);
  const Eigen::Vector3d scale = vector3_or(find(e, "scale", ""), Eigen::Vector3d::Ones());
  if ((scale.array() == 0.0).any()) fail(e, "scale has a zero");
  const Attribute turn = attribute(e, "refquat");
  const Eigen::Vector3d p = vector3_or(attribute(e, "refpos"), Eigen::Vector3d::Zero());
  const Eigen::Matrix3d R = turn ? rotation_of(turn) : Eigen::Matrix3d(Eigen::Matrix3d::Identity());
  if (const Attribute vertices = attribute(e, "vertex")) {
    const std::vector<double> v = numbers(vertices);
    if (v.size() < 12 || v.size() % 3 != 0) fail(e, "vertex: expected three numbers per vertex and at least four vertices");
    ConvexMesh hull;
    for (std::size_t i = 0; i < v.size(); i += 3) {
      hull.vertices.push_back(scale.cwiseProduct(R.transpose() * (Eigen::Vector3d(v[i], v[i + 1], v[i + 2]) - p)));
    }
    return {hull, Eigen::Isometry3d::Identity()};
  }
  const std::string uri = text(require(e, "file"));
  const std::string path = find_resource((std::filesystem::path(mesh_folder_) / uri).string(), file, options.package_dirs);
  if (path.empty()) fail(e, fmt::format("mesh file '{}' is not found", uri));
  const Eigen::Matrix3d S = R * scale.asDiagonal() * R.transpose();
  if (!S.isDiagonal(1e-12)) fail(e, "refquat beside a scale that differs along axes which it mixes is not supported");
  Eigen::Isometry3d X_GM = Eigen::Isometry3d::Identity();
  X_GM.linear() = R.transpose();
  X_GM.translation() = -R.transpose() * S * p;
  return {MeshFile{path, S.diagonal(), options.convex_meshes}, X_GM};
}

Inertial MjcfContext::mesh_inertial(const XmlElement& geom, const std::string& name) const {
  const XmlElement& e = mesh_asset(geom, name);
  const auto [shape, X_GS] = mesh(geom, name);
  const Attribute way = find(e, "inertia", ""), faces = attribute(e, "face");
  const std::string_view kind = way ? way.text : "legacy";
  if (integer_or(find(e, "maxhullvert", ""), -1) != -1 && kind == "convex")
    fail(e, "inertia=\"convex\" of a hull that maxhullvert bounds is not computed");
  TriangleMesh surface;
  if (const auto* given = std::get_if<ConvexMesh>(&shape); given != nullptr && faces && kind != "convex") {
    surface.vertices = given->vertices;
    const std::vector<double> corners = numbers(faces);
    if (corners.empty() || corners.size() % 3 != 0) fail(e, "face: expected three numbers per triangle");
    for (std::size_t i = 0; i < corners.size(); i += 3) surface.triangles.emplace_back(Eigen::Vector3d(&corners[i]).cast<int>());
    validate(surface, "face");
    if (vector3_or(find(e, "scale", ""), Eigen::Vector3d::Ones()).prod() < 0.0) {
      for (Eigen::Vector3i& t : surface.triangles) std::swap(t[1], t[2]);
    }
  } else {
    surface = *surface_of_mesh(shape, "mesh");
  }
  Inertial unit;
  if (kind == "shell") {
    unit = shell_on(surface, 1.0);
  } else if (kind == "legacy") {
    unit = solid_of_pyramids(surface, 1.0);
  } else if (kind == "convex") {
    unit = solid_inside(hull_triangles(surface.vertices, "mesh"), 1.0);
  } else if (kind == "exact") {
    if (const std::string defect = surface_defect(surface); !defect.empty()) fail(e, fmt::format("inertia=\"exact\": {}", defect));
    unit = solid_inside(surface, 1.0);
  } else {
    fail_attribute(way, "convex, exact, legacy or shell");
  }
  if (!(unit.mass > 1e-15)) {  // MuJoCo's least volume or area
    fail(geom, fmt::format("its mesh '{}' has no {}: add <inertial> to its body", name, kind == "shell" ? "area" : "volume"));
  }
  return transformed(X_GS, unit);
}

HeightMap MjcfContext::height_field(const XmlElement& geom, const std::string& name) const {
  const auto at = height_fields_.find(name);
  if (at == height_fields_.end()) fail(geom, fmt::format("unknown height field '{}'", name));
  const XmlElement& e = *at->second;
  const Attribute data = attribute(e, "elevation");
  if (const Attribute samples = attribute(e, "file"); samples && !data)
    fail_attribute(samples, "the samples in 'elevation', as images and binary files of height fields are not read");
  const int rows = integer_or(require(e, "nrow"), 0), cols = integer_or(require(e, "ncol"), 0);
  if (rows < 2 || cols < 2 || rows > kMostSamples / cols)
    fail(e, fmt::format("nrow and ncol: expected 2 or more each and at most {} samples, got {} x {}", kMostSamples, rows, cols));
  // Without samples it is flat; programs fill it later.
  const std::vector<double> values = data ? numbers(data) : std::vector<double>(static_cast<std::size_t>(rows) * cols);
  const std::vector<double> size = exactly(require(e, "size"), 4);
  if (values.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {
    fail(e, fmt::format("elevation: expected nrow x ncol = {} x {} numbers, got {}", rows, cols, values.size()));
  }
  // The file lists rows from +y to -y and each row along x; samples are scaled to [0, size[2]].
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> listed(values.data(), rows, cols);
  const double low = listed.minCoeff(), span = listed.maxCoeff() - low;
  HeightMap map;
  map.heights = (listed.colwise().reverse().transpose().array() - low) * (span > 0.0 ? size[2] / span : 0.0);
  map.size_x = 2.0 * size[0];
  map.size_y = 2.0 * size[1];
  map.bottom = -size[3];
  return map;
}

}  // namespace stiction
