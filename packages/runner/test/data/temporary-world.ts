import type { Container } from '@sluice/client';
import { createPlan, type Json, type Plan, parsePipeline } from '@sluice/core';
import { describeStatus, type RunReport } from '@sluice/run';
import { startRun } from '../../src/run/start-run.ts';
import type { StartRunOptions } from '../../src/session/run-options.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';
import type { Behaviour } from '../simulation/simulated-service.ts';

/** A world in which each program writes to its outputs, and notes every input that is not there while it runs. */
export interface TemporaryWorld {
  readonly rig: Rig;
  /** By step; it may be changed between runs. */
  readonly behave: Record<string, Partial<Behaviour>>;
  /** Inputs that a container found absent or empty. */
  readonly missing: string[];
  /** The text of each result of a container. */
  resultOf: (container: Container) => string;
  /** The files in the volumes whose path contains this text. */
  filesOf(text: string): string[];
  /** The cells whose containers were created since the last call, in their order. */
  ran(): string[];
  run(plan: Plan, more?: Partial<StartRunOptions>): Promise<RunReport>;
}

export function createTemporaryWorld(seed: string, options: RigOptions = {}): TemporaryWorld {
  const missing: string[] = [];
  const behave: Record<string, Partial<Behaviour>> = { ...options.behave };
  let seen = 0;

  function visit(container: Container, when: string): void {
    const { labels = {}, volumeMounts = {} } = container;
    const name = nameOf(labels);
    for (const [key, at] of Object.entries(volumeMounts)) {
      const [volume = '', place = ''] = key.split(':');
      const { files } = rig.simulated.volumes.get(volume)!;
      if (!at.startsWith('/in/')) {
        const [file, text] = at === '/sluice/results' ? ['parts', world.resultOf(container)] : ['data', name];
        if (when === 'end') writeFile(rig.simulated.volumes.get(volume)!, `${place}/${file}`, Buffer.from(text));
      } else if (![...files.keys()].some((file) => file.startsWith(`${place}/`))) {
        missing.push(`${name} has no ${at} at its ${when}`);
      }
    }
  }

  const programs: ProxyHandler<Record<string, Partial<Behaviour>>> = {
    get: (all, step: string) => ({
      begin: (container: Container) => visit(container, 'begin'),
      work: (container: Container) => visit(container, 'end'),
      ...all[step],
    }),
  };
  const rig = createRig(seed, { ...options, behave: new Proxy(behave, programs) });
  const world: TemporaryWorld = {
    rig,
    behave,
    missing,
    resultOf: () => '[]',
    filesOf: (text) =>
      [...rig.simulated.volumes.values()].flatMap(({ files }) =>
        [...files.keys()].filter((file) => file.includes(text)),
      ),
    ran() {
      const names = rig.created().map(({ wire }) => nameOf(wire.labels ?? {}));
      const fresh = names.slice(seen);
      seen = names.length;
      return fresh;
    },
    async run(plan, more = {}) {
      const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', ...more }));
      if (!started.ok) throw new Error(started.error.message);
      return rig.go(started.value.finished);
    },
  };
  return world;
}

function nameOf(labels: Readonly<Record<string, string>>): string {
  const cell = labels['sluice-cell'] ?? '';
  return cell === '' ? (labels['sluice-step'] ?? '') : `${labels['sluice-step']}/${cell}`;
}

export function planOf(body: string, params: Readonly<Record<string, Json>> = {}): Plan {
  const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: temporary\nfailFast: false\n${body}` });
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join('\n'));
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** The states of the cells of each step. */
export function statesOf({ steps }: RunReport): Record<string, string> {
  return Object.fromEntries(steps.map(({ step, cells }) => [step, cells.map(describeStatus).join(' ')]));
}
