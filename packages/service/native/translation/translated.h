/* Containers on machines that forbid namespaces: mount points by translation of paths, supervision by ptrace. */
#ifndef SLUICE_TRANSLATED_H
#define SLUICE_TRANSLATED_H

#include "launcher.h"

#ifdef NO_TRANSLATION
#include <unistd.h>

/* Implemented only for x86-64 and aarch64. */
__attribute__((noreturn)) static inline void translated_run(struct launch *launch, const struct limit_use *use) {
  _exit(launch == NULL || use == NULL ? 70 : 71);
}
static inline const char *translated_probe(void) { return "paths can be translated on x86-64 and aarch64 only"; }
#else
/* The first process of a container; never returns. */
__attribute__((noreturn)) void translated_run(struct launch *launch, const struct limit_use *use);
/* NULL if it works here, otherwise the reason. */
const char *translated_probe(void);
#endif

#endif
