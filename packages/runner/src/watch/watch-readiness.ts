import { pause, type RunSession } from '../run/run-session.ts';
import { urlOf } from '../run/step-context.ts';
import type { AttemptEvent, SchedulerEvent } from '../scheduler/event.ts';

const PAUSE_MS = 500;

/** When a container of a service step has come to run: asks until it answers, then posts `serviceReady`. */
export function watchReadiness(session: RunSession, event: SchedulerEvent): void {
  if (event.type !== 'running') return;
  const { service } = session.plan.steps[event.step]!.step;
  if (!service) return;
  void probeUntilReady(session, event).catch(session.bug);
}

async function probeUntilReady(session: RunSession, { step, cell, attempt }: AttemptEvent): Promise<void> {
  const { ready } = session.plan.steps[step]!.step.service!;
  // The protocol has no way to run a command in a container: such a service counts as ready when it runs.
  if (ready && 'port' in ready) {
    while (!session.stopped && isRunning(session, { step, cell, attempt })) {
      const port = session.facts.known[step]?.[cell]?.attempts.at(-1)?.container.ports?.[ready.port];
      const { url } = port ? urlOf(port) : {};
      if (url !== undefined && (await session.probe(url + ready.path))) break;
      await pause(session, PAUSE_MS);
    }
  }
  session.post({ type: 'serviceReady', at: session.clock.now(), step, cell, attempt });
}

function isRunning(session: RunSession, at: { step: number; cell: number; attempt: number }): boolean {
  const { scheduler } = session;
  return scheduler.state(at.step, at.cell) === 'running' && scheduler.attempt(at.step, at.cell) === at.attempt;
}
