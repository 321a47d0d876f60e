#include "core/sample_buckets.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace mljobd::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::vector<Bucket> list(const SampleBuckets& buckets) { return {buckets.closed().begin(), buckets.closed().end()}; }

TEST_CASE("a bucket keeps the least and the most of its time and is closed by what comes after it") {
  SampleBuckets buckets(minutes(1), 3);
  CHECK_FALSE(buckets.add(seconds(0), 5));
  CHECK_FALSE(buckets.add(seconds(30), 2));
  CHECK_FALSE(buckets.add(seconds(59), 9));
  CHECK(list(buckets).empty());
  CHECK(buckets.add(seconds(60), 7) == Bucket{0, 2, 9});
  CHECK(list(buckets) == std::vector<Bucket>{{0, 2, 9}});
  CHECK(buckets.open() == Bucket{1, 7, 7});
}

TEST_CASE("what is older than the window is forgotten, and times without a sample have no bucket") {
  SampleBuckets buckets(minutes(1), 3);
  for (const int minute : {0, 1, 2, 3, 4}) buckets.add(minutes(minute), minute);
  CHECK(list(buckets) == std::vector<Bucket>{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}});
  buckets.add(minutes(13), 13);
  buckets.add(minutes(14), 14);
  CHECK(list(buckets) == std::vector<Bucket>{{3, 3, 3}, {4, 4, 4}, {13, 13, 13}});
  buckets.add(minutes(15), 15);
  buckets.add(minutes(16), 16);
  CHECK(list(buckets) == std::vector<Bucket>{{13, 13, 13}, {14, 14, 14}, {15, 15, 15}});
  buckets.add(hours(9), 7);
  buckets.add(hours(9) + minutes(1), 8);
  CHECK(list(buckets) == std::vector<Bucket>{{540, 7, 7}});
}

TEST_CASE("a time that goes back belongs to the bucket that is open") {
  SampleBuckets buckets(minutes(1), 3);
  buckets.add(minutes(5), 5);
  CHECK_FALSE(buckets.add(minutes(2), 1));
  CHECK(buckets.open() == Bucket{5, 1, 5});
}

TEST_CASE("never more than the capacity is kept") {
  SampleBuckets buckets(seconds(1), 1000);
  for (int second = 0; second < 100; ++second) buckets.add(seconds(second), second);
  CHECK(buckets.closed().size() == SampleBuckets::capacity);
  CHECK(buckets.closed().back().index == 98);
}

TEST_CASE("a new window begins with as many as are wanted") {
  SampleBuckets buckets(minutes(1), 5);
  for (const int minute : {0, 1, 2, 3, 4}) buckets.add(minutes(minute), minute);
  buckets.keep_last(9);
  CHECK(list(buckets).size() == 4);
  buckets.keep_last(2);
  CHECK(list(buckets) == std::vector<Bucket>{{2, 2, 2}, {3, 3, 3}});
  CHECK(buckets.open());
  buckets.clear();
  CHECK(list(buckets).empty());
  CHECK_FALSE(buckets.open());
}

}  // namespace
}  // namespace mljobd::core
