/* Functions shared by the files of the first process. */
#ifndef SLUICE_FIRST_PROCESS_H
#define SLUICE_FIRST_PROCESS_H

#include <stdbool.h>

/* memory.c: whether the kernel has killed a process of this container because of its memory limit. */
bool memory_ran_out(void);

#endif
