/*
 * Keepers: processes in a cgroup that fork containers there. With cgroup v1, each move of a process into a cgroup makes the
 * kernel wait for all processors and blocks every fork of the machine; but a child is created in its parent's cgroup at no
 * cost. A keeper shares memory and open files with the launcher, so it costs little, and its children are the launcher's
 * (CLONE_PARENT).
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 256 * 1024 };

struct keeper {
  int ask, answer;
  pid_t pid;
  int life; /* pidfd of the keeper itself: it may be killed alone */
  char *stack;
  bool (*enter)(void *);
  void *argument;
  bool entered;
  /* The request in progress. The launcher waits for the response, so there is no concurrent access. */
  const struct first *first;
  int pidfd, error;
  pid_t child;
};

static void signal_event(int fd) {
  const uint64_t one = 1;
  while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

static void await_event(int fd) {
  uint64_t count;
  while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

/* False if the keeper has ended instead. */
static bool await_answer(const struct keeper *keeper) {
  struct pollfd ready[2] = {{.fd = keeper->answer, .events = POLLIN}, {.fd = keeper->life, .events = POLLIN}};
  while (poll(ready, 2, -1) < 0 && errno == EINTR) {
  }
  if ((ready[0].revents & POLLIN) == 0) return false;
  await_event(keeper->answer);
  return true;
}

static int keep(void *argument) {
  struct keeper *keeper = argument;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  keeper->entered = keeper->enter(keeper->argument);
  signal_event(keeper->answer);
  for (;;) {
    await_event(keeper->ask);
    keeper->child = sys_clone_first(&keeper->pidfd, -1, true);
    if (keeper->child == 0) keeper->first->run(keeper->first->argument);
    keeper->error = errno;
    signal_event(keeper->answer);
  }
}

/* `enter` runs in the keeper and moves it into the cgroup of its children. NULL if that is not possible. */
struct keeper *keeper_create(bool (*enter)(void *), void *argument) {
  struct keeper *keeper = calloc(1, sizeof *keeper);
  if (keeper == NULL) return NULL;
  *keeper = (struct keeper){.enter = enter, .argument = argument, .life = -1};
  keeper->ask = eventfd(0, EFD_CLOEXEC);
  keeper->answer = eventfd(0, EFD_CLOEXEC);
  keeper->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  bool is_ready = keeper->ask >= 0 && keeper->answer >= 0 && keeper->stack != MAP_FAILED;
  if (is_ready) keeper->pid = clone(keep, keeper->stack + STACK, CLONE_VM | CLONE_FILES | SIGCHLD, keeper);
  if (keeper->pid > 0) keeper->life = sys_pidfd_open(keeper->pid);
  if (keeper->life >= 0 && await_answer(keeper) && keeper->entered) return keeper;
  keeper_destroy(keeper);
  return NULL;
}

bool keeper_lives(const struct keeper *keeper) {
  struct pollfd life = {.fd = keeper->life, .events = POLLIN};
  return poll(&life, 1, 0) == 0;
}

pid_t keeper_start(struct keeper *keeper, const struct first *first, int *pidfd) {
  keeper->first = first;
  keeper->pidfd = -1;
  signal_event(keeper->ask);
  if (await_answer(keeper)) {
    *pidfd = keeper->pidfd;
    errno = keeper->error;
    return keeper->child;
  }
  /* clone3 makes the descriptor before the child runs: without one there is no child. */
  if (keeper->pidfd >= 0) {
    siginfo_t info;
    sys_pidfd_queue(keeper->pidfd, SIGKILL, 0);
    waitid((idtype_t)3 /* P_PIDFD */, (id_t)keeper->pidfd, &info, WEXITED | __WALL);
    close(keeper->pidfd);
  }
  errno = ESRCH;
  return -1;
}

void keeper_destroy(struct keeper *keeper) {
  if (keeper == NULL) return;
  if (keeper->pid > 0 && kill(keeper->pid, SIGKILL) == 0) waitpid(keeper->pid, NULL, 0);
  if (keeper->life >= 0) close(keeper->life);
  if (keeper->ask >= 0) close(keeper->ask);
  if (keeper->answer >= 0) close(keeper->answer);
  if (keeper->stack != NULL && keeper->stack != MAP_FAILED) munmap(keeper->stack, STACK);
  free(keeper);
}
