import type { PlantedBug } from './planted-bugs.ts';
import type { Scenario } from './scenario.ts';
import type { StepScript } from './step-script.ts';

const hasStep = (holds: (step: StepScript) => boolean) => (scenario: Scenario) =>
  scenario.runs.some(({ steps }) => steps.some(holds));
const isSpoiled = hasStep(({ spoils }) => spoils !== undefined);
const isSpoiledAndRunAgain = (scenario: Scenario) => isSpoiled(scenario) && scenario.isRunAgain === true;
const hasWritable = hasStep(({ writable }) => writable !== undefined);
const retriesWritable = hasStep(({ writable, attempts }) => writable !== undefined && attempts[0] !== 'succeed');

/** What would let programs change each other's data. */
export const PLANTED_INPUT_BUGS: readonly PlantedBug[] = [
  {
    name: 'does not compare inputs before it publishes',
    seed: 132,
    file: 'run/perform-command.ts',
    find: 'const changed = await parts.guard.check(at);',
    replace: 'const changed = await Promise.resolve(undefined);',
    among: isSpoiled,
  },
  {
    name: 'publishes what was made of a changed input',
    seed: 132,
    file: 'run/perform-command.ts',
    find: 'changed === undefined\n          ?',
    replace: "changed !== ''\n          ?",
    among: isSpoiled,
  },
  {
    name: 'publishes a step without outputs that changed its input',
    seed: 132,
    file: 'run/perform-command.ts',
    find: 'if (leavesNothing && !parts.guard.isNeeded(at, clusterOfAttempt(session.facts, where))) {',
    replace: 'if (leavesNothing) {',
    among: isSpoiled,
  },
  {
    name: 'gives others what an ended attempt has changed',
    seed: 1806,
    file: 'data/input-guard.ts',
    find: 'watch.suspect();',
    replace: 'void watch;',
    among: isSpoiled,
  },
  {
    name: 'finds every input unchanged',
    seed: 62,
    file: 'trees/tree-state.ts',
    find: '  if (changes.length > 0) return { ...changes[0]!, others: changes.length - 1 };',
    replace: '  if (changes.length >= 0) return undefined;',
    among: isSpoiled,
  },
  {
    name: 'takes the changed inputs of a resumed run for how they were',
    file: 'data/tree-watch.ts',
    find: '  const found = await states.find(place);\n',
    replace: '  await states.forget(place);\n  const found = undefined;\n',
    isRare: true,
  },
  {
    name: 'lets the attempts of a cell share a private copy',
    file: '../../run/src/facts/layout.ts',
    find: 'cellDirectory(name.cell))}/a${name.attempt}`,\n',
    replace: 'cellDirectory(name.cell))}/a1`,\n',
    among: retriesWritable,
  },
  {
    name: 'mounts the input itself where a private copy is asked for',
    file: 'data/create-mounts.ts',
    find: 'if (!hasPrivateCopy(read.input, session.plan.pipeline))',
    replace: 'if (hasPrivateCopy)',
    among: hasWritable,
  },
  {
    name: 'takes from the cache what a program has changed',
    seed: 132,
    file: 'cache/data-check.ts',
    find: "if (await isChanged(source, { clusterID, path })) return 'dataChanged';",
    replace: 'void isChanged;',
    among: isSpoiledAndRunAgain,
  },
  {
    name: 'fails, as soon as it has resumed, an attempt whose own container may have changed the input',
    file: 'submission/submit-attempt.ts',
    find: 'if (fault !== undefined && !isResumedLately(session)) return',
    replace: 'if (fault !== undefined) return',
    isRare: true,
  },
  {
    name: 'mounts an input whose comparison, which was in progress, has failed',
    file: 'data/tree-watch.ts',
    find: 'if (!isSuspect) await last;\n      return isSuspect ? compare() : change;',
    replace: 'if (isSuspect) return compare();\n      await last;\n      return change;',
    isRare: true,
  },
];
