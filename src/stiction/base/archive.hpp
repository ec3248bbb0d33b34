// Numbers to bytes and back, for state that the same build of the program reads again. One function says what there is of a type,
//   template <class Archive> void carry(Archive& archive, T& x) { archive(x.a, x.b); }
// and writes it with a `ByteWriter` or reads it with a `ByteReader`.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stiction/base/errors.hpp"
#include "stiction/base/grow.hpp"

namespace stiction {

/// What `Bytes` (writer or reader) does with each kind of value; `bytes(void*, size)` is theirs.
template <class Bytes>
class ArchiveBase {
 public:
  template <class... T>
  void operator()(T&... x) {
    (one(x), ...);
  }

 private:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void one(T& x) { self().bytes(&x, sizeof(T)); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void one(std::vector<T>& x) {
    const std::size_t count = self().count(x.size(), sizeof(T));
    if (count != x.size()) x.resize(count);
    if (count > 0) self().bytes(x.data(), count * sizeof(T));
  }
  template <class Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
  void one(Eigen::Matrix<Scalar, Rows, Cols, Options, MaxRows, MaxCols>& x) {
    static_assert(Cols == 1);
    if constexpr (Rows != Eigen::Dynamic) {
      self().bytes(x.data(), Rows * sizeof(Scalar));
    } else {
      vector(x, MaxRows);
    }
  }
  void one(GrowVector& x) { vector(x, Eigen::Dynamic); }

  template <class Vector>
  void vector(Vector& x, int most) {
    const std::size_t count = self().count(static_cast<std::size_t>(x.size()), sizeof(double));
    if (most != Eigen::Dynamic && count > static_cast<std::size_t>(most))
      throw InvalidArgument("bytes", "those that the same version wrote", "others");
    if (static_cast<Eigen::Index>(count) != x.size()) x.resize(static_cast<Eigen::Index>(count));
    if (count > 0) self().bytes(x.data(), count * sizeof(double));
  }
  Bytes& self() { return static_cast<Bytes&>(*this); }
};

class ByteWriter : public ArchiveBase<ByteWriter> {
 public:
  static constexpr bool kReads = false;
  std::string written;

  void bytes(const void* data, std::size_t size) { written.append(static_cast<const char*>(data), size); }
  /// Number of entries of what follows.
  std::size_t count(std::size_t entries, std::size_t /*size*/) {
    bytes(&entries, sizeof(entries));
    return entries;
  }
};

/// Throws InvalidArgument when the bytes end too early.
class ByteReader : public ArchiveBase<ByteReader> {
 public:
  static constexpr bool kReads = true;
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  void bytes(void* data, std::size_t size) {
    require(size);
    std::memcpy(data, left_.data(), size);
    left_.remove_prefix(size);
  }
  std::size_t count(std::size_t /*entries*/, std::size_t size) {
    std::size_t entries = 0;
    bytes(&entries, sizeof(entries));
    if (entries > left_.size() / size) require(left_.size() + 1);
    return entries;
  }
  bool at_end() const { return left_.empty(); }

 private:
  void require(std::size_t size) const {
    if (size > left_.size()) throw InvalidArgument("bytes", "those that the same version wrote", "fewer");
  }

  std::string_view left_;
};

}  // namespace stiction
