import { describeServiceHold, findServiceHold } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';

/** The pause between two checks, and how long a wait must last to be reported. */
const CHECK_MS = 60_000;

/**
 * Warns, once per occurrence, if the run's own services may hold the capacity that the rest of the run waits for: the
 * service cannot report that, and the run would never continue. Returns a function that stops the checks.
 */
export function watchServiceHold(session: RunSession): () => void {
  const { clock, plan } = session;
  if (!plan.steps.some(({ step }) => step.service)) return () => {};
  let warned = false;
  let cancel = clock.setTimer(clock.now() + CHECK_MS, check);
  function check(): void {
    if (session.stopped) return;
    const hold = findServiceHold(session);
    const isLong = hold !== undefined && clock.now() - hold.since >= CHECK_MS;
    if (isLong && !warned) session.report({ type: 'warning', at: clock.now(), message: describeServiceHold(hold) });
    warned = isLong;
    cancel = clock.setTimer(clock.now() + CHECK_MS, check);
  }
  return () => cancel();
}
