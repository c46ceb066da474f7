/* All processes and threads of a container without namespaces: its first process traces them, and they end with it. */
#ifndef SLUICE_TRACEES_H
#define SLUICE_TRACEES_H

#include <stdbool.h>
#include <sys/types.h>

/* Traces `command`, a child, and its descendants; calls `on_start` when its program has started. */
bool tracees_seize(pid_t command, void (*on_start)(void));
/* Handles all pending events and continues the tracees; true when `command` has ended, and the rest is left for later. */
bool tracees_reap(pid_t command, int *status);
/* Kills all and waits for them. */
void tracees_kill(void);

#endif
