// Where the models that come with stiction are.
#pragma once

#include <string>

namespace stiction {

/// `name` itself when it is an existing path; otherwise share/stiction/models/`name` beside the running executable's bin/, or models/`name`
/// above it (a build folder inside the checkout), or $STICTION_MODELS/`name`. Throws FileError that lists where it looked.
std::string model_path(const std::string& name);

}  // namespace stiction
