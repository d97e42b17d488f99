/* The compiler's name in bin/: runs PROGRAM.real beside it, with the prefix's own --sysroot for TARGET in front of the
   arguments. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cut `path` at its last '/', and leave the folder. */
static void to_parent(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
}

static int fail(const char *what) {
  fprintf(stderr, "%s: %s: %s\n", PROGRAM, what, strerror(errno));
  return 127;
}

int main(int argument_count, char **arguments) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return fail("/proc/self/exe");
  self[length] = '\0';
  to_parent(self); /* PREFIX/bin */

  char *program = NULL;
  if (asprintf(&program, "%s/%s.real", self, PROGRAM) < 0) return fail("memory");
  to_parent(self); /* PREFIX */
  char *sysroot = NULL;
  if (asprintf(&sysroot, "--sysroot=%s/%s/sysroot", self, TARGET) < 0) return fail("memory");

  char **command = calloc((size_t)argument_count + 2, sizeof *command);
  if (!command) return fail("memory");
  command[0] = program;
  command[1] = sysroot; /* first, so that a --sysroot of the caller wins */
  for (int i = 1; i < argument_count; i++) command[i + 1] = arguments[i];
  execv(program, command);
  return fail(program);
}
