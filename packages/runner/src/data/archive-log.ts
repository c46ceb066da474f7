import path from 'node:path';
import { isServiceError, type Ref } from '@sluice/client';
import { describeFailure, type SchedulerEvent, scopeOn } from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import { pause, type RunSession } from '../session/run-session.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { removePartialOutput } from './remove-partial-output.ts';

/** Stores the logs of failed attempts in the run's directory, since the service deletes them after a week. */
export interface LogArchive {
  onEvent(event: SchedulerEvent): void;
  /** Resolves when no log is being fetched, or after `LONGEST_WAIT_MS`. */
  idle(): Promise<void>;
}

const TAIL_LINES = 50;
/** The most bytes that are stored: the end of a longer log. */
const MAX_LOG = 16 * 1024 * 1024;
/** More bytes are kept than are stored, because a secret may begin before the stored end. */
const KEPT = MAX_LOG + 1024 * 1024;
/** A log that is longer counts as endless: reading stops, and the last bytes so far are stored. */
const MAX_READ = 16 * 1024 * 1024 * 1024;
const LONGEST_WAIT_MS = 30_000;

/** Also reports each failed attempt, once its log is stored or cannot be read. */
export function createLogArchive(session: RunSession, workspace: WorkspaceFiles): LogArchive {
  const open = new Set<Promise<void>>();
  return {
    onEvent(event) {
      if (event.type !== 'ended' || event.outcome.result === 'succeeded') return;
      const work =
        event.outcome.result === 'failed'
          ? archiveLog(session, workspace, event)
          : removePartialOutput(session, workspace, { at: event, logTail: [] });
      const done = work.catch(session.fail);
      open.add(done);
      void done.finally(() => open.delete(done));
    },
    async idle() {
      if (open.size === 0) return;
      await new Promise<void>((resolve) => {
        const cancelTimer = session.setTimer(session.clock.now() + LONGEST_WAIT_MS, resolve);
        // The timer would keep the process alive after its run has ended.
        void Promise.all(open).then(() => {
          cancelTimer();
          resolve();
        });
      });
    },
  };
}

async function archiveLog(session: RunSession, workspace: WorkspaceFiles, event: Attempt['at']): Promise<void> {
  const at = { step: event.step, cell: event.cell, attempt: event.attempt };
  const attempt = session.facts.known[at.step]?.[at.cell]?.attempts.find((known) => known.attempt === at.attempt);
  if (attempt?.id !== undefined && attempt.submitted) {
    const written = await readLog(session, { ...scopeOn(session.facts, attempt.clusterID!), id: attempt.id });
    if (written && !session.stopped) {
      const log = session.redactor.tail(written, MAX_LOG);
      const tail = lastLines(log);
      await removePartialOutput(session, workspace, { at, logTail: tail });
      const file = path.join('logs', `${attempt.id}.log`);
      await session.disk.replace(path.join(session.directory, file), log);
      session.note({ kind: 'log', ...at, tail, file });
    }
  }
  if (session.stopped) return;
  session.report({ type: 'attemptFailed', at: session.clock.now(), ...describeFailure(session, at) });
}

async function readLog(session: RunSession, ref: Ref): Promise<Buffer | undefined> {
  for (let tries = 0; tries < 3 && !session.stopped; tries++) {
    try {
      return await session.calls.add(async () => {
        let chunks: Uint8Array[] = [];
        let size = 0;
        let read = 0;
        for await (const chunk of session.service.containers.logs(ref)) {
          chunks.push(chunk);
          size += chunk.length;
          read += chunk.length;
          if (size <= 2 * KEPT) continue;
          chunks = [Buffer.concat(chunks).subarray(-KEPT)];
          size = KEPT;
          if (read > MAX_READ) break;
        }
        return Buffer.concat(chunks).subarray(-KEPT);
      });
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (error.code === 'NOT_FOUND') return undefined;
      await pause(session, error.retryAfterMs ?? 1000);
    }
  }
  return undefined;
}

function lastLines(log: Buffer): string[] {
  const lines = log.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.slice(-TAIL_LINES).map((line) => line.slice(0, 2000));
}
