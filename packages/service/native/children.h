/* How a first process handles the processes of its container. */
#ifndef SLUICE_CHILDREN_H
#define SLUICE_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/* Reaps ended processes. Returns true as soon as the command is among them; the others are reaped later. */
bool reap(pid_t command, int *status);
/* Kills all remaining processes. Their output is complete only when all are reaped. */
void kill_rest(void);

#endif
