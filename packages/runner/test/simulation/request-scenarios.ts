import { createRandom, type Random } from '../../../run/test/random.ts';
import { OWN_DIALECT } from './dialect.ts';
import { CALM } from './faults.ts';
import type { PersonRequest } from './person-request.ts';
import { ASKING_STEP } from './requests.ts';
import { drawScenario, type Mishap, type RunScript, type Scenario } from './scenario.ts';
import type { StepScript } from './step-script.ts';

/** Around the deadline of a request, which is 4 s, and the time after which its client gives up, which is 5 s. */
const STOPPED_MS = [0, 0, 1000, 3900, 4500, 4900, 6000, 60_000, 600_000] as const;
/**
 * A lost or torn journal does not contain the answers and cancellations, so they cannot be checked. Without working locks, it
 * is unknown which process receives a request.
 */
const UNSUITED: readonly Mishap['kind'][] = ['lose', 'tear', 'second'];

/**
 * A run that no process resumes for hours keeps its place in the group while one of its containers is alive. Until then, an
 * earlier run is correctly rejected with GROUP_BUSY when it is resumed: with `replace` it does not wait for a later run, and
 * canceling that run would undo the replacement. The message names the run to resume or cancel. No user does that here, so
 * the earlier run would use up all of its processes.
 */
const UNSUITED_ON_SERVERS: readonly Mishap['kind'][] = [...UNSUITED, 'leave'];

/** A world with users who send requests about its runs. Their seed is separate, so that the meaning of other seeds is kept. */
export function drawRequestScenario(seed: string): Scenario {
  const { isRunAgain: _, resumesLost: __, ...scenario } = drawScenario(seed);
  const random = createRandom(`${seed}/requests`);
  return { ...scenario, runs: scenario.runs.map((run, index) => addRequests(run, random.fork(`run ${index}`))) };
}

/** A server whose runs replace each other, with users who send requests. */
export function drawServerScenario(seed: string): Scenario {
  for (let tried = 0; ; tried++) {
    const scenario = drawScenario(`${seed}/${tried}`);
    // A server executes only runs of one cluster.
    const isElsewhere = scenario.runs.some(({ steps }) => steps.some(({ clusters }) => clusters !== undefined));
    if (scenario.group === undefined || isElsewhere) continue;
    const random = createRandom(`${seed}/server`);
    return {
      ...scenario,
      seed,
      group: { limit: 1, overlap: 'replace' },
      isServer: true,
      runs: scenario.runs.map((run, index) => addRequests(run, random.fork(`run ${index}`), UNSUITED_ON_SERVERS)),
    };
  }
}

/**
 * A user cancels a quiet run, and the process that receives the request dies at each of its first operations: one of them is
 * the first write after the request.
 */
export function* createCrashesAfterRequest(operations: number): Generator<Scenario> {
  const steps = [{ ...createAskingSteps()[1]!, needs: [], runMs: 60_000 }];
  const requests = [{ verb: 'cancel', afterMs: 10_000, stoppedMs: 0 }] as const;
  for (let operation = 1; operation <= operations; operation++) {
    const mishap = { kind: 'crash', operation, before: true, machine: true } as const;
    yield {
      ...{ seed: `crash after a request, operation ${operation}`, pools: {}, dialect: OWN_DIALECT, faults: CALM },
      ...{ bursts: [], hints: true, runs: [{ steps, failFast: true, mishaps: [mishap], requests }] },
    };
  }
}

function addRequests(run: RunScript, random: Random, unsuited = UNSUITED): RunScript {
  const asks = random.chance(0.7);
  const verbs = [
    'cancel',
    'suspend',
    'suspend',
    ...(asks ? (['approve', 'reject', 'approve', 'reject'] as const) : []),
  ] as const;
  const requests = Array.from(
    { length: 1 + random.below(4) },
    (): PersonRequest => ({
      verb: random.pick(verbs),
      afterMs: random.below(180_000),
      stoppedMs: random.pick(STOPPED_MS),
      ...(random.chance(0.15) && { losesReply: true }),
    }),
  );
  const mishaps = run.mishaps.filter(({ kind }) => !unsuited.includes(kind));
  return { ...run, mishaps, requests, ...(asks && { steps: [...run.steps, ...createAskingSteps()] }) };
}

function createAskingSteps(): StepScript[] {
  const step = (name: string, needs: readonly string[]): StepScript => ({
    ...{ name, needs, inputs: [], hasOutput: false, cells: 1, retries: 0, continueOnError: false },
    ...{ attempts: ['succeed'], runMs: 50 },
  });
  return [{ ...step(ASKING_STEP, []), asks: true }, step('deploy', [ASKING_STEP])];
}
