import { existsSync } from 'node:fs';
import type { HandOver } from '../api/run-api.ts';
import { ApiError } from '../errors/api-error.ts';
import { MAX_FILE_BYTES, type RunFileName } from '../schemas/hand-over.ts';
import type { HandOverParts } from './hand-over-parts.ts';
import { refuseShortage } from './refuse-shortage.ts';
import { releaseHandedRun } from './release-handed-run.ts';
import { readRelease } from './release-record.ts';
import { describeRemoval, readRemoval, refuseRemoved } from './removed-runs.ts';
import { appendStaged, createStaged, measureStaged, removeOldStaged, stagedDirectory } from './staged-files.ts';
import { startHandedRun } from './start-handed-run.ts';
import { startRerun } from './start-rerun.ts';

/** Runs of which files may be received at once, by account. */
const MAX_STAGED = 200;

/** Receives runs of an account, and releases them. Requests about one run are handled one after the other. */
export function createHandOver(parts: HandOverParts): HandOver {
  const { home, limits, now } = parts;
  const last = new Map<string, Promise<unknown>>();

  async function inTurn<T>(runId: string, action: () => Promise<T>): Promise<T> {
    const previous = last.get(runId);
    const done = (async () => {
      await previous?.catch(() => {});
      return action();
    })();
    last.set(runId, done);
    try {
      return await done;
    } finally {
      if (last.get(runId) === done) last.delete(runId);
    }
  }

  /** Never waits for another run, whose requests may wait for this one. */
  const removeOld = () =>
    removeOldStaged({ home, now }, (runId, action) => (last.has(runId) ? undefined : inTurn(runId, action)));

  const admit = createAdmission(parts, removeOld);

  /** For requests that would start the run, or let another machine execute it. */
  const unlessRemoved = <T>(runId: string, action: () => Promise<T>): Promise<T> =>
    inTurn(runId, async () => {
      await refuseRemoved(home, runId);
      return action();
    });

  return {
    staged: async (runId) => ({ files: await measureStaged(home, runId) }),
    append: (runId, { name, offset, bytes }) =>
      unlessRemoved(runId, async () => {
        const size = offset + bytes.length;
        if (size > MAX_FILE_BYTES[name]) throw describeTooLarge(name, size);
        const before = await measureStaged(home, runId);
        await admit(runId);
        await limits.checkStorage(Math.max(0, offset + bytes.length - before[name]));
        await appendStaged({ home, runId, name, now }, { offset, bytes });
        return { files: await measureStaged(home, runId) };
      }),
    start: (runId, body) => unlessRemoved(runId, () => startHandedRun(runId, { ...parts, body })),
    release: (runId) => unlessRemoved(runId, () => releaseHandedRun(runId, parts)),
    rerun: (runId, request) => unlessRemoved(runId, () => startRerun(runId, { ...parts, request, removeOld })),
    act: (runId, action) =>
      inTurn(runId, async () => {
        if ((await readRelease(home, runId)) === undefined) return action();
        throw new ApiError(409, 'RUN_RELEASED', `could not change run ${runId}: its owner has taken it back`);
      }),
    exclude: inTurn,
    async findRemoval(runId) {
      const removal = await readRemoval(home, runId);
      return removal && describeRemoval(runId, removal);
    },
  };
}

function describeTooLarge(name: RunFileName, size: number): ApiError {
  const message = `could not accept the run: its ${name} has at least ${size} bytes, and a server takes at most ${MAX_FILE_BYTES[name]}; execute it without a server`;
  return new ApiError(413, 'RUN_TOO_LARGE', message);
}

/**
 * Creates the directory of the files of a run. One after the other: otherwise requests about several runs would count the same
 * others, and all be accepted.
 */
function createAdmission(
  parts: Pick<HandOverParts, 'home' | 'now' | 'findInodeShortage'>,
  removeOld: () => Promise<number>,
): (runId: string) => Promise<void> {
  const { home, now } = parts;
  let last: Promise<void> = Promise.resolve();
  return (runId) => {
    const admitted = last.then(async () => {
      const directory = stagedDirectory(home, runId);
      if (existsSync(directory)) return;
      const kept = await removeOld();
      await refuseShortage(parts);
      if (kept < MAX_STAGED) return createStaged({ home, runId, now });
      const message = `could not accept the run: ${MAX_STAGED} others were not started yet`;
      throw new ApiError(429, 'QUOTA_EXCEEDED', message);
    });
    last = admitted.catch(() => {});
    return admitted;
  };
}
