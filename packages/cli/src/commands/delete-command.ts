import { isDeepStrictEqual } from 'node:util';
import { fail, ok, type Result } from '@sluice/core';
import { type DeletedRuns, deleteRuns, type UndeletableRun } from '@sluice/runner';
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
import { deleteOnServer } from '../runs/delete-on-server.ts';
import { readRunsElsewhere } from '../runs/read-runs-elsewhere.ts';
import { type ShownRun, selectShownRun } from '../runs/select-shown-run.ts';
import { plainLine } from '../text/plain-line.ts';
import { renderTable } from '../text/render-table.ts';

type ChosenRun = ShownRun<GlobalOptions>;

/** `sluice delete`: removes ended runs and their data. Removes nothing if one of them must stay. */
export async function deleteCommand(
  prefixes: readonly string[],
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const home = findHome(context, options);
  const runs = await selectRuns(home, prefixes, { context, options });
  if (!runs.ok) return reject(runs.error, { context, options });
  const found = findOptions(runs.value);
  if (!found.ok) return reject(found.error, { context, options });
  return withService({ context, options: found.value }, (opened) =>
    remove(opened, { runs: runs.value, context, options: found.value }),
  );
}

async function selectRuns(
  home: string,
  prefixes: readonly string[],
  { context, options }: { readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<Result<readonly ChosenRun[], CommandError>> {
  const runs = new Map<string, ChosenRun>();
  for (const prefix of prefixes) {
    const found = await selectShownRun(home, { prefix, context, options });
    if (!found.ok) return found;
    const { runId, endedAt, problem } = found.value.run;
    if (endedAt === undefined) {
      const advice = `it has not ended; cancel it first with: ${suggestCommand(['cancel', runId], options)}`;
      return fail(rejectAll([{ runId, reason: problem ?? advice }]));
    }
    runs.set(runId, found.value);
  }
  return ok([...runs.values()]);
}

/** The options with the service that all of the runs have recorded. */
function findOptions([first, ...others]: readonly ChosenRun[]): Result<GlobalOptions, CommandError> {
  const serviceOf = ({ options, place }: ChosenRun) => [
    options.service,
    options.profile,
    place?.cluster,
    place?.account,
  ];
  const { options } = first!;
  if (others.every((other) => isDeepStrictEqual(serviceOf(other), serviceOf(first!)))) return ok(options);
  const message =
    'could not delete the runs: they were executed on different services; delete those of each separately';
  return fail({ exitCode: EXIT_CODE.rejected, message });
}

async function remove(
  opened: HomeService,
  {
    runs,
    context,
    options,
  }: { readonly runs: readonly ChosenRun[]; readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<number> {
  const { terminal } = context;
  const { service, home, runServer } = opened;
  const onServer = new Set(runs.filter(({ place }) => place !== undefined).map(({ run }) => run.runId));
  const deleted = await deleteRuns({
    ...{ service, home, runIds: runs.map(({ run }) => run.runId) },
    readElsewhere: () => readRunsElsewhere({ opened, context, options }),
    removeElsewhere: async (runId) => (onServer.has(runId) ? deleteOnServer(runServer, runId) : undefined),
  });
  if (!deleted.ok) return reject(rejectAll(deleted.error), { context, options });
  const { freed, problems } = deleted.value;
  if (options.json === true) {
    const values = freed.map(({ runId, pipeline, bytes }) => ({ runId, pipeline, bytes }));
    terminal.out(renderValue('deletion', { runs: values, bytes: sumBytes(deleted.value), problems }));
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
