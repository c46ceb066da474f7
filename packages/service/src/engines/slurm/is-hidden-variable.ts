/** Variables that the shell, the loader or Podman would interpret, and those that Slurm sets. */
const RESERVED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|IFS|ENV|PS\d|PPID|E?UID|OPT.*|BASH.*|SHELLOPTS|LANG|LC_.*|TZ|TMPDIR|.*PROXY|DBUS_.*|XDG_.*|LD_.*|GO.*|SSL_.*|STORAGE_.*|REGISTRY_.*|CONTAINER.*|PODMAN.*|_.*|SLURM.*|LISTEN_.*|NOTIFY_.*|.*_VISIBLE_DEVICES|ZE_AFFINITY_MASK|GPU_DEVICE_ORDINAL)$/i;

/**
 * Whether a variable is passed to the container in the environment, where other users of the node cannot see its value,
 * instead of in arguments.
 */
export function isHiddenVariable(name: string): boolean {
  return /^[A-Za-z]\w*$/.test(name) && !RESERVED.test(name);
}
