import { type Clock, type ControlListener, type Disk, isLate, isLeaseSecret, LATE, OTHER_LEASE } from '@sluice/home';
import { parseControlRequest } from '../session/control-request.ts';

/** What is requested of a run while it waits for a place in its concurrency group. */
export interface EntryControl {
  /** Answers other processes; only lines with the secret of the run's lease count. */
  readonly listener: ControlListener;
  /** The name on whose behalf the run is canceled when it is open; undefined if it is not. */
  canceledBy(): string | undefined;
  /** Whether to stop waiting. */
  isLeft(): boolean;
}

/** Collects the requests about a run that was recorded before. `signal`: this process stops waiting. */
export function controlEntry(
  { disk, clock, signal }: { readonly disk: Disk; readonly clock: Pick<Clock, 'boot'>; readonly signal?: AbortSignal },
  directory: string,
): EntryControl {
  let canceledBy: string | undefined;
  let isLeft = false;
  return {
    canceledBy: () => canceledBy,
    isLeft: () => isLeft || signal?.aborted === true,
    listener(line, how) {
      const [secret = '', ...rest] = line.split(' ');
      if (!isLeaseSecret(disk, directory, secret)) return line === '' ? '' : OTHER_LEASE;
      const request = parseControlRequest(rest.join(' '));
      if (how?.isAwaited !== true && isLate(request?.before, clock)) return LATE;
      if (request?.verb === 'cancel') canceledBy ??= request.by;
      else if (request?.verb === 'suspend') isLeft = true;
      else return 'the run waits for its concurrency group';
      return 'ok';
    },
  };
}
