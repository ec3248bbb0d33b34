// Siconos' text format of friction-contact problems and LCPs.
//
//   local      dimension d (3, or 2 in the plane), contacts n, MATRIX W, q, mu        trailing numbers are flags, ignored
//   global     d, n, MATRIX M (any size s), MATRIX H (s x d n), q, b, mu:  M v = H r + q, u = Hᵀ v + b
//   LCP        n, MATRIX M, q                                                         remarks may follow
//   MATRIX     storage, rows, columns, then
//     0 dense          rows and columns again (left out by some writers), entries column by column
//     1 block-sparse   blocks, block rows, block columns, cumulative row sizes, cumulative column sizes, filled1, filled2,
//                      index1 (begin of each block row), index2 (block column of each block), then per block its number and its
//                      entries column by column
//     2 sparse         origin, two header lines as CSparse prints them, then "col j : locations a to b" with "i : x" lines,
//                      or "i j : x" lines for triplets
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/io/formats.hpp"
#include "stiction/problem/reduce_sparse.hpp"

namespace stiction {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Index kLargestLcp = 20000;
constexpr Index kMostContacts = 100000000;  // three rows each fit an int

// Numbers separated by white space, with the line for errors.
class Scanner {
 public:
  Scanner(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  [[noreturn]] void fail(std::string_view reason) const { throw FileError(file_, fmt::format("line {}", line_), reason); }

  /// Next word; empty at the end.
  std::string_view word() {
    while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n';
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  double number(std::string_view what) {
    std::string_view token = word();
    if (token.empty()) fail(fmt::format("the file ends where {} should be", what));
    const std::string_view shown = token;
    if (token.front() == '+') token.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error != std::errc{} || end != token.data() + token.size()) {
      fail(fmt::format("expected {}, got '{}'", what, shown.substr(0, 40)));
    }
    return value;
  }

  double finite(std::string_view what) {
    const double value = number(what);
    if (!std::isfinite(value)) fail(fmt::format("expected {}, a finite number, got {}", what, value));
    return value;
  }

  Index integer(std::string_view what, Index least, Index most) {
    const double value = number(what);
    if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value)) {
      fail(fmt::format("expected {}, an integer from {} to {}, got {}", what, least, most, value));
    }
    return static_cast<Index>(value);
  }

  /// A number takes two characters at least, so a file cannot hold more than this many further ones.
  Index most_numbers() const { return static_cast<Index>((text_.size() - at_ + 1) / 2); }
  void require_numbers(double count, std::string_view what) const {
    if (count > static_cast<double>(most_numbers())) fail(fmt::format("the file is too short for {:.0f} numbers of {}", count, what));
  }

  std::string_view rest_of_line() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void skip_word(std::string_view expected) {
    const std::string_view token = word();
    if (token != expected) fail(fmt::format("expected '{}', got '{}'", expected, token.substr(0, 40)));
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
  std::string file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

struct Entries {
  Index rows = 0;
  std::vector<Eigen::Triplet<double>> list;
  void add(Index row, Index col, double value) {
    if (value != 0.0) list.emplace_back(static_cast<int>(row), static_cast<int>(col), value);
  }
};

// Some writers repeat rows and columns. Two numbers that look like it are taken for it: a matrix that starts with them and is not
// preceded by them then ends too early, an error; the other way round, a truncated file could pass with its entries shifted.
void skip_repeated_size(Scanner& in, Index rows, Index cols) {
  Scanner ahead = in;
  if (ahead.most_numbers() < 2) return;
  if (ahead.number("the matrix") != static_cast<double>(rows) || ahead.number("the matrix") != static_cast<double>(cols)) return;
  in = ahead;
}

void read_dense(Scanner& in, Index rows, Index cols, Entries& out) {
  in.require_numbers(static_cast<double>(rows) * static_cast<double>(cols), "a dense matrix");
  skip_repeated_size(in, rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) out.add(i, j, in.finite("an entry of the matrix"));
  }
}

// Cumulative sizes; returns the begin of every block and the end.
std::vector<Index> read_sizes(Scanner& in, Index blocks, Index total, std::string_view what) {
  in.require_numbers(static_cast<double>(blocks), what);
  std::vector<Index> begin{0};
  for (Index k = 0; k < blocks; ++k) begin.push_back(in.integer(what, begin.back(), total));
  if (begin.back() != total) in.fail(fmt::format("{} end at {}, not at the size {} of the matrix", what, begin.back(), total));
  return begin;
}

void read_block(Scanner& in, Index row, Index rows, Index col, Index cols, Entries& out) {
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) out.add(row + i, col + j, in.finite("an entry of a block"));
  }
}

void read_block_sparse(Scanner& in, Index rows, Index cols, Entries& out) {
  const Index blocks = in.integer("the number of blocks", 0, in.most_numbers());
  const Index block_rows = in.integer("the number of block rows", 0, rows), block_cols = in.integer("the number of block columns", 0, cols);
  const std::vector<Index> row = read_sizes(in, block_rows, rows, "cumulative row sizes");
  const std::vector<Index> col = read_sizes(in, block_cols, cols, "cumulative column sizes");
  const Index filled1 = in.integer("filled1", 0, block_rows + 1), filled2 = in.integer("filled2", 0, blocks);
  std::vector<Index> begin, block_col;
  for (Index k = 0; k < filled1; ++k) begin.push_back(in.integer("index1", begin.empty() ? 0 : begin.back(), filled2));
  in.require_numbers(static_cast<double>(filled2), "index2");
  for (Index k = 0; k < filled2; ++k) block_col.push_back(in.integer("index2", 0, block_cols - 1));
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
    for (Index k = begin[r]; k < begin[r + 1]; ++k) {
      in.integer("the number of a block", k, k);
      const std::size_t c = static_cast<std::size_t>(block_col[k]);
      read_block(in, row[r], row[r + 1] - row[r], col[c], col[c + 1] - col[c], out);
    }
  }
}

// "m-by-n, nzmax: a nnz: b, ..." after an optional "triplet:"; returns b.
Index read_sparse_header(Scanner& in, bool& triplets) {
  in.integer("the origin of a sparse matrix", 0, 3);
  in.skip_word("CSparse");
  in.rest_of_line();
  std::string_view size = in.word();
  triplets = size == "triplet:";
  if (triplets) size = in.word();
  if (size.find("-by-") == std::string_view::npos)
    in.fail(fmt::format("expected the size of a sparse matrix, got '{}'", size.substr(0, 40)));
  in.skip_word("nzmax:");
  in.word();
  in.skip_word("nnz:");
  std::string_view count = in.word();
  Index entries = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), entries);
  if (error != std::errc{} || entries < 0) in.fail(fmt::format("expected the number of entries, got '{}'", count.substr(0, 40)));
  in.rest_of_line();
  in.require_numbers(static_cast<double>(entries), "a sparse matrix");
  return entries;
}

void read_sparse(Scanner& in, Index rows, Index cols, Entries& out) {
  bool triplets = false;
  const Index entries = read_sparse_header(in, triplets);
  if (triplets) {
    for (Index k = 0; k < entries; ++k) {
      const Index i = in.integer("a row", 0, rows - 1), j = in.integer("a column", 0, cols - 1);
      in.skip_word(":");
      out.add(i, j, in.finite("an entry of the matrix"));
    }
    return;
  }
  for (Index j = 0; j < cols; ++j) {
    in.skip_word("col");
    in.integer("the column", j, j);
    in.skip_word(":");
    in.skip_word("locations");
    const Index begin = in.integer("the first location", 0, entries);
    in.skip_word("to");
    const Index last = in.integer("the last location", begin - 1, entries - 1);
    for (Index k = begin; k <= last; ++k) {
      const Index i = in.integer("a row", 0, rows - 1);
      in.skip_word(":");
      out.add(i, j, in.finite("an entry of the matrix"));
    }
  }
}

constexpr Index kAnySize = -1;

// A matrix of known size, or a square one of any.
Entries read_matrix(Scanner& in, Index rows, Index cols) {
  const Index storage = in.integer("the storage of the matrix (0 dense, 1 block-sparse, 2 sparse)", 0, 2);
  const bool any = rows == kAnySize;
  rows = in.integer("the number of rows", any ? 0 : rows, any ? 3 * kMostContacts : rows);
  if (any) cols = rows;
  cols = in.integer("the number of columns", cols, cols);
  Entries out;
  out.rows = rows;
  if (storage == 0) read_dense(in, rows, cols, out);
  if (storage == 1) read_block_sparse(in, rows, cols, out);
  if (storage == 2) read_sparse(in, rows, cols, out);
  return out;
}

// Whether the matrix read was the M of a global problem: one of another size than W, or another matrix follows.
bool is_global(Scanner in, Index size, Index contact_rows, Index contacts) {
  if (size != contact_rows) return true;
  std::vector<std::string_view> words;
  for (std::string_view word = in.word(); !word.empty(); word = in.word()) words.push_back(word);
  const auto least = static_cast<std::size_t>(3 + size + contact_rows + contacts);  // a second head, q, b, mu
  if (words.size() < least) return false;
  const bool kind = words[0] == "0" || words[0] == "1" || words[0] == "2";
  return kind && words[1] == fmt::format("{}", size) && words[2] == fmt::format("{}", contact_rows);
}

SparseMatrix sparse(const Entries& entries, Index rows, Index cols) {
  SparseMatrix out(rows, cols);
  out.setFromTriplets(entries.list.begin(), entries.list.end());
  return out;
}

VectorXd read_vector(Scanner& in, Index size, std::string_view what) {
  VectorXd out(size);
  for (double& x : out) x = in.finite(what);
  return out;
}

VectorXd read_friction(Scanner& in, Index contacts) {
  VectorXd mu(contacts);
  for (double& x : mu) x = in.number("a friction coefficient");
  return mu;
}

}  // namespace

ReducedProblem parse_siconos(const std::string& file, std::string_view text, const LoadOptions& options) {
  Scanner in(file, text);
  const Index dimension = in.integer("the dimension of a friction-contact problem", 2, 3);
  const Index n = in.integer("the number of contacts", 0, std::min(kMostContacts, in.most_numbers())), rows = dimension * n;
  const Entries first = read_matrix(in, kAnySize, kAnySize);
  const SparseMatrix E = plane_rows(dimension, n);
  if (!is_global(in, first.rows, rows, n)) {
    in.require_numbers(static_cast<double>(rows + n), "q and mu");
    const VectorXd q = read_vector(in, rows, "an entry of q"), mu = read_friction(in, n);
    return reduce_sparse(E * sparse(first, rows, rows) * E.transpose(), E * q, mu, options.symmetric_part);
  }
  refuse_symmetric_part(file, options);
  const Entries second = read_matrix(in, first.rows, rows);
  in.require_numbers(static_cast<double>(first.rows + rows + n), "q, b and mu");
  const VectorXd q = read_vector(in, first.rows, "an entry of q"), b = read_vector(in, rows, "an entry of b"), mu = read_friction(in, n);
  return reduce_global(sparse(first, first.rows, first.rows), sparse(second, first.rows, rows) * E.transpose(), q, E * b, mu,
                       dimension == 3 ? 6 : 3);
}

Lcp parse_siconos_lcp(const std::string& file, std::string_view text) {
  Scanner in(file, text);
  const Index n = in.integer("the size of a linear complementarity problem", 0, std::min(kLargestLcp, in.most_numbers()));
  const Entries entries = read_matrix(in, n, n);
  Lcp lcp;
  lcp.M.setZero(n, n);
  for (const auto& e : entries.list) lcp.M(e.row(), e.col()) += e.value();
  lcp.q.resize(n);
  for (Index i = 0; i < n; ++i) lcp.q[i] = in.finite("an entry of q");
  return lcp;
}

SparseMatrix plane_rows(Index dimension, Index contacts) {
  Entries ones;
  for (Index k = 0; k < dimension * contacts; ++k) ones.add(3 * (k / dimension) + k % dimension, k, 1.0);
  return sparse(ones, 3 * contacts, dimension * contacts);
}

}  // namespace stiction
