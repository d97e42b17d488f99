#include <small_vector.hpp>

int main() {
  small_vector<int, 4> vector;
  vector.push_back(7);
  return vector.size == 1 && vector.values[0] == 7 ? 0 : 1;
}
