/*
 * Attacks a machine from inside a container.
 *
 *   attack run <number>      tries every attack; one line each: `blocked <name> <errno>`, `succeeded <name> <evidence>`,
 *                            or `broken <name> <why>` where an attack itself went wrong; then `done`
 *   attack landlock 0        prints the version of Landlock that the kernel has, 0 for none
 *   attack victim <number>   is what the attacks with that number are aimed at, on the host (victim.c)
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_AT_MOST = 60 };

unsigned victim;
static const char *running;

static const char *error_name(int error) {
  const char *name = strerrorname_np(error);
  return name == NULL ? "unknown" : name;
}

void blocked(int error) {
  printf("blocked %s %s\n", running, error_name(error));
  fflush(stdout);
  _exit(0);
}

void succeeded(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("succeeded %s ", running);
  vprintf(format, arguments);
  printf("\n");
  fflush(stdout);
  _exit(0);
}

void report_call(long result, const char *evidence) {
  if (result < 0) blocked(errno);
  succeeded("%s", evidence);
}

static void attempt(const struct attack *attack) {
  running = attack->name;
  pid_t child = fork();
  if (child == 0) {
    alarm(SECONDS_AT_MOST);
    attack->run();
    _exit(3);
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child < 0) printf("broken %s could not fork: %s\n", running, strerror(errno));
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) printf("blocked %s SIGSYS\n", running);
  else if (WIFSIGNALED(status)) printf("broken %s signal %d\n", running, WTERMSIG(status));
  else if (status != 0) printf("broken %s exit code %d\n", running, WEXITSTATUS(status));
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  victim = (unsigned)strtoul(argv[2], NULL, 10);
  if (strcmp(argv[1], "victim") == 0) return be_victim();
  if (strcmp(argv[1], "landlock") == 0) {
    long version = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1);
    printf("%ld\n", version < 0 ? 0 : version);
    return 0;
  }
  const struct attack *const lists[] = {namespace_attacks, cgroup_attacks, mount_attacks, file_attacks,
                                        process_attacks,   kernel_attacks, ipc_attacks,   network_attacks};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    for (const struct attack *attack = lists[i]; attack->name != NULL; attack++) attempt(attack);
  }
  printf("done\n");
  return 0;
}
