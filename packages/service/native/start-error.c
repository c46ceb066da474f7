#define _GNU_SOURCE
#include "start-error.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

const char *describe_start_error(const char *command, int error) {
  struct stat status;
  bool is_there = strchr(command, '/') != NULL && stat(command, &status) == 0;
  switch (error) {
    case ENOENT:
      if (strchr(command, '/') == NULL) return "no such command in PATH";
      if (!is_there) break;
      return "what it needs to run is missing: the interpreter that its first line names (is there a carriage return at the "
             "end of that line?), or the loader of a program";
    case ENOEXEC:
      return "it is no program for this machine, and no script whose first line names an interpreter, such as #!/bin/sh";
    case EACCES:
      if (is_there && S_ISDIR(status.st_mode)) return "it is a directory";
      return "permission denied: it must be executable (chmod +x)";
    case E2BIG:
      return "its arguments and environment are too long (Linux takes 128 KiB each, and 2 MiB together): put them into files";
  }
  return strerror(error);
}
