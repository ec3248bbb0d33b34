// Where the models and scenes that come with stiction are: the folder that the environment variable STICTION_MODELS names, or
// share/stiction/models (an installation) or models (a checkout) in a folder above the running program or Python module.
#pragma once

#include <string>
#include <vector>

namespace stiction {

/// `name` itself when it is an existing path; otherwise that file of the shipped models; otherwise the shipped scene of that name
/// ("stack" is scenes/stack.toml). Throws FileError that names where it looked, and the scenes there are.
std::string model_path(const std::string& name);

struct ShippedScene {
  std::string name;   ///< as model_path takes it
  std::string file;   ///< its path
  std::string about;  ///< the comment at its head: its first line
};

/// By name; empty where no models are found.
std::vector<ShippedScene> shipped_scenes();
/// The folder of models in use; empty where there is none.
std::string shipped_folder();

}  // namespace stiction
