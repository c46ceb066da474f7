import { isDeepStrictEqual } from 'node:util';
import { fail, ok, type Result } from '@sluice/core';
import { placeOf, readCustody, runCustody } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import { type DeletedRuns, deleteRuns, type UndeletableRun } from '@sluice/runner';
import { keepRecordedService } from '../connect/keep-recorded-service.ts';
import type { HomeService } from '../connect/open-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { renderBytes } from '../render/render-event.ts';
import { readRunsElsewhere } from '../runs/read-runs-elsewhere.ts';
import { selectRun } from '../runs/select-run.ts';
import { plainLine } from '../text/plain-line.ts';
import { renderTable } from '../text/render-table.ts';

/** `sluice delete`: removes ended runs and their data. Removes nothing if one of them must stay. */
export async function deleteCommand(
  prefixes: readonly string[],
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const home = findHome(context, options);
  const runs = await selectRuns(home, prefixes, options);
  if (!runs.ok) return reject(runs.error, { context, options });
  const found = await findOptions(home, runs.value, options);
  if (!found.ok) return reject(found.error, { context, options });
  return withService({ context, options: found.value }, (opened) =>
    remove(opened, { runIds: runs.value, context, options: found.value }),
  );
}

async function selectRuns(
  home: string,
  prefixes: readonly string[],
  options: GlobalOptions,
): Promise<Result<readonly string[], CommandError>> {
  const runIds = new Set<string>();
  for (const prefix of prefixes) {
    const run = await selectRun(home, { prefix, options });
    if (!run.ok) return run;
    const fault = await findFault(home, run.value, options);
    if (fault !== undefined) return fail(rejectAll([{ runId: run.value.runId, reason: fault }]));
    runIds.add(run.value.runId);
  }
  return ok([...runIds]);
}

async function findFault(home: string, run: RunSummary, options: GlobalOptions): Promise<string | undefined> {
  const { runId, endedAt, problem } = run;
  const custody = await readCustody(runCustody(home, runId));
  const place = placeOf(custody);
  if (place !== undefined) {
    return `${place.service} executes it or has executed it, and removes its runs itself; \`sluice gc\` removes the copy in this home when it is old`;
  }
  if (endedAt !== undefined) return undefined;
  return problem ?? `it has not ended; cancel it first with: ${suggestCommand(['cancel', runId], options)}`;
}

/** The options with the service that all of the runs have recorded. */
async function findOptions(
  home: string,
  runIds: readonly string[],
  options: GlobalOptions,
): Promise<Result<GlobalOptions, CommandError>> {
  const [first, ...others] = await Promise.all(runIds.map((runId) => keepRecordedService(home, runId, options)));
  const serviceOf = ({ service, profile }: GlobalOptions) => ({ service, profile });
  if (others.every((other) => isDeepStrictEqual(serviceOf(other), serviceOf(first!)))) return ok(first!);
  const message =
    'could not delete the runs: they were executed on different services; delete those of each separately';
  return fail({ exitCode: EXIT_CODE.rejected, message });
}

async function remove(
  opened: HomeService,
  {
    runIds,
    context,
    options,
  }: { readonly runIds: readonly string[]; readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<number> {
  const { terminal } = context;
  const { service, home } = opened;
  const readElsewhere = () => readRunsElsewhere({ opened, context, options });
  const deleted = await deleteRuns({ service, home, runIds, readElsewhere });
  if (!deleted.ok) return reject(rejectAll(deleted.error), { context, options });
  const { freed, problems } = deleted.value;
  if (options.json === true) {
    const runs = freed.map(({ runId, pipeline, bytes }) => ({ runId, pipeline, bytes }));
    terminal.out(renderValue('deletion', { runs, bytes: sumBytes(deleted.value), problems }));
  } else terminal.out(renderDeleted(deleted.value));
  return problems.length === 0 ? EXIT_CODE.ok : EXIT_CODE.runFailed;
}

function rejectAll(refused: readonly UndeletableRun[]): CommandError {
  const [only] = refused;
  const rejected = { exitCode: EXIT_CODE.rejected };
  if (refused.length === 1 && only !== undefined) {
    return { ...rejected, message: `could not delete run ${only.runId}: ${only.reason}; nothing was deleted` };
  }
  const lines = refused.map(({ runId, reason }) => `  ${runId}: ${reason}`);
  return { ...rejected, message: `could not delete ${refused.length} runs; nothing was deleted:`, lines };
}

function sumBytes({ freed }: DeletedRuns): number {
  return freed.reduce((sum, { bytes }) => sum + bytes, 0);
}

function renderDeleted({ freed, problems }: DeletedRuns): string {
  const rows = freed.map(({ runId, pipeline, bytes }) => [
    'deleted',
    `run ${runId} of ${pipeline}`,
    renderBytes(bytes),
  ]);
  return `${renderTable(rows)}${problems.map((problem) => `${plainLine(problem)}\n`).join('')}`;
}
