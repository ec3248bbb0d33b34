#include "stiction/base/archive.hpp"

#include <gtest/gtest.h>

namespace stiction::archive_test {
namespace {

struct Kept {
  double x = 0.0;
  std::vector<int> list;
  Eigen::VectorXd v;
  GrowVector grow;

  template <class Archive>
  void carry(Archive& archive) {
    archive(x, list, v, grow);
  }
};

std::string written() {
  Kept kept{-0.1, {3, -4}, Eigen::Vector3d(1e-300, 2.0, -0.0), GrowVector(Eigen::Vector2d(5.0, 6.0))};
  ByteWriter out;
  kept.carry(out);
  return out.written;
}

TEST(Archive, ReadsWhatWasWrittenIntoWhateverWasThere) {
  const std::string bytes = written();
  Kept kept{7.0, {1, 2, 3}, Eigen::VectorXd::Ones(9), GrowVector()};
  ByteReader in(bytes);
  kept.carry(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(kept.x, -0.1);
  EXPECT_EQ(kept.list, (std::vector<int>{3, -4}));
  EXPECT_EQ(kept.v, Eigen::Vector3d(1e-300, 2.0, -0.0));
  EXPECT_EQ(kept.grow, Eigen::Vector2d(5.0, 6.0));
}

TEST(Archive, RefusesBytesThatEndEarlyAtAnyPlace) {
  const std::string bytes = written();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Kept kept;
    ByteReader in(std::string_view(bytes).substr(0, size));
    EXPECT_THROW(kept.carry(in), InvalidArgument) << size;
  }
}

using Bounded = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 4, 1>;

TEST(Archive, VectorsWhoseStorageDoesNotGrow) {
  ByteWriter out;
  Eigen::Vector3d three(1.0, 2.0, 3.0), read_three;
  Bounded few = Eigen::Vector2d(4.0, 5.0), read_few;
  out(three, few);
  ByteReader in(out.written);
  in(read_three, read_few);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(read_three, three);
  EXPECT_EQ(read_few, few);
}

TEST(Archive, RefusesMoreThanThereIsRoomFor) {
  ByteWriter out;
  Eigen::VectorXd five = Eigen::VectorXd::Ones(5);
  out(five);
  Bounded few;
  ByteReader in(out.written);
  EXPECT_THROW(in(few), InvalidArgument);
}

TEST(Archive, RefusesACountBeyondTheBytes) {
  ByteWriter out;
  std::size_t many = std::size_t{1} << 61U;
  out(many);
  std::vector<int> list;
  ByteReader in(out.written);
  EXPECT_THROW(in(list), InvalidArgument);
}

}  // namespace
}  // namespace stiction::archive_test
