#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/InlineVector.h>
#include <c10/util/intrusive_ptr.h>

#include <check.h>

namespace {

struct Counted : c10::intrusive_ptr_target {
  explicit Counted(int* alive) : alive(alive) { ++*alive; }
  ~Counted() override { --*alive; }
  int* alive;
};

}  // namespace

TEST(intrusive_ptr_counts) {
  int alive = 0;
  {
    auto first = c10::make_intrusive<Counted>(&alive);
    c10::intrusive_ptr<Counted> second = first;
    CHECK_EQ(first.use_count(), size_t{2});
    Counted* raw = second.release();
    CHECK(!second);
    second = c10::intrusive_ptr<Counted>::reclaim(raw);
    CHECK_EQ(first.use_count(), size_t{2});
    first = first;
    CHECK_EQ(alive, 1);
  }
  CHECK_EQ(alive, 0);
}

TEST(inline_vector_spills_to_the_heap_and_back) {
  c10::InlineVector<int64_t, 2> values{1, 2};
  const int64_t* inside = values.data();
  values.push_back(3);
  CHECK(values.data() != inside);
  CHECK_EQ(c10::IntArrayRef(values), c10::IntArrayRef({1, 2, 3}));
  auto moved = std::move(values);
  CHECK_EQ(moved.size(), size_t{3});
  moved.insert(1, 9);
  moved.erase(0);
  CHECK_EQ(c10::IntArrayRef(moved), c10::IntArrayRef({9, 2, 3}));
  moved.resize(5, 7);
  CHECK_EQ(moved.back(), 7);
  c10::InlineVector<int64_t, 2> copy(moved);
  copy[0] = 0;
  CHECK_EQ(moved[0], 9);
}

TEST(array_ref_prints_as_sizes) {
  CHECK_EQ(c10::detail::concatenate(c10::IntArrayRef({2, 3})), "[2, 3]");
  CHECK_THROWS(c10::IndexError, c10::IntArrayRef({1}).at(1), "out of range");
}

TEST(errors_carry_all_parts_of_the_message) {
  CHECK_THROWS(c10::Error, [] { TORCH_CHECK(1 == 2, "size ", 3, " of ", 'x'); }(), "size 3 of x");
  CHECK_THROWS(c10::TypeError, [] { TORCH_CHECK_TYPE(false, "no"); }(), "no");
  CHECK_THROWS(c10::Error, [] { TORCH_INTERNAL_ASSERT(1 == 2, "why"); }(), "This is a bug in torch");
}

TEST_MAIN()
