import { createReadStream } from 'node:fs';
import { isServiceError } from '@sluice/client';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import { type RunReport, readRun } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse, withAdvice } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { label } from '../progress/render-event.ts';
import { describeState } from '../progress/render-state.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { parseStepAddress } from '../runs/parse-address.ts';
import { selectRun } from '../runs/select-run.ts';

/**
 * `run` is the prefix of a run's ID (default: the newest run); `tail` is a number of lines; `attempt` counts from 1
 * (default: the last one).
 */
export interface LogsOptions extends GlobalOptions {
  readonly run?: string;
  readonly follow?: boolean;
  readonly tail?: number;
  readonly attempt?: number;
}

/**
 * `sluice logs`: prints the log of one container, from the service or, if the service has deleted it, from the archive.
 */
export async function logs(step: string, context: CommandContext, options: LogsOptions): Promise<number> {
  const address = parseStepAddress(step);
  if (!address.ok) return refuse(address.error, { context, options });
  const home = findHome(context, options);
  const found = await selectRun(home, { prefix: options.run, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const report = await readRun(home, found.value.runId);
  if (!report.ok) return refuse(fromRunRefusal(report.error, { options }), { context, options });
  const source = findLog(report.value, { name: step, options });
  if (!source.ok) {
    const advice = await adviseOnRunArgument(home, { word: step, options });
    return refuse(withAdvice(source.error, advice), { context, options });
  }
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  const { service, close } = opened.value;
  const { clusterID, accountID } = report.value;
  const { tail, follow } = options;
  try {
    const wanted = { ...(tail === undefined ? {} : { tail }), ...(follow === undefined ? {} : { follow }) };
    const bytes = service.containers.logs({ clusterID, accountID, id: source.value.containerID }, wanted);
    await print(bytes, context);
    return EXIT_CODE.ok;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (isServiceError(error, 'NOT_FOUND') && source.value.logFile !== undefined) {
      await print(createReadStream(source.value.logFile), context);
      return EXIT_CODE.ok;
    }
    const exitCode = isServiceError(error, 'UNREACHABLE', 'NO_REPLY') ? EXIT_CODE.unreachable : EXIT_CODE.refused;
    return refuse({ exitCode, message: error.message }, { context, options });
  } finally {
    await close();
  }
}

async function print(bytes: AsyncIterable<Uint8Array>, { terminal }: CommandContext): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    terminal.out(decoder.decode(chunk, { stream: true }));
    // The reader has closed the pipe, as in `sluice logs … | head`.
    if (!(await terminal.flush())) return;
  }
  terminal.out(decoder.decode());
}

/** Cells listed in a message; more would push the message off the screen. */
const MANY = 20;

interface LogSource {
  readonly containerID: string;
  readonly logFile?: string;
}

/** Finds the container of `STEP` or `STEP/CELL` in this run. */
function findLog(
  report: RunReport,
  { name: wantedName, options }: { name: string; options: LogsOptions },
): Result<LogSource, CommandRefusal> {
  const refuse = (message: string) => fail({ exitCode: EXIT_CODE.refused, message });
  const all = report.steps.flatMap((step) => step.cells.map((cell) => ({ step: step.name, cell })));
  const named = all.filter(({ step, cell }) => label(step, cell.key) === wantedName);
  const fitting = named.length > 0 ? named : all.filter(({ step }) => step === wantedName);
  const [only] = fitting;
  if (only === undefined) {
    const isCell = wantedName.includes('/');
    const names = isCell ? all.map(({ step, cell }) => label(step, cell.key)) : report.steps.map(({ name }) => name);
    const what = isCell ? 'cell' : 'step';
    return refuse(`could not find the log: run ${report.runId} has no ${what} ${describeUnknown(wantedName, names)}`);
  }
  if (fitting.length > 1) {
    const names = fitting.slice(0, MANY).map(({ step, cell }) => `  ${label(step, cell.key)}\n`);
    const more =
      fitting.length > MANY
        ? `  and ${fitting.length - MANY} more; list them with: ${suggestCommand(['show', report.runId, '--json'], options)}\n`
        : '';
    return refuse(
      `could not choose a cell: step ${wantedName} has ${fitting.length} cells; name one of them:\n${names.join('')}${more}`.trim(),
    );
  }
  const { step, cell } = only;
  const attempt = options.attempt ?? cell.attempts;
  const failure = report.failures.find((one) => one.step === step && one.cell === cell.key && one.attempt === attempt);
  const containerID = failure?.containerID ?? (attempt === cell.attempts ? cell.containerID : undefined);
  if (containerID === undefined) {
    const name = label(step, cell.key);
    if (cell.cachedFrom !== undefined) {
      const there = suggestCommand(['logs', '-r', cell.cachedFrom, name], options);
      return refuse(
        `could not find the log of ${name}: run ${report.runId} reused it from run ${cell.cachedFrom}; show its log with: ${there}`,
      );
    }
    if (options.attempt === undefined) {
      return refuse(
        `could not find the log of ${name}: it has no container in run ${report.runId} (${describeState(cell.state)})`,
      );
    }
    return refuse(`could not find the log of ${name}: attempt ${attempt} has no container in run ${report.runId}`);
  }
  return ok({ containerID, ...(failure?.logFile === undefined ? {} : { logFile: failure.logFile }) });
}
