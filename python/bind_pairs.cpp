// Which bodies of a world collide, and what their contacts are made of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "contact_laws.hpp"
#include "stiction/base/errors.hpp"
#include "stiction/base/ranges.hpp"
#include "world_handle.hpp"

namespace stiction::python {

namespace {

using namespace nb::literals;
using Names = std::pair<std::string, std::string>;

void require_two(const std::string& a, const std::string& b) {
  if (a == b) throw InvalidArgument("b", "another body than a", "'" + b + "'");
}

void exclude(WorldHandle& world, const std::string& a, const std::string& b) { world.exclude(a, b); }

void set_pair(WorldHandle& world, const std::string& a, const std::optional<std::string>& b, std::optional<double> friction,
              std::optional<double> restitution, const std::optional<std::string>& law, const nb::kwargs& parameters) {
  if (b) require_two(a, *b);
  PairMaterial pair{world.world().body(a, "a"), b ? world.world().body(*b, "b") : kAnyBody, friction, restitution, {}, {}};
  if (friction) require_friction("friction", *friction);
  if (restitution) require_share("restitution", *restitution);
  if (law) pair.law = law_from_string(*law);
  if (parameters.size() > 0) {
    const ContactMaterial given = read_materials(nb::borrow<nb::dict>(parameters), 1)[0];
    ContactMaterial all = world.scene().options.assemble.material.value_or(ContactMaterial{});
    for (const MaterialField& field : kMaterialFields) {
      if (parameters.contains(std::string(field.name).c_str())) all.*field.member = given.*field.member;
    }
    pair.material = all;
  }
  world.set_pair(pair);
}

std::vector<Names> collision_pairs(WorldHandle& world) {
  const CollisionScene& scene = world.collision_scene();
  const auto geometries = scene.geometries();
  std::vector<Names> pairs;
  for (int a = 0; a < static_cast<int>(geometries.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(geometries.size()); ++b) {
      if (!scene.may_collide(a, b)) continue;
      pairs.emplace_back(geometries[a].name, geometries[b].name);
    }
  }
  return pairs;
}

}  // namespace

void bind_pairs(nb::class_<WorldHandle>& world) {
  world
      .def("exclude", &exclude, "a"_a, "b"_a,
           R"(Bodies or links a and b, by name (or "robot/name"), never collide.

A body's name stands for all that is fixed to it, another link's name for that link alone.)")
      .def("set_pair", &set_pair, "a"_a, "b"_a = nb::none(), "friction"_a = nb::none(), "restitution"_a = nb::none(), "law"_a = nb::none(),
           "parameters"_a,
           R"(What the contacts of two bodies, by name of the body or of a link of it, have of their own.

b: None for whatever a touches. friction: mu >= 0; restitution: in [0, 1]; law: one of LAWS, None for that of all contacts; stiffness, damping, ...: parameters of the law
by name, as in the material of a ContactProblem. What is left out stays as the shapes and the world say. The last call that fits a contact counts.)")
      .def_prop_ro("collision_pairs", &collision_pairs,
                   "Names of the shapes that are tested against each other, pair by pair: what remains of all exclusions and filters");
}

}  // namespace stiction::python
