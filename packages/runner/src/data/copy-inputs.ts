import { backoffDelay, isServiceError, type VolumeFiles } from '@sluice/client';
import { privateCopyPath, type ReadInput } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { inputMounts, type Mount } from './create-mounts.ts';

/** Private copies to make for one attempt. */
export interface InputCopies {
  readonly attempt: Attempt;
  readonly inputs: readonly ReadInput[];
  /** Resolves to a message if the copies cannot be used. Called before they are moved into place. */
  readonly verify: (() => Promise<string | undefined>) | undefined;
  readonly files: () => VolumeFiles;
  /** Whether the attempt has ended, so that its copies are not needed any more. */
  readonly hasEnded: () => boolean;
}

/** Makes the private copies of one attempt. Resolves to a message if they cannot be made or used. */
export async function copyInputs(session: RunSession, copies: InputCopies): Promise<string | undefined> {
  const { attempt, inputs, verify } = copies;
  const isPart = verify !== undefined;
  /** By input. */
  const parts = new Map<string, string>();
  for (const read of inputs) {
    const { name, input } = read;
    const mounts = inputMounts(session, read, { cell: attempt.name, clusterID: attempt.ref.clusterID });
    const to = privateCopyPath(attempt.name, name);
    const copy = async (files: VolumeFiles, tries: number) => {
      const part = partOf(to, session.epoch, tries);
      parts.set(name, part);
      if (tries > 1) await files.remove(partOf(to, session.epoch, tries - 1));
      await copyMounts(files, { mounts, at: input.path, to, part, isPart });
    };
    const fault = await untilDone(session, copies, { name, action: copy });
    if (fault !== undefined) return fault;
  }
  if (!verify) return undefined;
  const fault = await verify();
  // The copies of a canceled attempt are not verified.
  if (fault !== undefined || attempt.cancel) return fault;
  for (const { name } of inputs) {
    const place = { part: parts.get(name)!, to: privateCopyPath(attempt.name, name) };
    const failed = await untilDone(session, copies, { name, action: (files) => moveIntoPlace(files, place) });
    if (failed !== undefined) return failed;
  }
  return undefined;
}

/** Retries until the attempt has ended. */
async function untilDone(
  session: RunSession,
  { attempt, files, hasEnded }: InputCopies,
  { name, action }: { readonly name: string; readonly action: (files: VolumeFiles, tries: number) => Promise<void> },
): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    if (hasEnded()) return undefined;
    try {
      await session.calls.add(() => action(files(), tries));
      return undefined;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      const message = `could not create a private copy of input ${name} of step ${attempt.name.step}: ${error.message}`;
      if (error.code === 'NOT_FOUND' || error.code === 'INVALID_ARGUMENT') return message;
      warn(session, message);
      await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
    }
  }
}

/**
 * Copies the mounts of an input as one tree, atomically. An existing copy is left alone, since it may be in use. With
 * `isPart`, the copy stays at its temporary path.
 */
async function copyMounts(
  files: VolumeFiles,
  copy: Place & { readonly mounts: readonly Mount[]; readonly at: string; readonly isPart: boolean },
): Promise<void> {
  const { mounts, at, to, part, isPart } = copy;
  if (await files.stat(to)) return;
  const [whole, ...cells] = mounts;
  if (whole === undefined) return;
  const target = cells.length === 0 && !isPart ? to : part;
  await copyMount(files, whole, target);
  for (const cell of cells) await copyMount(files, cell, target + cell.at.slice(at.length));
  if (!isPart && target !== to) await files.move(target, to);
}

/** Where a copy is made, and where containers mount it. */
interface Place {
  readonly to: string;
  readonly part: string;
}

/**
 * The temporary path of a copy that is incomplete or not verified. No input has a dot in its name. Each try has a path of
 * its own: a request of an earlier try that the service carries out late must not change the copy of this one.
 */
function partOf(to: string, epoch: number, tries: number): string {
  return `${to}.part-${epoch}-${tries}`;
}

async function moveIntoPlace(files: VolumeFiles, { part, to }: Place): Promise<void> {
  if (!(await files.stat(to))) await files.move(part, to);
}

async function copyMount(files: VolumeFiles, { path, create }: Mount, to: string): Promise<void> {
  try {
    await files.copy(path, to);
  } catch (error) {
    if (isServiceError(error, 'ALREADY_EXISTS')) return;
    // A step that was skipped or failed may have published nothing. Its dependents mount an empty directory.
    if (!create || !isServiceError(error, 'NOT_FOUND')) throw error;
    await files.makeDirectory(to);
  }
}
