#include "contact_laws.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"

namespace stiction::python {

namespace {

using Eigen::Index;

const MaterialField& field_named(const std::string& name, const std::string& where) {
  const auto found = std::ranges::find(kMaterialFields, name, &MaterialField::name);
  if (found != kMaterialFields.end()) return *found;
  std::string known = "spring";
  for (const MaterialField& field : kMaterialFields) known += fmt::format(", {}", field.name);
  throw InvalidArgument(where, "a parameter among " + known, "'" + name + "'");
}

std::string text(nb::handle value) { return nb::str(value).c_str(); }

// The elements of whatever Python can iterate over.
std::vector<nb::object> elements(const nb::object& value, const char* argument, const char* expected) {
  std::vector<nb::object> out;
  try {
    for (nb::handle item : value) out.push_back(nb::borrow(item));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    throw InvalidArgument(argument, expected, text(value));
  }
  return out;
}

double read_number(nb::handle value, const std::string& where) {
  const Numbers number(nb::borrow<ArrayLike>(value), where.c_str(), 0);
  return number.vector()[0];
}

ContactMaterial read_material(nb::handle value, Index contact) {
  const std::string where = fmt::format("material[{}]", contact);
  if (!nb::isinstance<nb::dict>(value)) throw InvalidArgument(where, "a dictionary of parameters", text(value));
  ContactMaterial out;
  for (const auto& [key, number] : nb::borrow<nb::dict>(value)) {
    const std::string name = text(key);
    if (name == "spring") {
      const Numbers pair(nb::borrow<ArrayLike>(number), (where + ".spring").c_str(), 1);
      require_size(where + ".spring", pair.vector().size(), 2);
      out.spring = {pair.vector()[0], pair.vector()[1]};
    } else {
      out.*field_named(name, where).member = read_number(number, where + "." + name);
    }
  }
  return out;
}

std::vector<ContactMaterial> read_columns(const nb::dict& columns, Index n) {
  std::vector<ContactMaterial> out(n);
  for (const auto& [key, value] : columns) {
    const std::string name = text(key), where = "material." + name;
    if (name == "spring") {
      const Numbers pairs(nb::borrow<ArrayLike>(value), where.c_str(), 2);
      require_size(where + ".shape[0]", pairs.matrix().rows(), n);
      require_size(where + ".shape[1]", pairs.matrix().cols(), 2);
      for (Index i = 0; i < n; ++i) out[i].spring = {pairs.matrix()(i, 0), pairs.matrix()(i, 1)};
      continue;
    }
    const MaterialField& field = field_named(name, "material");
    const Eigen::VectorXd numbers = per_item(nb::borrow<ArrayLike>(value), where.c_str(), n, 0.0);
    require_size(where, numbers.size(), n);
    for (Index i = 0; i < n; ++i) out[i].*field.member = numbers[i];
  }
  return out;
}

}  // namespace

std::vector<Law> read_laws(const nb::object& value, Index n) {
  std::vector<Law> out;
  if (nb::isinstance<nb::str>(value)) {
    out.assign(n, law_from_string(text(value)));
  } else {
    for (const nb::object& name : elements(value, "laws", "a law's name, or one per contact")) out.push_back(law_from_string(text(name)));
  }
  validate_contact_laws(out, {}, n);
  return out;
}

nb::list write_laws(const std::vector<Law>& laws) {
  nb::list out;
  for (const Law law : laws) out.append(std::string(to_string(law)).c_str());
  return out;
}

std::vector<ContactMaterial> read_materials(const nb::object& value, Index n) {
  std::vector<ContactMaterial> out;
  if (nb::isinstance<nb::dict>(value)) {
    out = read_columns(nb::borrow<nb::dict>(value), n);
  } else {
    for (const nb::object& item : elements(value, "material", "a dictionary, or one per contact"))
      out.push_back(read_material(item, static_cast<Index>(out.size())));
  }
  validate_contact_laws({}, out, n);
  return out;
}

nb::list write_materials(const std::vector<ContactMaterial>& materials) {
  nb::list out;
  for (const ContactMaterial& material : materials) {
    nb::dict fields;
    for (const MaterialField& field : kMaterialFields) fields[std::string(field.name).c_str()] = material.*field.member;
    fields["spring"] = nb::make_tuple(material.spring[0], material.spring[1]);
    out.append(fields);
  }
  return out;
}

}  // namespace stiction::python
