import type { Container } from '@sluice/client';
import type { Plan, Step } from '@sluice/core';
import { createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { StartRunOptions } from '../../src/session/run-options.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

/** A service that mounts read-only on request. What it announces is believed: nothing keeps a simulated program from writing. */
export const READ_ONLY = { features: ['read-only-mounts'] };

/** Writes a file where the container has something mounted. */
export function write(
  rig: Rig,
  container: Container,
  { at, name, text }: { at: string; name: string; text: string },
): void {
  const [key = ''] = Object.entries(container.volumeMounts ?? {}).find(([, mounted]) => mounted === at) ?? [];
  const [volume = '', path = ''] = key.split(':');
  writeFile(rig.simulated.volumes.get(volume)!, `${path}/${name}`, Buffer.from(text));
}

export function read(rig: Rig, container: Container, { at, name }: { at: string; name: string }): string | undefined {
  const [key = ''] = Object.entries(container.volumeMounts ?? {}).find(([, mounted]) => mounted === at) ?? [];
  const [volume = '', path = ''] = key.split(':');
  const bytes = rig.simulated.volumes.get(volume)!.files.get(`${path}/${name}`);
  return bytes && Buffer.from(bytes).toString();
}

export async function run(rig: Rig, plan: Plan, more: Partial<StartRunOptions> = {}) {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/', ...more }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

export const make = createStep('make', { outputs: { data: { path: '/data', retain: false } } });
/** A matrix of three. */
export const cells = { axes: { n: [1, 2, 3] }, include: [], exclude: [] };
/** A step that reads what `make` left, by default as a private copy. */
export const change = (more: Partial<Step> = {}, writable = true) =>
  createStep('change', {
    inputs: { data: { from: { step: 'make', output: 'data' }, path: '/in/data', ...(writable && { writable }) } },
    outputs: { out: { path: '/out', retain: false } },
    ...more,
  });

/** `make` writes 6; `change` appends a zero to its input and writes what it reads to its output, as `sed -i` would. */
export function createChangeRig(options: Parameters<typeof createRig>[1] = READ_ONLY): Rig {
  const rig: Rig = createRig('writable', {
    ...options,
    behave: {
      make: { work: (container) => write(rig, container, { at: '/data', name: 'n', text: '6' }) },
      change: {
        work(container) {
          const text = `${read(rig, container, { at: '/in/data', name: 'n' })}0`;
          write(rig, container, { at: '/in/data', name: 'n', text });
          write(rig, container, { at: '/out', name: 'n', text });
        },
      },
      ...options?.behave,
    },
  });
  return rig;
}

/** Every file of the workspace, without the run's ID. */
export const filesOf = (rig: Rig) =>
  Object.fromEntries(
    [...[...rig.simulated.volumes.values()][0]!.files].map(([path, bytes]) => [
      path.replace(/^runs\/[^/]+\//, ''),
      Buffer.from(bytes).toString(),
    ]),
  );
