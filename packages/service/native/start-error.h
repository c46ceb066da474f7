/* Explains why a command could not be started, with advice. */
#ifndef SLUICE_START_ERROR_H
#define SLUICE_START_ERROR_H

/* `error` is the errno of execve for `command`, the first word of a command line; the text is static. */
const char *describe_start_error(const char *command, int error);

#endif
