#include "stiction/record/recording.hpp"

#include <fstream>

#include "stiction/base/errors.hpp"
#include "stiction/geometry/drawn_shape.hpp"
#include "stiction/io/npz_writer.hpp"

namespace stiction {

namespace {

void append(std::vector<double>& out, const Eigen::Ref<const Eigen::VectorXd>& x) { out.insert(out.end(), x.begin(), x.end()); }

void append(std::vector<double>& out, const Eigen::Isometry3d& X) {
  append(out, X.translation());
  append(out, Eigen::Quaterniond(X.linear()).coeffs());
}

void write_bodies(const World& world, const Recording& r, NpzWriter& out) {
  std::vector<std::string_view> names;
  std::vector<double> poses, masses;
  for (const Body& body : world.bodies()) names.push_back(body.name), masses.push_back(body.block < 0 ? 0.0 : body.mass);
  WorldData data(world);
  for (std::size_t i = 0; i < r.time.size(); ++i) {
    const auto nq = static_cast<std::size_t>(world.nq());
    update_kinematics(world, Eigen::Map<const Eigen::VectorXd>(r.q.data() + i * nq, world.nq()), data);
    for (const Eigen::Isometry3d& X : data.X_WB) append(poses, X);
  }
  out.words("body_names", names);
  out.rows("body_mass", masses, {});
  out.rows("body_poses", poses, {names.size(), 7});
}

void write_contacts(const Recording& r, NpzWriter& out) {
  const std::vector<std::int64_t> bodies(r.contact_bodies.begin(), r.contact_bodies.end());
  out.integers("contact_offsets", r.contact_offsets);
  out.rows("contact_points", r.contact_points, {3});
  out.rows("contact_forces", r.contact_forces, {3});
  out.integers("contact_bodies", bodies, {2});
  out.rows("contact_gaps", r.contact_gaps, {});
}

void write_shapes(const World& world, NpzWriter& out) {
  const std::vector<DrawnShape> shapes = drawn_shapes(world);
  std::vector<std::string_view> names, kinds;
  std::vector<int> bodies;
  std::vector<double> placements, sizes, vertices;
  std::vector<std::int64_t> vertex_offsets{0}, face_offsets{0}, faces;
  for (const DrawnShape& shape : shapes) {
    names.push_back(shape.name);
    kinds.push_back(shape.kind);
    bodies.push_back(shape.body);
    append(placements, shape.placement);
    append(sizes, shape.size);
    for (const Eigen::Vector3d& p : shape.mesh.vertices) append(vertices, p);
    for (const Eigen::Vector3i& t : shape.mesh.triangles) faces.insert(faces.end(), t.begin(), t.end());
    vertex_offsets.push_back(static_cast<std::int64_t>(vertices.size() / 3));
    face_offsets.push_back(static_cast<std::int64_t>(faces.size() / 3));
  }
  out.words("shape_names", names);
  out.words("shape_kinds", kinds);
  out.integers("shape_bodies", bodies);
  out.rows("shape_placements", placements, {7});
  out.rows("shape_sizes", sizes, {3});
  out.integers("mesh_vertex_offsets", vertex_offsets);
  out.rows("mesh_vertices", vertices, {3});
  out.integers("mesh_face_offsets", face_offsets);
  out.integers("mesh_faces", faces, {3});
}

}  // namespace

void Recording::add(const State& state) {
  time.push_back(state.time);
  append(q, state.q);
  append(v, state.v);
  contact_offsets.push_back(contact_offsets.back());
}

void Recording::add(const State& state, const Stepper& stepper) {
  add(state);
  const std::vector<ContactPoint>& contacts = stepper.contacts();
  const double dt = stepper.problem().dt;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactPoint& contact = contacts[i];
    append(contact_points, contact.p_WC);
    append(contact_forces, contact.R_WC() * stepper.solution().impulses.segment<3>(3 * static_cast<Eigen::Index>(i)) / dt);
    contact_gaps.push_back(contact.gap);
    contact_bodies.insert(contact_bodies.end(), {contact.body_a, contact.body_b});
  }
  contact_offsets.back() += static_cast<std::int64_t>(contacts.size());
}

void save_recording(const std::filesystem::path& path, const World& world, const Recording& recording) {
  NpzWriter out;
  const std::string_view format = "stiction recording";
  out.words("format", {&format, 1});
  out.scalar("version", 1.0);
  out.rows("time", recording.time, {});
  out.rows("q", recording.q, {static_cast<std::size_t>(world.nq())});
  out.rows("v", recording.v, {static_cast<std::size_t>(world.nv())});
  write_bodies(world, recording, out);
  write_contacts(recording, out);
  write_shapes(world, out);
  const std::string bytes = out.archive();
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw FileError(path.string(), "", "cannot be written");
}

}  // namespace stiction
