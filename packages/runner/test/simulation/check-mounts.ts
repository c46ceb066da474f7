import type { Container } from '@sluice/client';
import type { RunReport } from '@sluice/run';
import {
  createProgramChecker,
  expectedOutput,
  type ProgramChecker,
  type ProgramCheckerOptions,
  SKIPPED,
} from './check-programs.ts';

export interface MountCheckerOptions extends ProgramCheckerOptions {
  readonly runId: string;
}

/** Watches what the containers of a run are given, and what becomes of what they write. */
export interface MountChecker extends Omit<ProgramChecker, 'isSpoiled'> {
  /** Every output that a successful run must have left, made of its inputs. */
  checkOutputs(report: Pick<RunReport, 'steps'>): void;
}

/** Creates a `MountChecker`. */
export function createMountChecker(
  options: MountCheckerOptions,
  claim: (holds: boolean, message: () => string) => void,
): MountChecker {
  const { plan, runId } = options;
  const programs = createProgramChecker(options, claim);
  /** Directory that an attempt writes to, to its container. */
  const places = new Map<string, string>();

  function checkMounts(id: string, step: number, container: Container): void {
    const given = Object.entries(container.volumeMounts ?? {}).filter(([, at]) => at.startsWith('/in/'));
    const { 'sluice-step': name, 'sluice-cell': cell, 'sluice-attempt': attempt } = container.labels ?? {};
    const copies = ['runs', runId, 'private', name, cell, `a${attempt}`].filter(Boolean).join('/');
    const wanted = Object.entries(plan.steps[step]?.step.inputs ?? {}).flatMap(([input, { from, writable }]) => {
      if (!('step' in from)) return [];
      return writable ? [`${copies}/${input}`] : [`runs/${runId}/out/${from.step}/${from.output}`];
    });
    // The cells of one axis may be mounted one by one, or as directories of several; what is there is judged by its content.
    if (plan.axes !== undefined) return;
    const paths = given.map(([key]) => key.split(':')[1] ?? '');
    claim(JSON.stringify(paths.sort()) === JSON.stringify(wanted.sort()), () => `${id} mounts ${paths.join(', ')}`);
  }

  /** What an attempt may write is its own: no other attempt, not even of the same cell, is given the same directory. */
  function checkOwnPlaces(id: string, step: number, container: Container): void {
    const { inputs = {} } = plan.steps[step]?.step ?? {};
    const shared = Object.values(inputs).flatMap(({ path, writable }) => (writable ? [] : [path]));
    for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
      if (shared.some((path) => at === path || at.startsWith(`${path}/`))) continue;
      const place = key.split(':')[1] ?? '';
      claim(place.startsWith(`runs/${runId}/`), () => `${id} writes to ${place}`);
      claim(!places.has(place), () => `${id} writes to ${place}, which is ${places.get(place)}'s`);
      places.set(place, id);
    }
  }

  /** Where the output of a cell with axes is depends on what the pipeline reads together (decision 0079). */
  function checkSomewhere(output: string, key: string, wanted: string): void {
    const isThere = [...options.simulated().volumes].some(([volume, { files }]) =>
      [...files].some(([file, bytes]) => {
        if (!file.startsWith(`runs/${runId}/out/${output}/`) || !file.endsWith('/data')) return false;
        return Buffer.from(bytes).toString() === wanted || programs.isSpoiled(volume, file);
      }),
    );
    claim(isThere, () => `the output ${output} of ${key} is missing, or not made of its inputs`);
  }

  return {
    program: programs.program,
    onEvidence: programs.onEvidence,
    onCreated(id, made) {
      checkMounts(id, made.step, made.container);
      programs.onCreated(id, made);
      checkOwnPlaces(id, made.step, made.container);
    },
    checkOutputs({ steps }) {
      const { volumes } = options.simulated();
      const ends = new Map(steps.map(({ step, cells }) => [step, new Map(cells.map((one) => [one.cell, one.status]))]));
      const stepEnds = new Map(steps.map(({ step, status }) => [step, status]));
      for (const { step, cells = [], dependencies } of plan.steps) {
        if (!step.outputs.out || step.continueOnError) continue;
        for (const { key } of cells) {
          const wanted = expectedOutput(plan, step.name, key);
          // A `foreach` that was skipped has no cells.
          const end = ends.get(step.name)?.get(key) ?? stepEnds.get(step.name);
          if (end === 'skipped') {
            // Behind a failure that is tolerated, or behind what was skipped for one.
            const before = dependencies.map(({ on }) => stepEnds.get(plan.steps[on]!.step.name));
            const mayBe = plan.axes !== undefined && (wanted === undefined || wanted === SKIPPED);
            const isRight = mayBe || before.includes('failed') || before.includes('skipped');
            claim(isRight, () => `${step.name}/${key} was skipped in a run that succeeded`);
            continue;
          }
          if (wanted === undefined) continue;
          claim(wanted !== SKIPPED, () => `${step.name}/${key} was not skipped, although it has nothing to read`);
          if (step.each) {
            checkSomewhere(`${step.name}/out`, key, wanted);
            continue;
          }
          const path = [`runs/${runId}/out/${step.name}/out`, key, 'data'].filter(Boolean).join('/');
          const found = [...volumes].flatMap(([volume, { files }]) => {
            const bytes = files.get(path);
            return bytes ? [{ volume, text: Buffer.from(bytes).toString() }] : [];
          });
          claim(found.length > 0, () => `${path} is missing`);
          for (const { volume, text } of found) {
            const isRight = text === wanted || programs.isSpoiled(volume, path);
            claim(isRight, () => `${path} is not made of its inputs`);
          }
        }
      }
    },
  };
}
