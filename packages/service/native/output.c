/*
 * A pipe instead of the log itself: a program that writes to /dev/stdout or /dev/stderr by name opens it again, which would
 * truncate a file.
 */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The part of the limit that is reserved for the end. */
enum { END_BYTES = 256 * 1024 };

int output_open(struct output *output, int log_fd, long long limit) {
  int ends[2];
  *output = (struct output){.to = log_fd, .limit = limit};
  if (log_fd < 0 || pipe2(ends, O_CLOEXEC) != 0) return -1;
  /* Only our end: the other one is the command's standard output, which programs expect to block. */
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return -1;
  output->from = ends[0];
  return ends[1];
}

static void append(const struct output *output, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(output->to, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    /* On a full disk output is dropped; otherwise a command that writes would wait forever. */
    if (written < 0) return;
    bytes += written;
    length -= (size_t)written;
  }
}

static void begin_end(struct output *output) {
  char line[256];
  int length = snprintf(line, sizeof line,
                        "\n[sluice] the log has reached its limit of %lld bytes; of what follows, the last %d bytes are "
                        "added when the command has ended\n",
                        output->limit, END_BYTES);
  append(output, line, (size_t)length);
  void *end = mmap(NULL, END_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  output->end = end == MAP_FAILED ? NULL : end;
}

static void keep_end(struct output *output, const char *bytes, size_t length) {
  if (output->later == 0) begin_end(output);
  for (size_t done = 0; done < length && output->end != NULL;) {
    size_t at = (size_t)((output->later + (long long)done) % END_BYTES);
    size_t fits = length - done < END_BYTES - at ? length - done : END_BYTES - at;
    memcpy(output->end + at, bytes + done, fits);
    done += fits;
  }
  output->later += (long long)length;
}

bool output_copy(struct output *output) {
  static char buffer[64 * 1024];
  ssize_t length;
  do length = read(output->from, buffer, sizeof buffer);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return false;
  long long room = output->limit == 0 ? length : output->limit - END_BYTES - output->begun;
  size_t fits = room >= length ? (size_t)length : room > 0 ? (size_t)room : 0;
  append(output, buffer, fits);
  output->begun += (long long)fits;
  if (fits < (size_t)length) keep_end(output, buffer + fits, (size_t)length - fits);
  return true;
}

void output_close(struct output *output) {
  while (output_copy(output)) {
  }
  if (output->later == 0) return;
  long long kept = output->end == NULL ? 0 : output->later < END_BYTES ? output->later : END_BYTES;
  char line[128];
  int length = snprintf(line, sizeof line, "[sluice] %lld bytes were left out here\n", output->later - kept);
  append(output, line, (size_t)length);
  if (kept == 0) return;
  size_t start = output->later <= END_BYTES ? 0 : (size_t)(output->later % END_BYTES);
  size_t tail = (size_t)kept < END_BYTES - start ? (size_t)kept : END_BYTES - start;
  append(output, output->end + start, tail);
  append(output, output->end, (size_t)kept - tail);
}
