// The Python package of the same environment, for what is its business: the viewer, figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stiction::cli {

/// Becomes `python -m module arguments...`. Throws InvalidArgument where no interpreter lies beside the command, naming `what` needs it.
[[noreturn]] void become_python(const std::string& what, const std::string& module, const std::vector<std::string>& arguments);
/// Runs it with `input` on its standard input; its exit code.
int run_python(const std::string& what, const std::string& module, const std::vector<std::string>& arguments, std::string_view input);

}  // namespace stiction::cli
