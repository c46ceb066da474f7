import { describeServiceHold, findServiceHold } from '../report/service-hold.ts';
import type { RunSession } from '../session/run-session.ts';

/** Between two looks, and how long a wait must have lasted to be told. */
const LOOK_MS = 60_000;

/**
 * Warns, once for each time, of a run whose own services may hold the room that all else of it waits for: the service
 * has no word for that, and nothing would ever happen. Returns what stops it.
 */
export function watchServiceHold(session: RunSession): () => void {
  const { clock, plan } = session;
  if (!plan.steps.some(({ step }) => step.service)) return () => {};
  let told = false;
  let cancel = clock.setTimer(clock.now() + LOOK_MS, look);
  function look(): void {
    if (session.stopped) return;
    const hold = findServiceHold(session);
    const isLong = hold !== undefined && clock.now() - hold.since >= LOOK_MS;
    if (isLong && !told) session.report({ type: 'warning', at: clock.now(), message: describeServiceHold(hold) });
    told = isLong;
    cancel = clock.setTimer(clock.now() + LOOK_MS, look);
  }
  return () => cancel();
}
