import { fail, ok, own, type Result, SluiceError } from '@sluice/core';
import type { Reporter, RunError } from '@sluice/run';
import type { RunHandle as RunnerHandle } from '@sluice/runner';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { keepReserve } from '../home/disk-reserve.ts';
import { type Connection, openAsCommand, prepareOwnHome } from './connection.ts';
import type { SluiceErrorCode } from './error-code.ts';
import { reportTo } from './event-queue.ts';
import { createRunHandle, type RunHandle, type RunHandleParts } from './run-handle.ts';
import type { ExecutionOptions } from './run-options.ts';
import type { DeclaredResults } from './run-result.ts';

type Rejection = RunError | SluiceError<SluiceErrorCode>;

/** What starting or resuming a run needs. */
interface RunBase extends Omit<Connection, 'close'> {
  readonly home: string;
  readonly secrets: (name: string) => string | undefined;
  readonly reporter: Reporter;
}

/** Opens what a run needs, and closes it when the run ends or cannot start. */
export async function openRun<R = DeclaredResults>(
  options: ExecutionOptions & Pick<RunHandleParts, 'declared' | 'queue'> & { readonly runId?: string },
  start: (base: RunBase) => Promise<Result<RunnerHandle, Rejection>>,
): Promise<Result<RunHandle<R>, Rejection>> {
  const { service, profile, secrets, signal, onEvent, declared, runId, queue } = options;
  if (signal?.aborted) return fail(new SluiceError('ABORTED', 'the signal was aborted before the run started'));
  const home = await prepareOwnHome(options.home);
  if (!home.ok) return home;
  const reached = service ? ok(service) : await openAsCommand({ home: options.home, profile }, runId);
  if (!reached.ok) return reached;
  const opened = reached.value;
  // What is opened here keeps the reserve of its home by itself.
  const dropReserve = service && (await keepReserve(home.value));
  const close = async () => (dropReserve ? dropReserve() : opened.close());
  try {
    const started = await start({
      service: opened.service,
      scope: opened.scope,
      ...(opened.limits && { limits: opened.limits }),
      ...(opened.traces && { traces: opened.traces }),
      home: home.value,
      secrets: secrets === undefined ? createSecretReader(home.value, process.env) : (name) => own(secrets, name),
      reporter: reportTo(queue, onEvent),
    });
    if (started.ok) return ok(createRunHandle<R>(started.value, { queue, signal, close, declared }));
    await close();
    return started;
  } catch (error) {
    await close();
    throw error;
  }
}
