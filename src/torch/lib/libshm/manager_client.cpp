#include <torch/lib/libshm/manager_client.h>

#include <c10/util/Exception.h>

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace libshm {

namespace {

std::string reason() { return std::strerror(errno); }

// Connections belong to one process: a child made by fork() must open its own, or the manager would take it for its
// parent.
struct Connections {
  std::mutex mutex;
  pid_t owner = 0;
  std::string default_path;
  std::map<std::string, int> sockets;

  void own() {
    if (owner == getpid()) return;
    for (const auto& [path, socket] : sockets) ::close(socket);
    sockets.clear();
    owner = getpid();
  }
};

Connections& connections() {
  static auto* instance = new Connections();  // never destroyed: memory is released until the very end
  return *instance;
}

// Beside this library: bin/ (torch/lib/bin in a checkout) or ../bin/ (an installed prefix).
std::string manager_program() {
  Dl_info info;
  TORCH_CHECK(dladdr(reinterpret_cast<void*>(&tell_manager), &info) != 0 && info.dli_fname,
              "libshm cannot find itself");
  std::string folder = info.dli_fname;
  const size_t slash = folder.rfind('/');
  folder = slash == std::string::npos ? "." : folder.substr(0, slash);
  for (const char* place : {"/bin/torch_shm_manager", "/../bin/torch_shm_manager", "/torch_shm_manager"}) {
    if (::access((folder + place).c_str(), X_OK) == 0) return folder + place;
  }
  throw c10::Error("torch_shm_manager, which sharing memory needs, is neither in " + folder + "/bin nor in " + folder +
                   "/../bin: the installation of torch is incomplete");
}

// Starts a manager and returns the path of its socket, which it prints.
std::string start_manager() {
  const std::string program = manager_program();
  int ends[2];
  TORCH_CHECK(::pipe(ends) == 0, "cannot make a pipe for torch_shm_manager: ", reason());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t child = 0;
  const int status = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string path;
  char character = 0;
  while (status == 0 && read_all(ends[0], &character, 1) && character != '\n') path += character;
  ::close(ends[0]);
  TORCH_CHECK(status == 0, "cannot start ", program, ": ", std::strerror(status));
  ::waitpid(child, nullptr, 0);  // it goes on as a process of its own
  TORCH_CHECK(!path.empty() && character == '\n', program, " ended without a socket; see what it printed");
  return path;
}

int connect_to(const std::string& path) {
  sockaddr_un address{};
  TORCH_CHECK(path.size() < sizeof(address.sun_path), "the manager's socket has too long a path: ", path);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  TORCH_CHECK(socket >= 0, "cannot make a socket: ", reason());
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    const std::string why = reason();
    ::close(socket);
    throw c10::Error("cannot reach torch_shm_manager at " + path + ": " + why);
  }
  return socket;
}

}  // namespace

std::string default_manager() {
  Connections& all = connections();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.own();
  // A child made by fork() goes on with its parent's manager if that still runs.
  if (!all.default_path.empty() && all.sockets.count(all.default_path)) return all.default_path;
  if (!all.default_path.empty()) {
    try {
      all.sockets[all.default_path] = connect_to(all.default_path);
      return all.default_path;
    } catch (const c10::Error&) {
      all.default_path.clear();  // it ended with its last process: start another
    }
  }
  const std::string path = start_manager();
  all.sockets[path] = connect_to(path);
  all.default_path = path;
  return path;
}

void tell_manager(const std::string& socket_path, Request request, const std::string& name) {
  Connections& all = connections();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.own();
  auto entry = all.sockets.find(socket_path);
  if (entry == all.sockets.end()) entry = all.sockets.emplace(socket_path, connect_to(socket_path)).first;
  Message message{};
  message.request = request;
  TORCH_CHECK(name.size() < kNameSize, "the name of shared memory is too long: ", name);
  std::memcpy(message.name, name.c_str(), name.size());
  char answer = 0;
  if (!write_all(entry->second, &message, sizeof(message)) || !read_all(entry->second, &answer, 1)) {
    ::close(entry->second);
    all.sockets.erase(entry);
    throw c10::Error("torch_shm_manager at " + socket_path + " has gone");
  }
  TORCH_CHECK(answer == kDone, "torch_shm_manager does not know the shared memory ", name, ": it was released already");
}

}  // namespace libshm
