#ifndef SLUICE_MOUNT_SOURCE_H
#define SLUICE_MOUNT_SOURCE_H

#include "launcher.h"

/* O_PATH. What cannot be mounted ends the container with the reason. */
int open_mount_source(const struct mount_request *mount);

#endif
