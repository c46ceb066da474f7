/** Warning for machines that allow no namespaces: the same text in runs, in `sluice doctor` and in docs/engines.md. */
export const WITHOUT_NAMESPACES =
  'this machine forbids user namespaces, so steps run without isolation: they see the files and processes of this machine, and mount points are provided by translating paths; see docs/engines.md, "Without namespaces"';

/** Warning for machines that additionally have no working compiled launcher. */
export const WITHOUT_TRANSLATION =
  'this machine forbids user namespaces, and the launcher could not be compiled or may not trace, so steps run without isolation: they see the files and processes of this machine, and mount points are replaced only in arguments, environment and scripts; install a C compiler (gcc, libc6-dev) and run npm run setup; see docs/engines.md, "Without namespaces"';
