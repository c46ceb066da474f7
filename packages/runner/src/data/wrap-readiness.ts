/** Where a container leaves the sign that its readiness command has succeeded. */
export const READY_MOUNT = '/sluice/ready';
/** The sign itself, a file in there. */
export const READY_FILE = 'ok';

/**
 * The first argument says how many words of what follows are the readiness command; the rest is the service's own. A
 * shell cannot take a part of its arguments: they are rotated until the wanted ones stand alone.
 */
const SCRIPT = `ready=$1; shift
(
  own=$(($# - ready)); turn=0
  while [ $turn -lt $ready ]; do word=$1; shift; set -- "$@" "$word"; turn=$((turn + 1)); done
  shift $own
  until "$@" > /dev/null 2>&1; do sleep 1; done
  : > ${READY_MOUNT}/${READY_FILE}
) &
shift $ready
exec "$@"`;

/**
 * The argv of a service whose readiness is a command. The protocol cannot run anything in a container that is there: the
 * container runs the readiness command itself beside its own, every second until it succeeds, and leaves a sign.
 */
export function wrapReadiness(command: readonly string[], ready: readonly string[]): string[] {
  return ['sh', '-c', SCRIPT, 'sluice', String(ready.length), ...ready, ...command];
}
