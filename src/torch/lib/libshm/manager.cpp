// torch_shm_manager: counts which process uses which shared memory, and unlinks what nobody uses any more.
//
// It prints the path of its socket, goes into the background, and ends with the last process that is connected. A
// process that dies closes its connection, whatever killed it; that releases all that it used.

#include <torch/lib/libshm/protocol.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace {

using libshm::Message;
using libshm::Request;

// How often each name is used by all clients together, holds included.
std::map<std::string, int> uses;
// How many of them are on the way from one process to another.
std::map<std::string, int> holds;
// How often each client uses it.
std::map<int, std::map<std::string, int>> clients;

void drop(const std::string& name, int count) {
  const auto entry = uses.find(name);
  if (entry == uses.end()) return;
  entry->second -= count;
  if (entry->second > 0) return;
  uses.erase(entry);
  holds.erase(name);
  ::shm_unlink(name.c_str());
}

void disconnect(int client) {
  for (const auto& [name, count] : clients[client]) drop(name, count);
  clients.erase(client);
  ::close(client);
}

char answer_to(int client, const Message& message) {
  const std::string name(message.name, strnlen(message.name, libshm::kNameSize));
  // Only names that libshm makes: a client must not have other memory unlinked.
  if (name.rfind("/torch_", 0) != 0) return libshm::kUnknownName;
  const bool is_known = uses.count(name) != 0;
  switch (message.request) {
    case Request::Use:
      ++uses[name];
      ++clients[client][name];
      return libshm::kDone;
    case Request::Release: {
      int& count = clients[client][name];
      if (count == 0) return libshm::kUnknownName;
      if (--count == 0) clients[client].erase(name);
      drop(name, 1);
      return libshm::kDone;
    }
    case Request::Hold:
      if (!is_known) return libshm::kUnknownName;
      ++uses[name];
      ++holds[name];
      return libshm::kDone;
    case Request::Take:  // the hold becomes the client's use; a message that is read twice is a use of its own
      if (!is_known) return libshm::kUnknownName;
      if (holds[name] > 0) {
        --holds[name];
      } else {
        ++uses[name];
      }
      ++clients[client][name];
      return libshm::kDone;
  }
  return libshm::kUnknownName;
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Runs until no client is left. The first has a minute to come.
void serve(int listener) {
  bool had_client = false;
  while (true) {
    std::vector<pollfd> files{{listener, POLLIN, 0}};
    for (const auto& [client, names] : clients) files.push_back({client, POLLIN, 0});
    const int ready = ::poll(files.data(), files.size(), had_client ? -1 : 60000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    for (size_t index = 1; index < files.size(); ++index) {
      if (!files[index].revents) continue;
      const int client = files[index].fd;
      Message message;
      if (!libshm::read_all(client, &message, sizeof(message))) {
        disconnect(client);
        continue;
      }
      const char answer = answer_to(client, message);
      if (!libshm::write_all(client, &answer, 1)) disconnect(client);
    }
    if (files[0].revents) {
      const int client = ::accept(listener, nullptr, nullptr);
      if (client >= 0) {
        clients[client];
        had_client = true;
      }
    }
    if (had_client && clients.empty()) return;
  }
}

}  // namespace

int main() {
  const char* temporary = std::getenv("TMPDIR");
  std::string folder = std::string(temporary && *temporary ? temporary : "/tmp") + "/torch-shm-XXXXXX";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A long TMPDIR does not fit a socket's address.
  if (folder.size() + sizeof("/manager") > sizeof(address.sun_path)) folder = "/tmp/torch-shm-XXXXXX";
  if (!::mkdtemp(folder.data())) fail("torch_shm_manager: mkdtemp");  // only this user may enter it
  const std::string path = folder + "/manager";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (listener < 0) fail("torch_shm_manager: socket");
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fail("torch_shm_manager: bind");
  if (::listen(listener, 64) != 0) fail("torch_shm_manager: listen");

  const pid_t child = ::fork();
  if (child < 0) fail("torch_shm_manager: fork");
  if (child > 0) {
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    std::_Exit(0);
  }
  // A session of its own: Ctrl-C and the terminal's end are not for it. Nor may it keep the files of its starter open.
  ::setsid();
  std::signal(SIGPIPE, SIG_IGN);
  if (!std::freopen("/dev/null", "r", stdin) || !std::freopen("/dev/null", "w", stdout) ||
      !std::freopen("/dev/null", "w", stderr)) {
    std::_Exit(1);
  }
  const long most = ::sysconf(_SC_OPEN_MAX);
  for (int file = 3; file < (most > 0 && most < 4096 ? most : 4096); ++file) {
    if (file != listener) ::close(file);
  }
  if (::chdir("/") != 0) std::_Exit(1);
  serve(listener);
  for (const auto& [name, count] : uses) ::shm_unlink(name.c_str());
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
  return 0;
}
