#ifndef SLUICE_MOUNT_SOURCE_H
#define SLUICE_MOUNT_SOURCE_H

#include "launcher.h"

/* Returns an O_PATH descriptor. Rejects the container if the source cannot be mounted. */
int open_mount_source(const struct mount_request *mount);

#endif
