#define _GNU_SOURCE
#include "children.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

bool reap(pid_t command, int *status) {
  int one;
  pid_t pid;
  while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
    if (pid != command) continue;
    *status = one;
    return true;
  }
  return false;
}

void kill_rest(void) {
  if (kill(-1, SIGKILL) != 0) return;
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
  }
}
