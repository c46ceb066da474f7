import type { VolumeService } from '@sluice/client';
import { own, type Result } from '@sluice/core';
import { announceStart, rejectDiskErrors } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { findLogin } from '../data/credentials.ts';
import { numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { StartRunOptions } from '../session/run-options.ts';
import { provisionRun } from './provision-run.ts';

/** The data that a server needs to execute a run. */
export interface OrderedData {
  /** Absent: the plan needs none. */
  readonly workspace?: { readonly volumeId: string; readonly login: VolumeService };
  /** By the names of the volumes: the digests of the uploaded sources. */
  readonly sources: Readonly<Record<string, string>>;
  /** By the names of the volumes: the digests of the files and directories of its source that inputs name, by path. */
  readonly parts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Checks everything on this machine for which the run could not start, creates its workspace and uploads its sources, and
 * then has `send` order it from a server. The home records nothing; until `send` has ended, garbage collection keeps the
 * sources.
 */
export function provisionOrder<T, E>(
  given: StartRunOptions & { readonly runId: string },
  send: (data: OrderedData) => Promise<Result<T, E>>,
): Promise<Result<T, E | RunError>> {
  const { runId } = given;
  const options = numberEvents(withDefaults(given), runId);
  const { disk, home, clock, plan } = options;
  return rejectDiskErrors<T, E>(home, async () => {
    const announced = await announceStart(options, { runId, pipeline: plan.pipeline.name, createdAt: clock.now() });
    try {
      const provisioned = await provisionRun(options);
      if (!provisioned.ok) return provisioned;
      const { volumes } = provisioned.value;
      await announced.volumesReady(volumes);
      const volumeId = own(volumes, '')?.volumeID;
      const login = volumeId === undefined ? undefined : await findLogin({ disk, home, clock }, volumeId);
      const sources = Object.entries(volumes).flatMap(([name, { digest }]) =>
        digest === undefined ? [] : [[name, digest] as const],
      );
      const parts = Object.entries(volumes).flatMap(([name, place]) =>
        Object.keys(place.parts ?? {}).length === 0 ? [] : [[name, place.parts!] as const],
      );
      return await send({
        sources: Object.fromEntries(sources),
        ...(parts.length > 0 && { parts: Object.fromEntries(parts) }),
        ...(volumeId !== undefined && login !== undefined && { workspace: { volumeId, login } }),
      });
    } finally {
      await announced.end();
    }
  });
}
