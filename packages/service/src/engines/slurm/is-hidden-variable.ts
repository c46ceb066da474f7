/** What the shell, the loader or Podman itself would take as meant for them, and what Slurm sets. */
const OF_OTHERS =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|IFS|ENV|PS\d|PPID|E?UID|OPT.*|BASH.*|SHELLOPTS|LANG|LC_.*|TZ|TMPDIR|.*PROXY|DBUS_.*|XDG_.*|LD_.*|GO.*|SSL_.*|STORAGE_.*|REGISTRY_.*|CONTAINER.*|PODMAN.*|_.*|SLURM.*|LISTEN_.*|NOTIFY_.*|.*_VISIBLE_DEVICES|ZE_AFFINITY_MASK|GPU_DEVICE_ORDINAL)$/i;

/** Whether a variable reaches the container by the environment, where other users of the node do not see the value. */
export function isHiddenVariable(name: string): boolean {
  return /^[A-Za-z]\w*$/.test(name) && !OF_OTHERS.test(name);
}
