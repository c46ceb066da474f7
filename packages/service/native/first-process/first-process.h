/* The doors between the files of the first process. */
#ifndef SLUICE_FIRST_PROCESS_H
#define SLUICE_FIRST_PROCESS_H

#include <stdbool.h>

/* output.c: what the command writes, from a pipe into the log. */
struct output {
  int from; /* does not block */
  int to;
};

/* Gives the end of the pipe to write to, or -1 with errno. */
int output_open(struct output *output, const char *log_path);
/* Copies what is there; false when nothing is, for now or for ever. */
bool output_copy(struct output *output);

/* memory.c: whether the kernel has killed a process of this container because its memory was used up. */
bool memory_ran_out(void);

#endif
