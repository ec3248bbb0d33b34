// export_problems FOLDER COUNT CONTACTS...: the benchmark's biped problems, prescribed rows set, as FOLDER/biped_CONTACTS_INDEX.npz, so
// that peers can be given the same work (bench/compare).
#include <cstdlib>

#include <fmt/format.h>

#include "bench/biped.hpp"
#include "stiction/io/problem_file.hpp"

int main(int argc, char** argv) {
  using namespace stiction;
  if (argc < 4) {
    fmt::print(stderr, "usage: export_problems FOLDER COUNT CONTACTS...\n");
    return 2;
  }
  const int count = std::atoi(argv[2]);
  for (int a = 3; a < argc; ++a) {
    const int contacts = std::atoi(argv[a]);
    bench::Biped biped = bench::make_biped(contacts, 0.6, 64);
    for (int k = 0; k < count; ++k) {
      bench::BipedProblem& p = biped.problems[static_cast<std::size_t>(k) % biped.problems.size()];
      p.problem.prescribed = biped.joints;
      p.problem.v_prescribed = p.v_desired;
      save_problem(fmt::format("{}/biped_{}_{}.npz", argv[1], contacts, k), p.problem);
    }
  }
  return 0;
}
