/*
 * Copies the output of a command from a pipe into its log. If it exceeds the limit, the log keeps the beginning and the end;
 * the writer neither waits nor is killed. The end is kept in memory until `output_close`.
 */
#ifndef SLUICE_OUTPUT_H
#define SLUICE_OUTPUT_H

#include <stdbool.h>

struct output {
  int from;        /* does not block */
  int to;          /* the log, for appending */
  long long limit; /* bytes of the log; 0: none */
  long long begun; /* bytes written to the beginning */
  long long later; /* bytes received after it */
  char *end;       /* ring buffer of the last of these; NULL until needed, or without memory */
};

/* Creates the pipe; returns its write end, or -1 with errno. */
int output_open(struct output *output, int log_fd, long long limit);
/* Copies the available output; false if there is none now. */
bool output_copy(struct output *output);
/* Call when no process can write anymore: copies the rest, and writes the retained end. */
void output_close(struct output *output);

#endif
