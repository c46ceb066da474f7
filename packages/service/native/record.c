/* Lines on the event socket, for the service. The records on disk are symbolic links (see container-record.h). */
#define _GNU_SOURCE
#include "launcher.h"
#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void send_event(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  /* EPIPE is not an error: the next service reads the records on disk. */
  write_line(launcher.event_fd, format, arguments);
  va_end(arguments);
}

/*
 * PID on the host and start time in clock ticks since boot: together with the boot ID they identify a process permanently.
 */
bool read_process(int proc_fd, const char *pid, long *host_pid, unsigned long long *start_ticks) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "%s/stat", pid);
  int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return false;
  text[length] = '\0';
  *host_pid = strtol(text, NULL, 10);
  /* The command's name is in parentheses and may contain anything, including spaces and parentheses. */
  char *field = strrchr(text, ')');
  for (int skip = 0; field != NULL && skip < 20; skip++) field = strchr(field + 1, ' ');
  if (field == NULL) return false;
  *start_ticks = strtoull(field, NULL, 10);
  return true;
}

void fail_launcher(const char *what) {
  send_event("failed %s: %s", what, strerror(errno));
  _exit(1);
}
