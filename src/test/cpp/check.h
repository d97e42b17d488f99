#pragma once
// A test program in one header: TEST(name) { CHECK(...); } for each test, and TEST_MAIN() once.
// `program NAME...` runs the tests of these names only.

#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& message) {
  std::ostringstream text;
  text << file << ":" << line << ": " << message;
  throw std::runtime_error(text.str());
}

template <typename Left, typename Right>
void equal(const Left& left, const Right& right, const char* text, const char* file, int line) {
  if (left == right) return;
  std::ostringstream message;
  message << text << "\n  left:  " << left << "\n  right: " << right;
  fail(file, line, message.str());
}

// Runs `body` and fails unless it throws exactly an Error whose message contains `part`.
template <typename Error, typename Body>
void throws(const Body& body, const std::string& part, const char* text, const char* file, int line) {
  try {
    body();
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error))
      fail(file, line, std::string(text) + "\n  threw a derived type: " + error.what());
    if (std::string(error.what()).find(part) != std::string::npos) return;
    fail(file, line,
         std::string(text) + "\n  expected in the message: " + part + "\n  the message: " + error.what());
  }
  fail(file, line, std::string(text) + "\n  threw nothing; expected: " + part);
}

// 0 when every test passed.
inline int run_all(int count, char** names) {
  int failures = 0;
  int runs = 0;
  for (const Test& test : tests()) {
    bool chosen = count <= 1;
    for (int index = 1; index < count; ++index) chosen = chosen || std::strcmp(names[index], test.name) == 0;
    if (!chosen) continue;
    ++runs;
    try {
      test.run();
    } catch (const std::exception& error) {
      ++failures;
      std::cerr << "FAILED " << test.name << "\n  " << error.what() << "\n";
    }
  }
  std::cerr << runs - failures << " of " << runs << " passed\n";
  // A name that matches nothing is a mistake, not a success.
  return failures == 0 && runs > 0 ? 0 : 1;
}

}  // namespace check

#define TEST(name)                                                           \
  static void test_##name();                                                 \
  static const check::Registration registration_##name(#name, &test_##name); \
  static void test_##name()
#define CHECK(...)                                                      \
  do {                                                                  \
    if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, #__VA_ARGS__);   \
  } while (false)
#define CHECK_EQ(left, right) check::equal((left), (right), #left " == " #right, __FILE__, __LINE__)
#define CHECK_THROWS(error, statement, part) \
  check::throws<error>([&] { static_cast<void>(statement); }, part, #statement, __FILE__, __LINE__)
#define TEST_MAIN() \
  int main(int count, char** names) { return check::run_all(count, names); }
