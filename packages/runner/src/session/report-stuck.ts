import { describeWait } from '@sluice/run';
import type { RunSession } from './run-session.ts';

/** Called after a turn: ends a run that can never continue, with the reasons, instead of hanging. */
export function reportStuck(session: RunSession): void {
  const { plan, scheduler } = session;
  const held = scheduler.stuck()?.filter(({ state }) => state === 'ready');
  if (held === undefined) return;
  const reasons = held.map(
    ({ step, reason }) => `${plan.steps[step]!.step.name} ${reason ? describeWait(reason) : ''}`,
  );
  const message = `the run could not continue: ${reasons.join('; ')}; deadlock: that capacity can never be freed`;
  session.post({ type: 'stuck', at: session.clock.now(), message });
}
