// Friction-contact problems of other projects' simulations (../shared/data/fc3d): rank-deficient, asymmetric, with few digits.
#include <filesystem>

#include <gtest/gtest.h>

#include "stiction/base/errors.hpp"
#include "stiction/io/problem_file.hpp"
#include "stiction/laws/solve.hpp"
#include "stiction/problem/reduced_certificate.hpp"
#include "test_paths.hpp"

namespace stiction::fc3d_test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = STICTION_SOURCE_DIR "/../shared/data/fc3d";
constexpr int kLargest = 200;  // contacts; the two larger ones take seconds in one dense block of 750 columns

struct Count {
  int tried = 0, solved = 0;
};

void try_file(const fs::path& file, SolveWorkspace& workspace, Count& count) {
  const AnyProblem any = load_problem(file);
  ASSERT_TRUE(std::holds_alternative<ReducedProblem>(any)) << file;
  const auto& problem = std::get<ReducedProblem>(any);
  if (problem.contacts() > kLargest) return;
  SolveOptions options;
  options.law = Law::coulomb_cone;
  Impulses impulses;
  solve_reduced(problem, options, workspace, impulses);
  const Certificate certificate = certify(problem, lowered(problem, options), impulses.lambda, impulses.beta);
  ++count.tried;
  const bool solved = certificate.natural_map.raw <= 1e-8 && certificate.natural_map.scaled <= 1e-8;
  count.solved += solved;
  EXPECT_TRUE(solved) << file.filename() << " natural map " << certificate.natural_map.raw;
  EXPECT_TRUE(solved || impulses.status != Status::solved) << file.filename();
}

TEST(Fc3dFiles, ExactLawSolvesEveryProblem) {
  if (!fs::is_directory(kFolder)) GTEST_SKIP() << "no friction-contact files at " << kFolder;
  SolveWorkspace workspace;
  Count count;
  for (const fs::directory_entry& file : fs::directory_iterator(kFolder)) {
    try {
      try_file(file.path(), workspace, count);
    } catch (const FileError&) {
      if (file.path().extension() != ".hdf5") throw;  // a build may come without HDF5
    }
  }
  EXPECT_GE(count.tried, 28);
  EXPECT_EQ(count.solved, count.tried);
}

}  // namespace
}  // namespace stiction::fc3d_test
