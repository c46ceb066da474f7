import type { RunSession } from './run-session.ts';

/** Reports a warning about a run, which its journal keeps. */
export function warn(session: Pick<RunSession, 'clock' | 'report'>, message: string): void {
  session.report({ type: 'warning', at: session.clock.now(), message });
}
