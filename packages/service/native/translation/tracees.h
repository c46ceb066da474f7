/* All processes and threads of a container without namespaces: their tracer is its first process, and they end with it. */
#ifndef SLUICE_TRACEES_H
#define SLUICE_TRACEES_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on `command`, a child, and all that it starts are ours; `on_start` is told when its program has started. */
bool tracees_seize(pid_t command, void (*on_start)(void));
/* Takes up what has happened so far and lets all go on; true when `command` has ended, and the rest is left for later. */
bool tracees_reap(pid_t command, int *status);
/* Ends all and waits for them. */
void tracees_kill(void);

#endif
