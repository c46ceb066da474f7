/*
 * Which process runs a container and how it ended: the records of container-record.h, each of which is also sent to the
 * service.
 */
#define _GNU_SOURCE
#include "container-record.h"
#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int directory_fd = -1;
static const char *container_id;

/* An inode for the record of the end, without which a container that has succeeded would be started again. */
static bool reserve_inode(void) {
  int spare = openat(directory_fd, "spare", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (spare < 0) return errno == EEXIST;
  close(spare);
  return true;
}

static void record(const char *text) {
  int failed = symlinkat(text, directory_fd, "exit");
  bool is_full = failed && (errno == ENOSPC || errno == EDQUOT);
  unlinkat(directory_fd, "spare", 0);
  if (is_full) failed = symlinkat(text, directory_fd, "exit");
  if (!failed) send_event("ended %s %s", container_id, text);
  /* If no record can be written (a full disk), the service detects a fault by the end of this process. */
}

void give_up(const char *kind, const char *format, ...) {
  char reason[1024], text[1100];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  snprintf(text, sizeof text, "%s %lld %s", kind, clock_ms(), reason);
  record(text);
  _exit(0);
}

/* A directory that was renamed for removal may have contained a claim that is already removed. */
static bool is_in_place(const char *path) {
  struct stat there, held;
  return stat(path, &there) == 0 && fstat(directory_fd, &held) == 0 && there.st_ino == held.st_ino &&
         there.st_dev == held.st_dev;
}

int container_directory(void) { return directory_fd; }

void claim_container(const struct launch *launch) {
  container_id = launch->id;
  directory_fd = open(launch->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd < 0) _exit(73);
  long pid;
  unsigned long long ticks;
  char text[80];
  if (!read_process(launcher.proc_fd, "self", &pid, &ticks)) _exit(71);
  snprintf(text, sizeof text, "%ld %llu %s", pid, ticks, launcher.boot_id);
  if (!reserve_inode()) _exit(72);
  if (symlinkat(text, directory_fd, "claim") == 0) {
    if (!is_in_place(launch->directory)) {
      unlinkat(directory_fd, "claim", 0);
      _exit(72);
    }
    send_event("claimed %s %s", container_id, text);
    return;
  }
  if (errno != EEXIST) _exit(72);
  send_event("exists %s", container_id);
  _exit(0);
}

void record_ending(const struct ending *ending, long long started, bool met_limit) {
  char text[160];
  int signal = WIFSIGNALED(ending->status) ? WTERMSIG(ending->status) : 0;
  int code = signal != 0 ? 128 + signal : WEXITSTATUS(ending->status);
  if (ending->stopped) {
    snprintf(text, sizeof text, "stopped %lld %lld", started, clock_ms());
  } else {
    snprintf(text, sizeof text, "exited %d %d %d %lld %lld", code, signal, code != 0 && met_limit, started, clock_ms());
  }
  record(text);
}
