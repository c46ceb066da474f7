/*
 * What a command writes, from a pipe into its log, which keeps the beginning and the end of more than its limit: the
 * writer neither waits nor is killed. The end is held in memory until `output_close`.
 */
#ifndef SLUICE_OUTPUT_H
#define SLUICE_OUTPUT_H

#include <stdbool.h>

struct output {
  int from;        /* does not block */
  int to;          /* the log, for appending */
  long long limit; /* bytes of the log; 0: none */
  long long begun; /* bytes that the beginning has */
  long long later; /* bytes that came after it */
  char *end;       /* ring of the last of these; NULL until needed, or without memory */
};

/* Makes the pipe; gives the end of it to write to, or -1 with errno. */
int output_open(struct output *output, int log_fd, long long limit);
/* Copies what is there; false when nothing is, for now or for ever. */
bool output_copy(struct output *output);
/* Once nobody writes any more: copies the rest, and writes the end of what did not fit. */
void output_close(struct output *output);

#endif
