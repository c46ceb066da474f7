import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isServiceError } from '@sluice/client';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import { readRun } from '@sluice/home';
import { describeStatus, printableLine, type RunReport, type StatusReport, splitCellName } from '@sluice/run';
import type { RunServer } from '../connect/run-server.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { fromRunError, reject, withAdvice } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { checkHome } from '../home/check-home.ts';
import { findHome } from '../home/home.ts';
import { createLogRenderer, type LogRenderer } from '../json/render-log.ts';
import { label } from '../render/render-event.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { parseStepAddress } from '../runs/parse-address.ts';
import { filterRank } from '../runs/rank-filter.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';
import { tailLines } from '../runs/tail-lines.ts';

/**
 * `run` is the prefix of a run's ID (default: the newest run); `tail` is a number of lines, of `rank` if there is one;
 * `attempt` counts from 1 (default: the last one).
 */
export interface LogsOptions extends GlobalOptions {
  readonly run?: string;
  readonly follow?: boolean;
  readonly tail?: number;
  readonly attempt?: number;
  /** Of a step with several tasks. */
  readonly rank?: number;
}

/**
 * `sluice logs`: prints the log of one container, from the service or, if the service has deleted it, from the archive.
 */
export async function logs(step: string, context: CommandContext, options: LogsOptions): Promise<number> {
  const address = parseStepAddress(step);
  if (!address.ok) return reject(address.error, { context, options });
  if (options.rank !== undefined && options.tail !== undefined && options.follow === true) {
    const message = 'could not follow the last lines of one task: --rank is used with either --tail or --follow';
    return reject({ exitCode: EXIT_CODE.rejected, code: 'USAGE', message }, { context, options });
  }
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix: options.run, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const report = await readRun(home, found.value.run.runId);
  if (!report.ok) return reject(fromRunError(report.error, { options }), { context, options });
  const source = findLog(report.value, { name: step, options });
  if (!source.ok) {
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return reject(withAdvice(source.error, advice), { context, options });
  }
  const { clusterId: clusterID, accountId: accountID } = report.value;
  const { tail, follow, rank } = options;
  const { containerId: id, address: at } = source.value;
  const { runId } = report.value;
  const createRenderer = () => (options.json === true ? createLogRenderer({ runId, ...at }) : UNCHANGED);
  const createFiltered = () => (rank === undefined ? createRenderer() : filterRank(rank, createRenderer()));
  const printArchived = async (archived: Buffer) => {
    const shown = tail === undefined ? archived : tailLines(selectLines(archived, rank), tail);
    await print(Readable.from([shown]), context, tail === undefined ? createFiltered() : createRenderer());
    return EXIT_CODE.ok;
  };
  let hasBegun = false;
  const otherwise = async (reason: string) => {
    const archived = hasBegun ? undefined : await readLocalArchive(source.value, { context, options });
    if (archived === undefined) return undefined;
    printWarning(context.terminal, `this is the log that was archived when the attempt had failed: ${reason}`);
    return printArchived(archived);
  };
  return withService({ context, options: found.value.options, otherwise }, async ({ service, runServer }) => {
    // The service counts the lines of all tasks.
    const ofRank = rank !== undefined && tail !== undefined;
    const wanted = { ...(tail === undefined || ofRank ? {} : { tail }), ...(follow === undefined ? {} : { follow }) };
    const renderer = createFiltered();
    const add: LogRenderer['add'] = (text) => {
      hasBegun = true;
      return renderer.add(text);
    };
    try {
      const bytes = service.containers.logs({ clusterID, accountID, id }, wanted);
      if (ofRank) return await printArchived(await buffer(bytes));
      await print(bytes, context, { ...renderer, add });
    } catch (error) {
      // The embedded service denies access to a container of another one, whose log may be archived here.
      const archived = isServiceError(error, 'NOT_FOUND', 'PERMISSION_DENIED')
        ? await readArchive(source.value, { runId, runServer })
        : undefined;
      if (archived === undefined) throw error;
      return printArchived(archived);
    }
    return EXIT_CODE.ok;
  });
}

function selectLines(log: Buffer, rank: number | undefined): Buffer {
  if (rank === undefined) return log;
  const filter = filterRank(rank, UNCHANGED);
  return Buffer.from(filter.add(log.toString()) + filter.end());
}

/** Undefined: this home has no archive of the log, or must be confirmed before its files are shown. */
async function readLocalArchive(
  { logFile }: LogSource,
  { context, options }: { readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<Buffer | undefined> {
  const isHere = logFile !== undefined && checkHome(context, options).ok && existsSync(logFile);
  return isHere ? readFile(logFile) : undefined;
}

/** Undefined: the log was not archived, or is archived where it cannot be read. */
async function readArchive(
  { logFile, address: { step, attempt }, index }: LogSource,
  { runId, runServer }: { readonly runId: string; readonly runServer: RunServer | undefined },
): Promise<Buffer | undefined> {
  if (logFile === undefined) return undefined;
  if (existsSync(logFile)) return readFile(logFile);
  // A server that has executed the attempt has archived its log; the copy of the run does not contain it.
  try {
    const log = await runServer?.readLog(runId, { step, cellIndex: index, attempt });
    return log && Buffer.from(log);
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}

const UNCHANGED: LogRenderer = { add: (text) => text, end: () => '' };

async function print(
  bytes: AsyncIterable<Uint8Array>,
  { terminal }: CommandContext,
  renderer: LogRenderer,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    terminal.raw(renderer.add(decoder.decode(chunk, { stream: true })));
    // The reader has closed the pipe, as in `sluice logs … | head`.
    if (!(await terminal.flush())) return;
  }
  terminal.raw(renderer.add(decoder.decode()) + renderer.end());
}

/** Cells listed in a message; more would push the message off the screen. */
const MANY = 20;

interface LogSource {
  readonly address: { readonly step: string; readonly cell: string; readonly attempt: number };
  /** Of the cell in its step. */
  readonly index: number;
  readonly containerId: string;
  readonly logFile?: string;
}

function describeMissing({ runId }: RunReport, name: string, status: StatusReport & { message?: string }): string {
  const why = status.message === undefined ? '' : `: ${printableLine(status.message)}`;
  return `could not find the log of ${name}: it has no container in run ${runId} (${describeStatus(status)}${why})`;
}

/** Finds the container of `STEP` or `STEP/CELL` in this run. */
function findLog(
  report: RunReport,
  { name: wantedName, options }: { name: string; options: LogsOptions },
): Result<LogSource, CommandError> {
  const reject = (message: string, code?: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message, ...(code !== undefined && { code }) });
  const all = report.steps.flatMap((step) => step.cells.map((cell, index) => ({ step: step.step, cell, index })));
  const named = all.filter(({ step, cell }) => label(step, cell.cell) === wantedName);
  const fitting = named.length > 0 ? named : all.filter(({ step }) => step === wantedName);
  const [only] = fitting;
  if (only === undefined) {
    const known = report.steps.find(({ step: name }) => name === wantedName);
    if (known !== undefined) return reject(describeMissing(report, wantedName, known));
    const { step: stepName, cell: cellName } = splitCellName(wantedName);
    const isCell = cellName !== undefined && report.steps.some(({ step: name }) => name === stepName);
    const names = isCell
      ? all.map(({ step, cell }) => label(step, cell.cell))
      : report.steps.map(({ step: name }) => name);
    const what = isCell ? 'cell' : 'step';
    const unknown = describeUnknown(isCell ? wantedName : stepName, names);
    const message = `could not find the log: run ${report.runId} has no ${what} ${unknown}`;
    return reject(message, isCell ? 'CELL_NOT_FOUND' : 'STEP_NOT_FOUND');
  }
  if (fitting.length > 1) {
    const names = fitting.slice(0, MANY).map(({ step, cell }) => `  ${label(step, cell.cell)}`);
    const list = suggestCommand(['show', report.runId, '--json'], options);
    const more = fitting.length > MANY ? [`  and ${fitting.length - MANY} more; list them with: ${list}`] : [];
    const message = `could not choose a cell: step ${wantedName} has ${fitting.length} cells; name one of them:`;
    return fail({ exitCode: EXIT_CODE.rejected, message, lines: [...names, ...more] });
  }
  const { step, cell, index } = only;
  const attempt = options.attempt ?? cell.attempt;
  const failure = report.failures.find((one) => one.step === step && one.cell === cell.cell && one.attempt === attempt);
  const containerId = failure?.containerId ?? (attempt === cell.attempt ? cell.containerId : undefined);
  if (containerId === undefined) {
    const name = label(step, cell.cell);
    if (cell.reusedFrom !== undefined) {
      const there = suggestCommand(['logs', '-r', cell.reusedFrom, name], options);
      return reject(
        `could not find the log of ${name}: run ${report.runId} reused it from run ${cell.reusedFrom}; show its log with: ${there}`,
      );
    }
    if (options.attempt === undefined) {
      return reject(describeMissing(report, name, cell));
    }
    return reject(`could not find the log of ${name}: attempt ${attempt} has no container in run ${report.runId}`);
  }
  const address = { step, cell: cell.cell, attempt };
  return ok({ address, index, containerId, ...(failure?.logFile === undefined ? {} : { logFile: failure.logFile }) });
}
