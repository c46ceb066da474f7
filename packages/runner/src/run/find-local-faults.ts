import { open } from 'node:fs/promises';
import path from 'node:path';
import { createRunId, resolveGroup } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { findMissingSources } from '../data/find-missing-sources.ts';
import { listPublished } from '../data/list-published.ts';
import { findMountFault } from '../placement/find-mount-fault.ts';
import type { ProvisionOptions } from '../session/provision-options.ts';
import { isWithin } from '../trees/is-within.ts';
import { listSource, type SourceOptions } from '../trees/list-source.ts';
import { findTargetFault, resolveTarget } from '../trees/target-fault.ts';
import { findMissingSecret } from './find-missing-secret.ts';
import { findOutsideOutput } from './find-outside-output.ts';

/** A reason on this machine for which a run cannot start. */
export interface LocalFault extends RunError {
  /** The keys of the value in the pipeline file, from its root. */
  readonly path?: readonly string[];
  readonly hint?: string;
}

/** What the faults of a plan depend on. With `frozen` or `workspaces`, the run has begun, so that it already owns its places. */
export interface LocalFaultOptions
  extends Pick<ProvisionOptions, 'plan' | 'baseDir' | 'home' | 'frozen' | 'workspaces' | 'limits' | 'publishBelow'> {
  readonly readSecret: (name: string) => string | undefined;
  /** Absent: the ID is not known yet. */
  readonly runId?: string;
  /** Also lists every file of the sources, which the upload of a run does later. */
  readonly listsSources?: boolean;
}

/** Finds everything on this machine for which a run would be rejected: for a run before it starts, and for its plan. */
export async function findLocalFaults(options: LocalFaultOptions): Promise<readonly LocalFault[]> {
  const { plan, baseDir, home, frozen, workspaces, limits } = options;
  const secret = findMissingSecret(plan, options.readSecret);
  const faults: LocalFault[] = secret === undefined ? [] : [secret];
  if (!frozen && !workspaces) faults.push(...findGroupFaults(options), ...(await findTargetFaults(options)));
  if (frozen) return faults;
  const mounts = findMountFault(plan, limits);
  if (mounts !== undefined) {
    const section = plan.pipeline.finally.some(({ name }) => name === mounts.step) ? 'finally' : 'steps';
    faults.push({ code: 'TOO_MANY_MOUNTS', message: mounts.message, path: [section, mounts.step] });
  }
  const missing = await findMissingSources(plan, baseDir);
  faults.push(...missing);
  if (options.listsSources !== true) return faults;
  const known = new Set(missing.map(({ path: [, volume] }) => volume));
  for (const [volume, { source, exclude }] of Object.entries(plan.pipeline.volumes)) {
    if (source === undefined || known.has(volume)) continue;
    const reason = await whyUnreadable(path.resolve(baseDir, source), { home, ...(exclude && { exclude }) });
    if (reason === undefined) continue;
    const message = `could not read the source of volume ${volume}: ${reason}`;
    faults.push({ code: 'SOURCE_MISSING', message, path: ['volumes', volume, 'source'] });
  }
  return faults;
}

/** The name of the group is resolved again when the run enters it; here, only whether that succeeds matters. */
function findGroupFaults({ plan, runId = createRunId() }: LocalFaultOptions): readonly LocalFault[] {
  const group = resolveGroup(plan, { runId, plannedTime: Date.now() });
  return group.ok ? [] : [{ ...group.error, path: ['concurrency', 'group'] }];
}

async function whyUnreadable(source: string, options: SourceOptions): Promise<string | undefined> {
  try {
    // Opened, as the upload does it: `access` judges by the user who started the process.
    for (const { local } of (await listSource(source, options)).files) await (await open(local)).close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The directories of outputs that could not be replaced, or that are the same once links are followed. */
async function findTargetFaults(options: LocalFaultOptions): Promise<readonly LocalFault[]> {
  const { plan, baseDir, home } = options;
  const outside = await findOutsideOutput(options);
  if (outside !== undefined) return [{ code: 'TARGET_REJECTED', message: outside }];
  const faults: LocalFault[] = [];
  const taken = new Map<string, string>();
  for (const [name, to] of Object.entries(listPublished(plan, baseDir))) {
    const fault = (await findTargetFault(to, [baseDir, home])) ?? (await findShared(to, taken, name));
    if (fault === undefined) continue;
    const message = `could not use ${to} for output ${name}: ${fault}`;
    faults.push({ code: 'TARGET_REJECTED', message, path: ['outputs', name, 'publish'] });
  }
  return faults;
}

/** Each output replaces its directory as a whole, so no other output may be there, below it or above it. */
async function findShared(to: string, taken: Map<string, string>, name: string): Promise<string | undefined> {
  const target = await resolveTarget(to);
  for (const [other, owner] of taken) {
    if (isWithin(target, other) || isWithin(other, target)) {
      return `output ${owner} is published to ${other === target ? 'the same directory' : other}, after links are followed; name a directory of its own`;
    }
  }
  taken.set(target, name);
  return undefined;
}
