// What `reduce` does with the velocities themselves: which blocks of M bilateral rows tie together, their whitened coordinates, and the
// null space of the rows in these. Internal to problem/reduced.cpp, which does the same to the rows of contacts.
#pragma once

#include "stiction/problem/reduced.hpp"

namespace stiction {

inline constexpr double kDependent = 1e-10;  ///< what is left of a whitened row that the bilateral rows span, over the row: rounding

/// Blocks, coupled sets and `coupled_of` of a problem whose rows are classified; factors of M; null spaces; block_sizes. The particular
/// velocities are added to v_free, which has the prescribed ones. Gives the number of reduced columns.
int couple_blocks(const ProblemView& p, Reduction& red);

/// Block of an entry's columns, all of which belong to one block of M; -1 when they are prescribed.
int reduced_block(const Reduction& red, const BlockRows& rows, int e);
/// Least block above `last` that group g touches; the number of blocks when there is none.
int next_block(const Reduction& red, const BlockRows& from, int g, int last);
/// Group g of `from` over the coordinates of block k, whitened: row i goes to to + i stride, where there are zeros.
void whiten_group(const Reduction& red, const BlockRows& from, int g, int k, double* to, Eigen::Index stride);

/// x <- L⁻¹ momentum[coordinates] of every block, in y where nothing couples it.
void whiten_blocks(Reduction& red, const GrowVector& momentum, GrowVector& y);
/// y = Zᵀ L⁻¹ momentum[coordinates].
void whiten(Reduction& red, const GrowVector& momentum, GrowVector& y);
/// v[coordinates] += L⁻ᵀ Z y.
void add_velocity(Reduction& red, const Eigen::Ref<const Eigen::VectorXd>& y, GrowVector& v);

}  // namespace stiction
