#include "stiction/record/trajectory.hpp"

#include <algorithm>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"
#include "stiction/geometry/drawn_shape.hpp"
#include "stiction/io/npz_writer.hpp"
#include "stiction/record/coordinate_names.hpp"

namespace stiction {

namespace {

void append(std::vector<double>& out, const Eigen::Ref<const Eigen::VectorXd>& x) { out.insert(out.end(), x.begin(), x.end()); }

void append(std::vector<double>& out, const Eigen::Isometry3d& X) {
  append(out, X.translation());
  append(out, Eigen::Quaterniond(X.linear()).coeffs());
}

void write_names(const std::vector<std::string>& names, std::string_view key, NpzWriter& out) {
  out.words(key, std::vector<std::string_view>(names.begin(), names.end()));
}

void write_run(const World& world, const Trajectory& r, NpzWriter& out) {
  for (const auto& [key, text] : {std::pair{"status", &r.status}, {"refused", &r.refused}, {"law", &r.law}, {"scheme", &r.scheme}}) {
    const std::string_view word = *text;
    out.words(key, {&word, 1});
  }
  out.scalar("dt", r.dt);
  out.scalar("tolerance", r.tolerance);
  out.vector("gravity", world.gravity());
}

void write_bodies(const World& world, const Trajectory& r, NpzWriter& out) {
  std::vector<double> poses, masses, centers;
  for (const Body& body : world.bodies()) masses.push_back(body.block < 0 ? 0.0 : body.mass);
  const bool moves = std::ranges::any_of(masses, [](double mass) { return mass > 0.0; });
  WorldData data(world);
  for (std::size_t i = 0; i < r.time.size(); ++i) {
    const auto nq = static_cast<std::size_t>(world.nq());
    update_kinematics(world, Eigen::Map<const Eigen::VectorXd>(r.q.data() + i * nq, world.nq()), data);
    for (const Eigen::Isometry3d& X : data.X_WB) append(poses, X);
    append(centers, moves ? center_of_mass(world, data) : Eigen::Vector3d(Eigen::Vector3d::Zero()));
  }
  write_names(body_names(world), "body_names", out);
  out.rows("body_mass", masses, {});
  out.table("body_poses", poses, r.states(), {masses.size(), 7});
  out.rows("center_of_mass", centers, {3});
}

void write_states(const World& world, const Trajectory& r, NpzWriter& out) {
  const std::size_t nq = static_cast<std::size_t>(world.nq()), nv = static_cast<std::size_t>(world.nv());
  out.rows("time", r.time, {});
  out.table("q", r.q, r.states(), nq);
  out.table("v", r.v, r.states(), nv);
  write_names(position_names(world), "q_names", out);
  write_names(velocity_names(world), "v_names", out);
  out.table("tau", r.tau, r.states(), nv);
  out.table("tau_desired", r.tau_desired, r.states(), nv);
  out.table("drive_tau", r.drive_tau, r.states(), nv);
  out.rows("residual", r.residual, {});
  std::vector<std::string_view> parts;
  for (const NamedResidual& part : kResiduals) parts.emplace_back(part.name);
  out.words("certificate_names", parts);
  out.table("certificate", r.certificate, r.states(), parts.size());
  out.rows("penetration", r.penetration, {});
  out.rows("seconds", r.seconds, {kStages});
  out.integers("iterations", r.iterations);
  out.integers("sub_steps", r.sub_steps);
  out.integers("at_acceptable", r.at_acceptable);
  out.integers("saturated", r.saturated);
}

void write_contacts(const Trajectory& r, NpzWriter& out) {
  const std::vector<std::int64_t> bodies(r.contact_bodies.begin(), r.contact_bodies.end());
  out.integers("contact_offsets", r.contact_offsets);
  out.rows("contact_points", r.contact_points, {3});
  out.rows("contact_frames", r.contact_frames, {9});
  out.rows("contact_impulses", r.contact_impulses, {3});
  out.rows("contact_forces", r.contact_forces, {3});
  out.integers("contact_modes", r.contact_modes);
  out.integers("contact_bodies", bodies, {2});
  out.rows("contact_gaps", r.contact_gaps, {});
  out.rows("contact_mu", r.contact_mu, {});
}

void write_extras(const Trajectory& r, NpzWriter& out) {
  write_names(r.signal_names, "signal_names", out);
  out.table("signals", r.signals, r.states(), r.signal_names.size());
  write_names(r.target_names, "target_names", out);
  for (const auto& [key, points] : {std::pair{"targets", &r.targets}, std::pair{"reached", &r.reached}}) {
    out.table(key, *points, r.states(), 3 * r.target_names.size());
  }
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

void Trajectory::add_step(const State& state, const StepReport& report, const Eigen::Ref<const Eigen::VectorXd>& applied,
                          const Eigen::Ref<const Eigen::VectorXd>& desired, int cut) {
  time.push_back(state.time);
  append(q, state.q);
  append(v, state.v);
  append(tau, applied);
  append(tau_desired, desired);
  residual.push_back(report.residual);
  certificate.insert(certificate.end(), report.certificate.begin(), report.certificate.end());
  penetration.push_back(report.deepest_penetration);
  seconds.insert(seconds.end(), report.seconds.begin(), report.seconds.end());
  iterations.push_back(report.iterations);
  sub_steps.push_back(report.sub_steps);
  at_acceptable.push_back(report.at_acceptable() ? 1 : 0);
  saturated.push_back(cut);
  contact_offsets.push_back(contact_offsets.back());
}

void Trajectory::add(const State& state) {
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(state.v.size());
  add_step(state, {}, none, none, 0);
  append(drive_tau, none);
  signals.resize(states() * signal_names.size());
  targets.resize(3 * states() * target_names.size());
  reached.resize(targets.size());
}

void Trajectory::add(const State& state, const Stepper& stepper, const StepReport& report,
                     const Eigen::Ref<const Eigen::VectorXd>& applied) {
  add(state, stepper, report, applied, applied, 0);
}

void Trajectory::add(const State& state, const Stepper& stepper, const StepReport& report, const Eigen::Ref<const Eigen::VectorXd>& applied,
                     const Eigen::Ref<const Eigen::VectorXd>& desired, int cut) {
  add_step(state, report, applied, desired, cut);
  Eigen::VectorXd driven;
  stepper.drive_torques(stepper.options().assemble.drives, driven);
  append(drive_tau, driven);
  StepForces forces;
  stepper.contact_forces(forces);
  for (std::size_t i = 0; i < forces.points.size(); ++i) {
    const ContactPoint& contact = forces.points[i];
    const Eigen::Matrix<double, 3, 3, Eigen::RowMajor> frame = contact.R_WC();
    append(contact_points, contact.p_WC);
    append(contact_frames, Eigen::Map<const Eigen::VectorXd>(frame.data(), frame.size()));
    append(contact_impulses, forces.impulses.segment<3>(3 * static_cast<Eigen::Index>(i)));
    append(contact_forces, forces.force(i));
    contact_gaps.push_back(contact.gap);
    contact_mu.push_back(forces.mu[i]);
    contact_modes.push_back(static_cast<int>(forces.modes[i]));
    contact_bodies.insert(contact_bodies.end(), {contact.body_a, contact.body_b});
  }
  contact_offsets.back() += static_cast<std::int64_t>(forces.points.size());
}

void Trajectory::stepped_with(const StepOptions& options) {
  law = to_string(options.contact.law);
  scheme = to_string(options.scheme);
  dt = options.assemble.dt;
  tolerance = options.contact.tolerance;
}

void save_trajectory(const std::filesystem::path& path, const World& world, const Trajectory& trajectory) {
  if (path.extension() != ".npz") throw InvalidArgument("path", "a name that ends in .npz", "'" + path.string() + "'");
  NpzWriter out;
  const std::string_view format = "stiction trajectory";
  out.words("format", {&format, 1});
  out.scalar("version", 6.0);
  write_run(world, trajectory, out);
  write_states(world, trajectory, out);
  write_bodies(world, trajectory, out);
  write_contacts(trajectory, out);
  write_extras(trajectory, out);
  write_shapes(world, out);
  write_file(path.string(), out.archive());
}

}  // namespace stiction
