import path from 'node:path';
import { type ContainerService, isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { createSystemClock } from '../clock.ts';
import type { TransferProgress } from '../data/count-transfer.ts';
import { findLogin } from '../data/credentials.ts';
import { downloadTree } from '../data/download-tree.ts';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { readRun } from './read-run.ts';
import type { RunRefusal } from './run-options.ts';

export interface PullOptions {
  readonly service: ContainerService;
  readonly home: string;
  readonly runId: string;
  /** Name of one of the pipeline's outputs. */
  readonly output: string;
  /** Local directory; files in it that the output does not have are left alone. */
  readonly to: string;
  readonly onProgress?: (progress: TransferProgress) => void;
  readonly disk?: Disk;
}

/** Copies an output of a run to a local directory, whether or not the run is over. Throws Node's own errors for the local side. */
export async function pullOutput(options: PullOptions): Promise<Result<void, RunRefusal>> {
  const { service, runId, output: name, disk = createSystemDisk() } = options;
  const home = path.resolve(options.home);
  const report = await readRun(home, runId, disk);
  if (!report.ok) return report;
  const { outputs } = report.value;
  const output = outputs[name];
  if (output === undefined) {
    const names = Object.keys(outputs).join(', ') || 'none';
    return fail({ code: 'SOURCE_MISSING', message: `run ${runId} has no output ${name}; it has ${names}` });
  }
  const login = await findLogin({ disk, home, clock: createSystemClock() }, output.volumeID);
  if (login === undefined) {
    return fail({ code: 'SERVICE_REFUSED', message: `this home has no login to volume ${output.volumeID}` });
  }
  const { clusterID, accountID } = output;
  const files = service.volumes.files({ clusterID, accountID, id: output.volumeID }, login);
  try {
    await downloadTree(files, {
      from: output.path,
      to: options.to,
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    });
    return ok(undefined);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const away = isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE');
    return fail({ code: away ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message: error.message });
  }
}
