/* Why a command could not be started, in words that say what to do. */
#ifndef SLUICE_START_ERROR_H
#define SLUICE_START_ERROR_H

/* `error` is what execve said of `command`, the first word of a command line; the text lives on. */
const char *describe_start_error(const char *command, int error);

#endif
