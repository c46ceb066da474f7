import { isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { placeOf, readCustody, readRunSummary, runCustody, type ServerPlace } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import { keepRecordedService } from '../connect/keep-recorded-service.ts';
import { openService } from '../connect/open-service.ts';
import type { RunServer } from '../connect/run-server.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { type CommandError, wholeMessage } from '../context/command-rejection.ts';
import { printWarning } from '../context/print-warning.ts';
import { type RunSelection, selectRun } from './select-run.ts';
import { serverOptions } from './server-options.ts';

/** A run of this home, as its journal describes it now, whichever machine executes it. */
export interface ShownRun<O extends GlobalOptions> {
  readonly run: RunSummary;
  /**
   * Those of the command. If they name no service: with that of the run, which is its server, or the one that it recorded
   * when it started.
   */
  readonly options: O;
  /** The server that executes the run, or has executed it to its end; undefined: this home does. */
  readonly place: ServerPlace | undefined;
  /** Whether it is unknown if the server has accepted its order. */
  readonly isOrdering: boolean;
}

/** How to select the run; as for `selectRun`. */
type Selection<O extends GlobalOptions> = RunSelection & {
  readonly options: O;
  readonly context: CommandContext;
};

/**
 * Selects a run as `selectRun` does, and brings the copy of a run that a server executes up to date; if that is
 * impossible, prints a warning. A run that this home does not have is searched on the service that the user names.
 */
export async function selectShownRun<O extends GlobalOptions>(
  home: string,
  selection: Selection<O>,
): Promise<Result<ShownRun<O>, CommandError>> {
  const { context, options } = selection;
  const found = await selectRun(home, selection);
  if (!found.ok) {
    const { prefix } = selection;
    const mayBeElsewhere = prefix !== undefined && found.error.code !== 'RUN_AMBIGUOUS';
    const copied = mayBeElsewhere && (await copyFromNamed(home, selection, prefix));
    return copied ? describeShown(home, copied, options) : found;
  }
  const shown = await describeShown(home, found.value, options);
  if (!shown.ok || shown.value.place === undefined || shown.value.run.endedAt !== undefined) return shown;
  const { runId } = found.value;
  const { updateMirror } = await import('./mirror-run.ts');
  const problem = await withServer(shown.value.options, context, (server) => updateMirror({ home, runId, server }));
  if (problem !== undefined) {
    printWarning(context.terminal, `could not bring run ${runId} up to date: ${problem}`);
  }
  return describeShown(home, (await readRunSummary(home, runId)) ?? found.value, options);
}

async function describeShown<O extends GlobalOptions>(
  home: string,
  run: RunSummary,
  options: O,
): Promise<Result<ShownRun<O>, CommandError>> {
  const custody = await readCustody(runCustody(home, run.runId));
  const place = placeOf(custody);
  const reached = place ? serverOptions(options, place) : await keepRecordedService(home, run.runId, options);
  return ok({ run, place, isOrdering: custody.state === 'ordering', options: reached });
}

/** Runs an action with the server of the options. Returns why it was not possible. */
async function withServer(
  options: GlobalOptions,
  context: CommandContext,
  act: (server: RunServer) => Promise<Result<void, string>>,
): Promise<string | undefined> {
  const opened = await openService(options, context);
  if (!opened.ok) return wholeMessage(opened.error);
  const { runServer, close } = opened.value;
  try {
    const done = runServer === undefined ? fail('the service executes no runs') : await act(runServer);
    return done.ok ? undefined : done.error;
  } catch (error) {
    if (isServiceError(error)) return error.message;
    throw error;
  } finally {
    await close();
  }
}

/** Copies the run of the named service whose ID starts with `prefix`. Undefined: there is none, or several. */
async function copyFromNamed<O extends GlobalOptions>(
  home: string,
  { context, options }: Selection<O>,
  prefix: string,
): Promise<RunSummary | undefined> {
  const [{ chooseService }, { copyFromServer }] = await Promise.all([
    import('../connect/choose-service.ts'),
    import('./copy-from-server.ts'),
  ]);
  const chosen = chooseService(options, context);
  if (!chosen.ok || chosen.value.url === undefined) return undefined;
  let copied: string | undefined;
  const { profile } = options;
  const problem = await withServer(options, context, async (server) => {
    const made = await copyFromServer({ home, prefix, server, profile });
    if (!made.ok) return made;
    copied = made.value;
    return ok(undefined);
  });
  if (problem !== undefined) printWarning(context.terminal, `could not read the runs of the service: ${problem}`);
  return copied === undefined ? undefined : readRunSummary(home, copied);
}
