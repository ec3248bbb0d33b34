// What the cone solver keeps between calls.
#pragma once

#include "stiction/programs/cone/working_set.hpp"

namespace stiction {

/// Memory and symbolic factorisations; grows on first use.
struct ConeWorkspace {
  ConeMemory memory;
  WorkingSet set;
};

}  // namespace stiction
