import type { Container } from '@sluice/client';
import { createPlan, type Json, type Plan, parsePipeline } from '@sluice/core';
import { describeStatus, type RunReport } from '@sluice/run';
import { previewReuse, type ReusePreview } from '../../src/cache/preview-reuse.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle, StartRunOptions } from '../../src/session/run-options.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import type { Behaviour } from '../simulation/simulated-service.ts';

/** The functions of the runner that a world calls: the real ones, or those of a copy with a planted bug. */
export interface ReuseSubject {
  readonly startRun: typeof startRun;
  readonly resumeRun: typeof resumeRun;
  readonly previewReuse: typeof previewReuse;
}

/** A run of the world. */
export interface GivenRun {
  /** The pipeline file without `version`, `name` and `failFast`, in YAML or as a JSON object. */
  readonly body: string;
  readonly name?: string;
  readonly params?: Readonly<Record<string, Json>>;
  readonly reuse?: StartRunOptions['reuse'];
  /** The run is suspended so many milliseconds after its start, and resumed. */
  readonly leaveAfterMs?: number;
}

/** One home with runs, in which every approval is granted. */
export interface ReuseWorld {
  readonly rig: Rig;
  /** By step; it may be changed between runs. */
  readonly behave: Record<string, Partial<Behaviour>>;
  start(run: GivenRun): Promise<RunReport>;
  /** Runs all of them at the same time. */
  startAll(runs: readonly GivenRun[]): Promise<readonly RunReport[]>;
  preview(run: GivenRun): Promise<readonly ReusePreview[]>;
}

/** `values` contains the texts of the results by step, and is read when a container ends. */
export function createReuseWorld(
  seed: string,
  values: Readonly<Record<string, string>> = {},
  subject: ReuseSubject = { startRun, resumeRun, previewReuse },
): ReuseWorld {
  const behave: Record<string, Partial<Behaviour>> = {};
  const rig = createRig(seed, { behave });

  function work(container: Container): void {
    const { volumeMounts = {}, labels = {} } = container;
    const key = Object.keys(volumeMounts).find((one) => volumeMounts[one] === '/sluice/results');
    if (key === undefined) return;
    const [volume = '', place = ''] = key.split(':');
    const step = labels['sluice-step'] ?? '';
    writeFile(rig.simulated.volumes.get(volume)!, `${place}/r`, Buffer.from(values[step] ?? step));
  }

  async function live({ reuse, leaveAfterMs, ...run }: GivenRun): Promise<RunReport> {
    const plan = planOf(run);
    for (const { step } of plan.steps) {
      // A service runs until it is no longer needed.
      const more = { work, ...(step.service && { runMs: 1e9, end: 'Succeeded' as const }) };
      // Getters stay getters, so that containers of one step can differ.
      const given = Object.getOwnPropertyDescriptors(behave[step.name] ?? {});
      behave[step.name] = Object.defineProperties({}, { ...given, ...Object.getOwnPropertyDescriptors(more) });
    }
    let handle: RunHandle | undefined;
    const asked = new Set<string>();
    const answer = () => {
      for (const step of handle ? asked : []) {
        asked.delete(step);
        handle?.approve(step, { approved: true, by: 'a test' });
      }
    };
    const reporter: StartRunOptions['reporter'] = {
      report(event) {
        if (event.type !== 'approvalAsked') return;
        asked.add(event.step);
        rig.clock.defer(answer);
      },
    };
    const options = { ...rig.options, reporter };
    const started = await subject.startRun({ ...options, plan, baseDir: '/base', ...(reuse && { reuse }) });
    if (!started.ok) throw new Error(started.error.message);
    handle = started.value;
    answer();
    if (leaveAfterMs === undefined) return handle.finished;
    await rig.clock.delay(leaveAfterMs);
    await handle.suspend();
    const report = await handle.finished;
    if (report.status !== 'suspended') return report;
    const { runId } = handle;
    handle = undefined;
    const resumed = await subject.resumeRun({ ...options, runId });
    if (!resumed.ok) throw new Error(resumed.error.message);
    handle = resumed.value;
    answer();
    return handle.finished;
  }

  return {
    rig,
    behave,
    start: (run) => rig.go(live(run)),
    startAll: (runs) => rig.go(Promise.all(runs.map(live))),
    async preview({ reuse, ...run }) {
      const options = { plan: planOf(run), home: '/home', reuse: reuse!, disk: rig.disk, clock: rig.clock };
      const previewed = await rig.go(subject.previewReuse(options));
      if (!previewed.ok) throw new Error(previewed.error.message);
      return previewed.value;
    },
  };
}

export function planOf({ body, name = 'p', params = {} }: Omit<GivenRun, 'reuse'>): Plan {
  const head = { version: 1, name, failFast: false };
  const text = body.startsWith('{')
    ? JSON.stringify({ ...head, ...(JSON.parse(body) as object) })
    : `version: 1\nname: ${name}\nfailFast: false\n${body}`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join('\n'));
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** The states of the cells of each step. */
export const statesOf = ({ steps }: RunReport): Record<string, string> =>
  Object.fromEntries(steps.map(({ step: name, cells }) => [name, cells.map(describeStatus).join(' ')]));
