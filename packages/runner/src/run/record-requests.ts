import type { ContainerService } from '@sluice/client';
import type { RunFacts } from '@sluice/run';
import type { RunLoop } from './run-loop.ts';

/** A create request is sent at most this long after a durable record. Seldom more: each costs a sync. */
const LONGEST_SILENCE_MS = 5 * 60_000;

/**
 * How long a create request may be on its way: with the default limits of the client, it may log in again with all
 * repetitions, which takes at most 11 minutes, and then the service or a gateway may hold it.
 */
const LONGEST_REQUEST_MS = 15 * 60_000;

/** When the last container of a process was created at the latest, from the time of the process's last record. */
export function findLatestCreation(lastAt: number): number {
  return lastAt + LONGEST_SILENCE_MS + LONGEST_REQUEST_MS;
}

interface RequestRecords {
  readonly clock: { now(): number };
  readonly facts: Pick<RunFacts, 'createdBy'>;
  readonly loop: Pick<RunLoop, 'recordedAt' | 'post' | 'recorded'>;
}

/**
 * The same service, whose create requests are sent only shortly after a durable record, if necessary one of the present
 * time. Otherwise a process that waited for hours would leave no trace of when it created its last container. From its
 * request on, a container may be one of this process, so that nothing is known of an earlier creation.
 */
export function recordRequests(service: ContainerService, { clock, facts, loop }: RequestRecords): ContainerService {
  const { containers } = service;
  let recording: Promise<boolean> | undefined;

  function record(): Promise<boolean> {
    recording ??= (async () => {
      loop.post({ type: 'tick', at: clock.now() });
      return loop.recorded();
    })().finally(() => {
      recording = undefined;
    });
    return recording;
  }

  return {
    ...service,
    containers: {
      ...containers,
      async create(scope, spec, options) {
        const { recordedAt = Number.NEGATIVE_INFINITY } = loop;
        const isStopped = clock.now() - recordedAt > LONGEST_SILENCE_MS && !(await record());
        if (isStopped) await new Promise<never>(() => {});
        if (options?.containerID !== undefined) facts.createdBy.delete(options.containerID);
        return containers.create(scope, spec, options);
      },
    },
  };
}
