/* What a first process owes to the processes of its container. */
#ifndef SLUICE_CHILDREN_H
#define SLUICE_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/* Reaps those that have ended; true when the command was among them, and the rest is left for later then. */
bool reap(pid_t command, int *status);
/* What the command left behind ends with it. Until all are reaped, their output is not complete. */
void kill_rest(void);

#endif
