/* Lines about a container that another process reads while they are written. */
#ifndef SLUICE_LINE_H
#define SLUICE_LINE_H

#include <stdarg.h>

/* The time in lines: ms since the epoch. */
long long clock_ms(void);
/* For measuring durations: ms of a monotonic clock. */
long long monotonic_ms(void);
/*
 * Writes one line of at most 2 KiB in one write: lines of several writers do not mix, and the newline marks a complete line.
 */
void write_line(int fd, const char *format, va_list arguments);

#endif
