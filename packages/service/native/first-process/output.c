#define _GNU_SOURCE
#include "first-process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int output_open(struct output *output, const char *log_path) {
  int ends[2];
  output->to = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (output->to < 0 || pipe2(ends, O_CLOEXEC) != 0) return -1;
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
