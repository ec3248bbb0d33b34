// The contact problem after its bilateral rows are eliminated: what every law and solver sees.
//
//   y  = Σ R_i λ_i + Σ B_j β_j                    r, whitened change of velocity: v⁺ = v_free + L⁻ᵀ Z y,  M = L Lᵀ,  ZᵀZ = 1
//   u  = R_t y + u_free                          3n contact velocities (N S T);  G = R_t R_tᵀ = J L⁻ᵀ Z Zᵀ L⁻¹ Jᵀ, rank <= r
//   w  = B_t y + w_free                            m velocities of the bounded rows, minus their targets
// with Z an orthonormal basis of the null space of J_B L⁻ᵀ, J_B the bilateral rows (those with infinite bounds), over the coordinates that
// are not prescribed. For inverse dynamics of
// a floating base r = 6 whatever the number of contacts; for K free bodies R_t is block-sparse with r = 6 K. Nothing that `reduce` gives
// is 3n x 3n. Bilateral rows are factored by fronts (base/null_space.hpp) in the coordinates that M's blocks whiten, so a robot cut at
// its joints costs what its links do. Cost of `reduce`: Σ_k n_k³/6 over the blocks of M, plus the fronts, plus contacts times r; memory
// of the workspace is reused.
#pragma once

#include "stiction/base/disjoint_sets.hpp"
#include "stiction/base/envelope_cholesky.hpp"
#include "stiction/base/null_space.hpp"
#include "stiction/problem/contact_problem.hpp"

namespace stiction {

/// u = R_t (R_tᵀ λ + B_tᵀ β) + u_free. Solvers take this type alone; see the file comment for symbols.
struct ReducedProblem {
  BlockRows Rt;              ///< 3n x r, row-major groups N S T (kg^-1/2)
  GrowVector u_free;         ///< 3n, contact velocities without contact and bounded impulses (m/s)
  GrowVector offset;         ///< n, the law demands 0 <= λ_N ⊥ u_N + offset >= 0 (m/s)
  GrowVector mu;             ///< n
  std::vector<char> closed;  ///< n, see find_closed
  double dt = 1.0;           ///< s; 1 where the problem came without a step
  double velocity = 0.0;     ///< m/s, largest before the reduction: known, free, of rows that always pull; at least 1e-290; 0: unknown
  GrowVector gap;            ///< n, signed distance before the step (m); empty: all zero
  GrowVector u_before;       ///< 3n, contact velocities J v before the step (m/s); empty: all zero
  GrowVector restitution;    ///< n, Newton restitution of the normal velocity; empty: all zero. `offset` has its share already
  GrowVector edge_angle;     ///< n or empty: angle of the first vertex of each contact's polygon from its first tangent (edge_angles)
  GrowVector weight;         ///< n, trace(J_i M⁻¹ J_iᵀ)/3 (1/kg), see contact_weights.hpp; empty: of G in its place
  std::vector<Law> laws;     ///< n or empty, as in ContactProblem
  std::vector<ContactMaterial> material;  ///< n or empty, as in ContactProblem
  BlockRows Bt;                           ///< m x r, bounded rows; one with compliance R has √R in a column of its own
  GrowVector w_free;                      ///< m, their velocity error J_b v - b without impulses (m/s, rad/s)
  GrowVector lo, hi;                      ///< m, bounds of their impulses (N s, N m s)
  std::vector<std::uint64_t> ids;         ///< n or empty, as in ContactProblem
  std::vector<std::uint64_t> row_ids;     ///< m or empty, as in ContactProblem
  BlockRows delassus;  ///< W itself, defect included, as blocks of 3 x 3, of a problem read as a large sparse W; no groups otherwise
  GrowMatrix defect;   ///< 3n x 3n or empty: W - R_t R_tᵀ of a problem read as a W that is not exactly symmetric semidefinite
  BlockRows Rt_before;  ///< rows J L⁻ᵀ before bilateral rows are eliminated: G of the coordinates that the system is written in [G14, Eq.
                        ///< 15]; no columns where nothing is eliminated, or not asked
  BlockRows Bt_before;  ///< likewise of the bounded rows
  GrowVector y_free;  ///< r, Zᵀ Lᵀ v_free: kinetic energy of v⁺ is |y + y_free|²/2 + const (kinetic-energy objective [ZD15, Eq. 63])

  int contacts() const { return Rt.groups(); }
  int bounded_rows() const { return Bt.groups(); }
  int rank_bound() const { return Rt.cols(); }
};

/// Whether all rows of R_t and B_t are stored whole, in the one block of columns: one robot.
bool has_one_block(const ReducedProblem& problem);
/// (R_t, B_t)(R_t, B_t)ᵀ of such a problem: (3n + m) square.
void dense_delassus(const ReducedProblem& problem, GrowMatrix& out);

/// Sizes and values of all members; throws InvalidArgument naming the member.
void validate(const ReducedProblem& problem);

/// What is needed to go back from y to velocities and bilateral impulses. Reused between calls.
struct Reduction {
  ReducedProblem reduced;
  GrowVector v_free;                  ///< nv, velocity without contact and bounded impulses
  std::vector<int> bilateral;         ///< rows of J_b with infinite bounds
  std::vector<int> bounded;           ///< rows of J_b with a finite bound: row j of Bt is row bounded[j] of J_b
  std::vector<int> fixed;             ///< bounded rows that prescribed coordinates and bilateral rows hold, settled by `reduce`
  std::vector<double> fixed_impulse;  ///< their impulses (N s)

  struct Block {                   ///< the free coordinates of one block of M, whitened: x = Lᵀ v
    std::vector<int> coordinates;  ///< velocity coordinates without the prescribed ones, the last first, so that the leaves of a robot's
                                   ///< tree come before what carries them and its factor has no fill
    int columns = 0;               ///< block of reduced columns
    int coupled = -1, member = 0;  ///< where bilateral rows touch it: place among `coupled`, and in its list of blocks
    int offset = 0;                ///< of its coordinates among the columns of R_t, or among those of the coupled set
    GrowMatrix inertia;            ///< its block of M
    EnvelopeCholesky cholesky;     ///< L of M
    Eigen::Matrix<double, 6, 6> inverse;  ///< L⁻¹ where there are 6 coordinates, as of free bodies and of floating bases
    int size() const { return static_cast<int>(coordinates.size()); }
  };
  struct Coupled {                          ///< blocks that bilateral rows tie together
    std::vector<int> sizes;                 ///< of its blocks
    std::vector<int> bilateral;             ///< rows of J_b
    int columns = 0, offset = 0, size = 0;  ///< block of reduced columns; its first column and width
    int coordinates = 0;                    ///< of all its blocks
    NullSpace null_space;                   ///< of the rows in whitened coordinates: orthonormal there, so that ZᵀMZ = 1
    GrowVector x, target;                   ///< whitened velocities or momenta; what the rows ask of them
  };
  std::vector<Block> blocks, spare;  ///< spare: those of larger problems, kept for their memory
  std::vector<Coupled> coupled;      ///< the first `coupled_sets` are in use
  int coupled_sets = 0;
  std::vector<int> coupled_of;      ///< of a block of reduced columns, -1 for one block of M alone
  std::vector<int> block_of;        ///< nv: block of a coordinate, -1 when prescribed
  std::vector<int> index_in_block;  ///< nv: its place in Block::coordinates
  std::vector<char> is_prescribed;  ///< nv
  DisjointSets joined;
  std::vector<int> root, block_sizes, columns_of_root;
  std::vector<int> last_sizes, last_root;  ///< of M and its blocks, where `blocks` were last made
  std::vector<char> last_prescribed;       ///< the same
  bool eliminates = false;                 ///< any coordinate or row; otherwise the reduced blocks are the blocks of M
  std::vector<int> sizes_before;           ///< of the blocks of columns of Rt_before
  GrowVector momentum, momentum_scratch, y_momentum, scratch;
};

struct ReduceOptions {
  /// Leaves the bilateral rows of J_b among the rows of B_t, with infinite bounds, for iterations that treat them so; prescribed
  /// coordinates are eliminated all the same.
  bool keep_bilateral = false;
  bool velocity_before = true;  ///< fills u_before, which only `moreau` and viscous friction of the slip before the step read
  bool rows_before = false;     ///< fills Rt_before and Bt_before, which only jor and sor read
};

/// Eliminates the bilateral rows. The problem must be valid (see `validate`). Redundant bilateral rows are allowed.
void reduce(const ProblemView& problem, Reduction& reduction, const ReduceOptions& options = {});

/// The same for the problem that was reduced last, at other prescribed velocities: R stays. False, and nothing is done, where it has rows
/// besides contacts.
bool change_prescribed(const ProblemView& problem, Reduction& reduction);

/// Velocities (nv) of least kinetic energy at which the bilateral rows of the problem reduced last are at `targets` (m, one per row of
/// J_b, in place of b; those of other rows are not read), prescribed coordinates at zero.
void least_motion(Reduction& reduction, const Eigen::Ref<const Eigen::VectorXd>& targets, GrowVector& v);

/// v⁺ = v_free + L⁻ᵀ Z (R λ + Bᵀ β); λ is 3n, β the bounded rows' impulses, v_plus resized to nv.
void recover_velocity(Reduction& reduction, const Eigen::Ref<const Eigen::VectorXd>& lambda, const Eigen::Ref<const Eigen::VectorXd>& beta,
                      GrowVector& v_plus);

/// The same from y itself (r): where large impulses cancel, v⁺ is as exact as y.
void recover_velocity(Reduction& reduction, const Eigen::Ref<const Eigen::VectorXd>& y, GrowVector& v_plus);

/// λ_b (all m rows of J_b) from the impulses β of the rows of Bt; bilateral rows are left at zero.
void expand_bounded(const ProblemView& problem, const Reduction& reduction, const Eigen::Ref<const Eigen::VectorXd>& beta,
                    GrowVector& lambda_b);

/// Multipliers of the prescribed coordinates from the momentum balance:
/// λ_P = (M (v⁺ - v) - p - Jᵀλ - J_bᵀ λ_b)[prescribed]; tau = λ_P / h. λ_b has size m, all rows of J_b.
/// When J_b has bilateral rows, their λ_b entries are first filled in (least norm).
void recover_bilateral(const ProblemView& problem, Reduction& reduction, const Eigen::Ref<const Eigen::VectorXd>& v_plus,
                       const Eigen::Ref<const Eigen::VectorXd>& lambda, GrowVector& lambda_b, GrowVector& lambda_prescribed);

/// A problem known only as u = W λ + q [Siconos, FCLIB]: factors the symmetric part of W (3n x 3n, rows N S T) as R_t R_tᵀ plus what is
/// not positive semidefinite of it; `defect` holds the rest of W when it is above rounding. One block of columns per set of contacts
/// that W couples. Throws InvalidArgument when W is asymmetric beyond 2e-2 or indefinite beyond 1e-6 of its size: data written
/// with few digits passes, a wrong matrix does not. `symmetric_part`: (W + Wᵀ)/2 in place of W, and no defect for asymmetry. y_free is the
/// one of least |R_t y_free - q|, the motion that the contacts can tell.
ReducedProblem reduce_dense(const Eigen::Ref<const Eigen::MatrixXd>& W, const Eigen::Ref<const Eigen::VectorXd>& q,
                            const Eigen::Ref<const Eigen::VectorXd>& mu, bool symmetric_part = false);

}  // namespace stiction
