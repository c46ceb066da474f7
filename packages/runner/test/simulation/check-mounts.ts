import { createHash } from 'node:crypto';
import type { Container } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { JournalEvidence } from './journal-evidence.ts';
import { writeFile } from './memory-files.ts';
import type { SimulatedService } from './simulated-service.ts';

export interface MountCheckerOptions {
  readonly plan: Plan;
  readonly runId: string;
  readonly simulated: () => SimulatedService;
}

/** Watches what the containers of a run are given, and what becomes of what they write. */
export interface MountChecker {
  /** What a successful container does: writes a hash of everything that it was given. */
  work(container: Container): void;
  onCreated(
    id: string,
    made: { readonly container: Container; readonly step: number; readonly now: JournalEvidence },
  ): void;
  /** Every output that a successful run must have left, made of its inputs. */
  checkOutputs(): void;
}

/** Creates a `MountChecker`. */
export function createMountChecker(
  options: MountCheckerOptions,
  claim: (holds: boolean, message: () => string) => void,
): MountChecker {
  const { plan, runId } = options;
  /** Directory that an attempt writes to, to its container. */
  const places = new Map<string, string>();
  /** What each container wrote, by `step/cell/attempt`. */
  const written = new Map<string, string>();

  function checkMounts(id: string, step: number, container: Container): void {
    const given = Object.entries(container.volumeMounts ?? {}).filter(([, at]) => at.startsWith('/in/'));
    const wanted = Object.values(plan.steps[step]?.step.inputs ?? {}).flatMap(({ from }) =>
      'step' in from ? [`runs/${runId}/out/${from.step}/${from.output}`] : [],
    );
    const paths = given.map(([key]) => key.split(':')[1] ?? '');
    claim(JSON.stringify(paths.sort()) === JSON.stringify(wanted.sort()), () => `${id} mounts ${paths.join(', ')}`);
  }

  /** What is mounted is, to the byte, what the durable winners wrote, whole and on this cluster. */
  function checkContents(id: string, step: number, { container, now }: { container: Container; now: JournalEvidence }) {
    for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
      if (!at.startsWith('/in/')) continue;
      const [volume = '', path = ''] = key.split(':');
      const from = plan.steps[step]?.step.inputs[at.slice('/in/'.length)]?.from;
      const producer = plan.steps.find((planned) => from && 'step' in from && planned.step.name === from.step);
      for (const [cell, { key: name }] of (producer?.cells ?? []).entries()) {
        const [winner] = now.winners.get(`${producer!.index}/${cell}`) ?? [];
        const wrote = winner && written.get(`${producer!.step.name}/${name}/${winner}`);
        if (!wrote) continue;
        const file = [path, name, 'data'].filter(Boolean).join('/');
        const found = options.simulated().volumes.get(volume)?.files.get(file);
        claim(
          found !== undefined && Buffer.from(found).toString() === wrote,
          () => `${id} mounts ${file}, which is not what ${producer!.step.name}/${name} wrote`,
        );
      }
    }
  }

  /** What an attempt may write is its own: no other attempt, not even of the same cell, is given the same directory. */
  function checkOwnPlaces(id: string, container: Container): void {
    for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
      if (at.startsWith('/in/')) continue;
      const place = key.split(':')[1] ?? '';
      claim(place.startsWith(`runs/${runId}/`), () => `${id} writes to ${place}`);
      claim(!places.has(place), () => `${id} writes to ${place}, which is ${places.get(place)}'s`);
      places.set(place, id);
    }
  }

  return {
    work(container) {
      const text = digestInputs(container, options);
      const { labels = {} } = container;
      written.set(`${labels['sluice-step']}/${labels['sluice-cell']}/${labels['sluice-attempt']}`, text);
      for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
        const [volume = '', path = ''] = key.split(':');
        if (at === '/out') writeFile(options.simulated().volumes.get(volume)!, `${path}/data`, Buffer.from(text));
      }
    },
    onCreated(id, { container, step, now }) {
      checkMounts(id, step, container);
      checkContents(id, step, { container, now });
      checkOwnPlaces(id, container);
    },
    checkOutputs() {
      const { volumes } = options.simulated();
      for (const { step, cells = [] } of plan.steps) {
        if (!step.outputs.out || step.continueOnError) continue;
        for (const { key } of cells) {
          const path = [`runs/${runId}/out/${step.name}/out`, key, 'data'].filter(Boolean).join('/');
          const wanted = expected(plan, step.name, key);
          if (wanted === undefined) continue;
          const found = [...volumes.values()].flatMap(({ files }) => files.get(path) ?? []);
          claim(found.length > 0, () => `${path} is missing`);
          for (const bytes of found) {
            claim(Buffer.from(bytes).toString() === wanted, () => `${path} is not made of its inputs`);
          }
        }
      }
    },
  };
}

function digestInputs(container: Container, { simulated }: MountCheckerOptions): string {
  const lines: string[] = [];
  for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
    if (!at.startsWith('/in/')) continue;
    const [volume = '', path = ''] = key.split(':');
    for (const [file, bytes] of simulated().volumes.get(volume)?.files ?? []) {
      if (!file.startsWith(`${path}/`) || !file.endsWith('/data')) continue;
      lines.push(`${at}${file.slice(path.length)}=${Buffer.from(bytes).toString()}`);
    }
  }
  return digest(container.labels?.['sluice-step'] ?? '', container.labels?.['sluice-cell'] ?? '', lines);
}

function digest(step: string, cell: string, lines: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([step, cell, [...lines].sort()]))
    .digest('hex')
    .slice(0, 16);
}

/** What a cell's output must be; undefined where a failed dependency makes that a matter of luck. */
function expected(plan: Plan, name: string, cell: string): string | undefined {
  const planned = plan.steps.find(({ step }) => step.name === name)!;
  const lines: string[] = [];
  for (const { from, path } of Object.values(planned.step.inputs)) {
    if (!('step' in from)) continue;
    const producer = plan.steps.find(({ step }) => step.name === from.step)!;
    if (producer.step.continueOnError) return undefined;
    for (const { key } of producer.cells ?? []) {
      const made = expected(plan, from.step, key);
      if (made === undefined) return undefined;
      lines.push(`${path}${key === '' ? '' : `/${key}`}/data=${made}`);
    }
  }
  return digest(name, cell, lines);
}
