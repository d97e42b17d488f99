// NVRTC by the host's compiler: what it calls a binary is a shared library,
// in which a function for each named kernel starts it.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace {

struct Program {
  std::string source;
  std::map<std::string, std::string> names;  // and what their functions are called
  std::string log;
  std::string binary;
};

enum Result { kSuccess = 0, kInvalidProgram = 4, kCompilation = 6, kNameNotValid = 10 };

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result copy(const std::string& text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return kSuccess;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(int code) {
  switch (code) {
    case kSuccess: return "NVRTC_SUCCESS";
    case kInvalidProgram: return "NVRTC_ERROR_INVALID_PROGRAM";
    case kCompilation: return "NVRTC_ERROR_COMPILATION";
    default: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
  }
}

int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source, {}, {}, {}};
  return kSuccess;
}

int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return kSuccess;
}

int nvrtcAddNameExpression(Program* program, const char* name) {
  program->names.emplace(name, "emulated_kernel_" + std::to_string(program->names.size()));
  return kSuccess;
}

// Options are the real compiler's, and mean nothing to this one, but for folders of headers.
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  char folder[] = "/tmp/emulated_nvrtc_XXXXXX";
  if (mkdtemp(folder) == nullptr) return kInvalidProgram;
  const std::string base = folder;
  {
    std::ofstream file(base + "/kernel.cpp");
    file << "#include <cuda_emulation.h>\n#line 1 \"kernel.cu\"\n" << program->source << "\n";
    for (const auto& [name, function] : program->names) {
      file << "extern \"C\" void " << function << "(dim3 grid, dim3 block, cudaStream_t stream, void** values) {\n"
           << "  cuda_emulation::launch_with_places(&" << name << ", grid, block, stream, values);\n}\n";
    }
  }
  const char* compiler = std::getenv("CXX");
  // What is loaded into this process in advance is not meant for the compiler.
  std::string command =
      std::string("LD_PRELOAD= ") + (compiler ? compiler : "c++") +
      " -std=c++17 -O1 -shared -fPIC -fsanitize=thread,bounds -fsanitize-undefined-trap-on-error -nostdlib -I" +
      CUDA_EMULATION_INCLUDE + " -Wno-unknown-pragmas";
  for (int i = 0; i < count; ++i) {
    if (std::strncmp(options[i], "-I", 2) == 0) command += std::string(" '") + options[i] + "'";
  }
  command += " -o " + base + "/kernel.so " + base + "/kernel.cpp " + CUDA_EMULATION_LIBRARY + " 2> " + base + "/log";
  const int status = std::system(command.c_str());
  program->log = read_file(base + "/log") + '\0';
  program->binary = read_file(base + "/kernel.so");
  for (const char* name : {"/kernel.cpp", "/kernel.so", "/log"}) unlink((base + name).c_str());
  rmdir(folder);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !program->binary.empty() ? kSuccess : kCompilation;
}

int nvrtcGetLoweredName(Program* program, const char* name, const char** lowered) {
  const auto found = program->names.find(name);
  if (found == program->names.end()) return kNameNotValid;
  *lowered = found->second.c_str();
  return kSuccess;
}

int nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size();
  return kSuccess;
}
int nvrtcGetProgramLog(Program* program, char* log) { return copy(program->log, log); }
int nvrtcGetCUBINSize(Program* program, size_t* size) {
  *size = program->binary.size();
  return kSuccess;
}
int nvrtcGetCUBIN(Program* program, char* binary) { return copy(program->binary, binary); }
}
