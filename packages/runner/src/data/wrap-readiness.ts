/** The directory in which a container signals that its readiness command has succeeded. */
export const READY_MOUNT = '/sluice/ready';
/** The file in `READY_MOUNT` that is the signal. */
export const READY_FILE = 'ok';

/**
 * The first argument is the number of words of the readiness command, which follows; the rest is the service's own
 * command. A POSIX shell cannot slice its arguments, so they are rotated and shifted.
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
 * The argv of a service with a readiness command. The protocol cannot run a command in an existing container, so the
 * container itself runs it concurrently with its own command, every second until it succeeds, and writes `READY_FILE`.
 */
export function wrapReadiness(command: readonly string[], ready: readonly string[]): string[] {
  return ['sh', '-c', SCRIPT, 'sluice', String(ready.length), ...ready, ...command];
}
