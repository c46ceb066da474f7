/* How the first process of a container runs its command, with and without namespaces. */
#ifndef SLUICE_COMMAND_H
#define SLUICE_COMMAND_H

#include "container-record.h"
#include "launcher.h"
#include "output.h"

/* Standard output and error of this process become the container's. */
void open_streams(const struct launch *launch, struct output *output);
/* Returns only after a failure, with its errno. */
int execute_command(const struct launch *launch);
/* `path` is the file that is examined to explain `error`. */
__attribute__((noreturn)) void reject_command(const struct launch *launch, const char *path, int error);
/*
 * Waits for the command while reaping processes and copying output. SIGTERM with a value requests a stop within that many
 * ms. `reap` reaps the processes that have ended, and returns true once the command has.
 */
struct ending await_command(pid_t command, struct output *output, bool (*reap)(pid_t command, int *status));

#endif
