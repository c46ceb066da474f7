#define _GNU_SOURCE
#include "line.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

long long clock_ms(void) { return read_clock(CLOCK_REALTIME); }

long long monotonic_ms(void) { return read_clock(CLOCK_MONOTONIC); }

void write_line(int fd, const char *format, va_list arguments) {
  char line[2048];
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  if (length < 0) return;
  if ((size_t)length > sizeof line - 2) length = sizeof line - 2;
  for (int i = 0; i < length; i++) {
    if ((unsigned char)line[i] < ' ') line[i] = '?';
  }
  line[length++] = '\n';
  /* Errors are ignored: the information is available elsewhere, or was lost because of a full disk. */
  while (write(fd, line, (size_t)length) < 0 && errno == EINTR) {
  }
}
