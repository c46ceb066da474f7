/* What a command writes, from a pipe into its log. */
#ifndef SLUICE_OUTPUT_H
#define SLUICE_OUTPUT_H

#include <stdbool.h>

struct output {
  int from; /* does not block */
  int to;   /* the log, for appending */
};

/* Makes the pipe; gives the end of it to write to, or -1 with errno. */
int output_open(struct output *output, int log_fd);
/* Copies what is there; false when nothing is, for now or for ever. */
bool output_copy(struct output *output);

#endif
