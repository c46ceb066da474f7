/* What the first process of a container does with its command, with namespaces and without. */
#ifndef SLUICE_COMMAND_H
#define SLUICE_COMMAND_H

#include "container-record.h"
#include "launcher.h"
#include "output.h"

/* Standard output and error of this process become the container's. */
void open_streams(const struct launch *launch, struct output *output);
/* Returns only where it failed, with the reason. */
int execute_command(const struct launch *launch);
/* `path` is where the reason for `error` can be looked for. */
__attribute__((noreturn)) void refuse_command(const struct launch *launch, const char *path, int error);
/*
 * Waits for the command while reaping and keeping the output; SIGTERM with a value is the service's wish to stop within
 * that many ms. `reap` takes what has ended so far, and is true once the command has.
 */
struct ending await_command(pid_t command, struct output *output, bool (*reap)(pid_t command, int *status));

#endif
