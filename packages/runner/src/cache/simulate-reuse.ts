import type { Plan } from '@sluice/core';
import { type Clock, createTurnDeadline, type LookedUp } from '@sluice/home';
import {
  applyEvent,
  applyRecord,
  type CacheSource,
  type Command,
  createRunFacts,
  createRunScheduler,
  type MissReason,
  type RunFacts,
} from '@sluice/run';
import { decideStep } from '../session/decide-step.ts';
import type { Posted } from '../session/posted.ts';
import { createRunUsage } from '../session/run-usage.ts';
import { createHit } from './create-hit.ts';

/** A run of which only the facts and the scheduler exist. */
export type SimulatedRun = Parameters<typeof decideStep>[0] & Parameters<typeof createHit>[0];

/** A run at its beginning, with the facts of another that say what it is. */
export function createSimulatedRun(
  { runId, plan }: { readonly runId: string; readonly plan: Plan },
  { header, volumes }: Pick<RunFacts, 'header' | 'volumes'>,
): SimulatedRun {
  const facts = createRunFacts(plan);
  applyRecord(facts, header!);
  applyRecord(facts, { kind: 'volumes', volumes });
  return { runId, plan, facts, scheduler: createRunScheduler(plan, header!), usage: createRunUsage(facts, undefined) };
}

/** A cell that was looked up and not found. */
export interface MissedCell {
  readonly cell: number;
  readonly looked: Exclude<LookedUp, { kind: 'found' }>;
}

/** Why a success that was found cannot be reused; undefined if it can. */
export type SuccessCheck = (
  step: number,
  source: CacheSource,
) => MissReason | undefined | Promise<MissReason | undefined>;

interface Lookups {
  readonly lookUp: (step: number, cell: number) => LookedUp;
  /** Absent: every success that was found can be reused. */
  readonly findFault?: SuccessCheck;
  readonly clock: Clock;
}

/**
 * Simulates a run without containers, as if every service became ready and every approval was granted. Afterwards, the cells
 * that would be reused or skipped have ended, and the others have not. Returns the cells that were not found, by step. On a
 * server, the runs that are executed continue meanwhile.
 */
export async function simulateReuse(
  run: SimulatedRun,
  lookups: Lookups,
): Promise<ReadonlyMap<number, readonly MissedCell[]>> {
  const { clock } = lookups;
  const at = clock.now();
  const answers = createAnswers(run, lookups, at);
  let hasPassed = createTurnDeadline(clock);
  let posted: Posted[] = [{ event: { type: 'started', at } }];
  while (posted.length > 0) {
    // The loop also handles the events that are posted meanwhile.
    for (const next of posted) {
      for (const command of applyEvent(run, { kind: 'event', ...next })) {
        posted.push(...answers.answer(command));
        if (!hasPassed()) continue;
        await new Promise<void>(clock.defer);
        hasPassed = createTurnDeadline(clock);
      }
    }
    posted = await Promise.all(answers.takeLater());
  }
  return answers.missed;
}

/** Answers the commands of a simulated run. */
interface Answers {
  answer(command: Command): readonly Posted[];
  /** The answers since the last call that need time. */
  takeLater(): readonly Promise<Posted>[];
  readonly missed: ReadonlyMap<number, readonly MissedCell[]>;
}

function createAnswers(run: SimulatedRun, { lookUp, findFault }: Lookups, at: number): Answers {
  const missed = new Map<number, MissedCell[]>();
  let later: Promise<Posted>[] = [];

  function note(step: number, one: MissedCell): void {
    missed.set(step, missed.get(step) ?? []);
    missed.get(step)!.push(one);
  }

  const miss = (step: number, one: MissedCell): Posted => {
    note(step, one);
    return { event: { type: 'cacheMissed', at, step, cell: one.cell } };
  };
  function answerLookUp(step: number, cell: number): Posted[] {
    const looked = lookUp(step, cell);
    if (looked.kind !== 'found') return [miss(step, { cell, looked })];
    const { source, fingerprint } = looked;
    const judge = (reason: MissReason | undefined): Posted => {
      if (reason !== undefined) return miss(step, { cell, looked: { kind: 'missed', fingerprint, reason } });
      const hit = createHit(run, { at, step, cell }, source);
      return hit.ok ? hit.value : miss(step, { cell, looked: unevaluated(hit.error) });
    };
    const fault = findFault?.(step, source);
    if (fault instanceof Promise) later.push(fault.then(judge));
    return fault instanceof Promise ? [] : [judge(fault)];
  }

  function answerDecide(command: Extract<Command, { type: 'decide' }>): Posted[] {
    const decided = decideStep(run, { at, ...command });
    if (decided.event.type !== 'evaluationFailed') return [decided];
    // A failure would end the simulation. The expression may need the address of a service, which only a run knows.
    note(command.step, { cell: command.cell ?? 0, looked: unevaluated(decided.event.message) });
    return [];
  }

  function answer(command: Command): readonly Posted[] {
    switch (command.type) {
      case 'decide':
        return answerDecide(command);
      case 'askApproval':
        return [{ event: { ...command, type: 'approved', at, approved: true, by: 'preview' } }];
      case 'submit':
        return run.plan.steps[command.step]!.step.service === undefined ? [] : becomeReady(command, at);
      case 'lookUp':
        return answerLookUp(command.step, command.cell);
      default:
        return [];
    }
  }

  return {
    answer,
    takeLater() {
      const taken = later;
      later = [];
      return taken;
    },
    missed,
  };
}

function unevaluated(message: string): MissedCell['looked'] {
  return { kind: 'unevaluated', message, isOfKey: false };
}

function becomeReady({ step, cell, attempt }: Extract<Command, { type: 'submit' }>, at: number): readonly Posted[] {
  return (['running', 'serviceReady'] as const).map((type) => ({ event: { type, at, step, cell, attempt } }));
}
