/* Fills the view of a container: its private /tmp and its mounts. */
#ifndef SLUICE_MAKE_VIEW_H
#define SLUICE_MAKE_VIEW_H

#include "launcher.h"

/* Rejects the container with the reason if the view cannot be created. */
void make_view(const struct launch *launch);

#endif
