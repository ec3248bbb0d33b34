// ADMM and PGS of Pinocchio 4 for the Signorini-Coulomb problem, with their default settings but tolerances and iterations.
#include <pthread.h>

#include <chrono>
#include <system_error>
#include <vector>

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/algorithm/solvers/pgs-solver.hpp>

#include "stiction/baselines/peer_solvers.hpp"

namespace stiction::peers {

namespace {

namespace pin = pinocchio;

// PGS lays copies of W on the stack, which end the program from 340 contacts on at the usual 8 MB: it gets a thread with a stack of its
// size.
template <class Work>
void run_on_stack_for(Eigen::Index rows, Work& work) {
  const auto bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows) * sizeof(double);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (std::size_t{16} << 20) + 4 * bytes);
  pthread_t thread;
  const auto call = [](void* pointer) -> void* {
    (*static_cast<Work*>(pointer))();
    return nullptr;
  };
  const int error = pthread_create(&thread, &attributes, call, &work);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "a thread for Pinocchio's solver");
  pthread_join(thread, nullptr);
}

using Contact = pin::PointContactConstraintModelTpl<double, 0>;

// The solvers ask a contact for its cone alone; that it must hang on a joint of some model is a formality.
template <class Solver, class Settings, class Result>
Answer run(const DenseContacts& problem, double tolerance, int max_iterations) {
  pin::Model model;
  model.addJoint(0, pin::JointModelFreeFlyer(), pin::SE3::Identity(), "body");
  std::vector<Contact> models;
  std::vector<Contact::ConstraintData> datas;
  for (const double mu : problem.mu) {
    models.emplace_back(model, 1, pin::SE3::Identity(), 0, pin::SE3::Identity());
    models.back().setFriction(mu);
    datas.push_back(models.back().createData());
  }
  Solver solver;
  Settings settings;
  Result result;
  settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance;
  settings.relative_feasibility_tol = settings.relative_complementarity_tol = tolerance;
  settings.max_iterations = static_cast<std::size_t>(max_iterations);
  pin::DelassusOperatorDenseTpl<double, 0> delassus(problem.W);
  Answer answer;
  auto solve = [&] {
    const auto start = std::chrono::steady_clock::now();
    answer.converged = solver.solve(delassus, problem.q, models, datas, settings, result);
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  run_on_stack_for(problem.q.size(), solve);
  answer.iterations = static_cast<int>(result.iterations);
  answer.x.resize(problem.q.size());
  result.retrieveConstraintImpulses(answer.x);
  return answer;
}

}  // namespace

Answer pinocchio_admm(const DenseContacts& problem, double tolerance, int max_iterations) {
  return run<pin::ADMMConstraintSolverTpl<double, 0>, pin::ADMMSolverSettingsTpl<double>, pin::ADMMSolverResultTpl<double, 0>>(
      problem, tolerance, max_iterations);
}

Answer pinocchio_pgs(const DenseContacts& problem, double tolerance, int max_iterations) {
  return run<pin::PGSConstraintSolverTpl<double, 0>, pin::PGSSolverSettingsTpl<double>, pin::PGSSolverResultTpl<double, 0>>(
      problem, tolerance, max_iterations);
}

}  // namespace stiction::peers
