// ODE (Open Dynamics Engine, libode-dev) behind a few C functions, for scene_engines/ode.py: defaults of the engine, quick step, contacts
// of dCollide; bodies of mass m with inertia about the centre of mass, no damping, never put to sleep.
#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <ode/ode.h>

namespace {

// Contacts that dCollide is asked for of a pair; a box on a box has at most 8.
constexpr int kMost = 8;

struct Convex {
  std::vector<dReal> planes, points;
  std::vector<unsigned> polygons;
};

struct OdeScene {
  dWorldID world = dWorldCreate();
  dSpaceID space = dHashSpaceCreate(nullptr);
  dJointGroupID joints = dJointGroupCreate(0);
  std::vector<dBodyID> bodies;
  std::deque<Convex> convexes;  // which ODE points into
  double friction = 0.0;
  int contacts = 0;
};

void collide(void* data, dGeomID a, dGeomID b) {
  OdeScene& scene = *static_cast<OdeScene*>(data);
  const dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
  if (body_a == nullptr && body_b == nullptr) return;
  std::array<dContact, kMost> found{};
  const int count = dCollide(a, b, kMost, &found[0].geom, sizeof(dContact));
  for (dContact& contact : std::span(found).first(static_cast<std::size_t>(count))) {
    contact.surface.mode = dContactApprox1;  // friction pyramid, its bounds from the normal forces
    contact.surface.mu = scene.friction;
    dJointAttach(dJointCreateContact(scene.world, scene.joints, &contact), body_a, body_b);
  }
  scene.contacts += count;
}

OdeScene& of(void* scene) { return *static_cast<OdeScene*>(scene); }

}  // namespace

extern "C" {

void* ode_scene(double friction, double gravity) {
  static const int initialised = dInitODE2(0);
  static_cast<void>(initialised);
  auto* scene = new OdeScene;
  scene->friction = friction;
  dWorldSetGravity(scene->world, 0.0, 0.0, -gravity);
  return scene;
}

void ode_free(void* scene) {
  dJointGroupDestroy(of(scene).joints);
  dSpaceDestroy(of(scene).space);
  dWorldDestroy(of(scene).world);
  delete &of(scene);
}

void ode_plane(void* scene, const double* normal, double offset) { dCreatePlane(of(scene).space, normal[0], normal[1], normal[2], offset); }

// pose: position (3) and quaternion (4; w x y z) of the centre of mass; inertia (9) about it, body axes; velocity (3), world.
int ode_body(void* scene, double mass, const double* inertia, const double* pose, const double* velocity) {
  OdeScene& s = of(scene);
  dBodyID body = s.bodies.emplace_back(dBodyCreate(s.world));
  dMass m;
  dMassSetParameters(&m, mass, 0.0, 0.0, 0.0, inertia[0], inertia[4], inertia[8], inertia[1], inertia[2], inertia[5]);
  dBodySetMass(body, &m);
  dBodySetPosition(body, pose[0], pose[1], pose[2]);
  dBodySetQuaternion(body, pose + 3);
  dBodySetLinearVel(body, velocity[0], velocity[1], velocity[2]);
  return static_cast<int>(s.bodies.size()) - 1;
}

void ode_sphere(void* scene, int body, double radius) { dGeomSetBody(dCreateSphere(of(scene).space, radius), of(scene).bodies[body]); }

void ode_box(void* scene, int body, const double* edges) {
  dGeomSetBody(dCreateBox(of(scene).space, edges[0], edges[1], edges[2]), of(scene).bodies[body]);
}

void ode_capsule(void* scene, int body, double radius, double length) {
  dGeomSetBody(dCreateCapsule(of(scene).space, radius, length), of(scene).bodies[body]);
}

// points (count, 3) from the centre of mass; planes (triangles, 4): outward normal and offset; corners (triangles, 4): 3 and three points.
void ode_convex(void* scene, int body, const double* points, int count, const double* planes, const unsigned* corners, int triangles) {
  OdeScene& s = of(scene);
  const auto n = static_cast<std::size_t>(count), m = static_cast<std::size_t>(triangles);
  const Convex& convex = s.convexes.emplace_back(Convex{{planes, planes + 4 * m}, {points, points + 3 * n}, {corners, corners + 4 * m}});
  dGeomSetBody(dCreateConvex(s.space, convex.planes.data(), static_cast<unsigned>(m), convex.points.data(), static_cast<unsigned>(n),
                             convex.polygons.data()),
               s.bodies[body]);
}

void ode_step(void* scene, double dt) {
  OdeScene& s = of(scene);
  s.contacts = 0;
  dSpaceCollide(s.space, &s, &collide);
  dWorldQuickStep(s.world, dt);
  dJointGroupEmpty(s.joints);
}

// Per body: position (3), quaternion (4; w x y z), linear velocity (3) and angular velocity (3), all of the world.
void ode_state(void* scene, double* out) {
  for (dBodyID body : of(scene).bodies) {
    for (const auto& [values, count] : {std::pair{dBodyGetPosition(body), 3}, std::pair{dBodyGetQuaternion(body), 4},
                                        std::pair{dBodyGetLinearVel(body), 3}, std::pair{dBodyGetAngularVel(body), 3}}) {
      for (int i = 0; i < count; ++i) *out++ = values[i];
    }
  }
}
}
