/*
 * A pipe and not the log itself: whoever writes to /dev/stdout or /dev/stderr by name opens it anew, and a file would be
 * cut by that.
 */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int output_open(struct output *output, int log_fd) {
  int ends[2];
  if (log_fd < 0 || pipe2(ends, O_CLOEXEC) != 0) return -1;
  output->to = log_fd;
  /* Only our end: the other is the command's standard output, whose users expect to wait. */
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return -1;
  output->from = ends[0];
  return ends[1];
}

bool output_copy(struct output *output) {
  static char buffer[64 * 1024];
  ssize_t length;
  do length = read(output->from, buffer, sizeof buffer);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return false;
  for (ssize_t done = 0; done < length;) {
    ssize_t written = write(output->to, buffer + done, (size_t)(length - done));
    if (written < 0 && errno == EINTR) continue;
    /* A full disk costs output: a command that waited for space would wait for ever. */
    if (written < 0) break;
    done += written;
  }
  return true;
}
