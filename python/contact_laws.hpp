// Contacts' own laws and materials, in and out of Python.
#pragma once

#include <vector>

#include "arrays.hpp"
#include "stiction/problem/contact_law.hpp"

namespace stiction::python {

/// One law's name for all of n contacts, or n names. Throws InvalidArgument.
std::vector<Law> read_laws(const nb::object& value, Eigen::Index n);
nb::list write_laws(const std::vector<Law>& laws);

/// A dictionary {field: number for all or array of n}, or n dictionaries {field: number}; "spring" is two numbers per contact. Fields left
/// out have their default. Throws InvalidArgument naming contact and field.
std::vector<ContactMaterial> read_materials(const nb::object& value, Eigen::Index n);
nb::list write_materials(const std::vector<ContactMaterial>& materials);

}  // namespace stiction::python
