import { findApprovals } from '@sluice/run';
import type { RunHandle } from '../session/run-options.ts';
import type { RunSession } from '../session/run-session.ts';
import type { RunLife } from './run-life.ts';
import type { RunLoop } from './run-loop.ts';

/** What a caller can do with a run that this process executes. */
export function createRunHandle(session: RunSession, life: RunLife, loop: Pick<RunLoop, 'recorded'>): RunHandle {
  const { clock } = session;
  /** Approvals whose answer was accepted, but possibly not handled yet: only the first answer counts. */
  const answered = new Set<string>();
  return {
    runId: session.runId,
    directory: session.directory,
    finished: life.finished,
    cancel: (by) => session.post({ type: 'cancelRequested', at: clock.now(), by }),
    suspend: () => life.suspend('its containers keep running, and no other step starts'),
    approve(name, { approved, by }) {
      const open = findApprovals(session, name).filter((place) => !answered.has(JSON.stringify(place)));
      for (const place of open) {
        answered.add(JSON.stringify(place));
        session.post({ type: 'approved', at: clock.now(), ...place, approved, by });
      }
      return open.length > 0;
    },
    recorded: loop.recorded,
  };
}
