/* What is told of a container, as lines that another process reads while they are written. */
#ifndef SLUICE_LINE_H
#define SLUICE_LINE_H

#include <stdarg.h>

/* The time that lines carry: ms since the epoch. */
long long clock_ms(void);
/* What spans of time are measured by, since nobody sets it: ms since some moment. */
long long monotonic_ms(void);
/* One line in one write, at most 2 KiB: never torn where several write, and its newline says that it is whole. */
void write_line(int fd, const char *format, va_list arguments);

#endif
