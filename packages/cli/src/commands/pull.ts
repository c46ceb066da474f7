import { join, relative, resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { publishOutputs, type RunOutputs, readOutputs } from '@sluice/runner';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { fromRunError, reject, withAdvice } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { createLiveProgress } from '../render/live-progress.ts';
import { renderBytes } from '../render/render-event.ts';
import { adviseOnRunArgument } from '../runs/advise-on-run-argument.ts';
import { type Address, parseAddress } from '../runs/parse-address.ts';
import { describeUnpublished } from '../runs/publish-here.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';
import { listSome } from '../text/shorten.ts';

/** Options of `sluice pull`. */
export interface PullCommandOptions extends GlobalOptions {
  /** Destination directory, relative to the working directory, in which each output or path gets an entry. */
  readonly to: string;
  /** Prefix of a run's ID (default: the newest run). */
  readonly run?: string;
}

/** `sluice pull`: copies outputs of a run, or paths in them, to a local directory. Stops at the first failure. */
export async function pull(
  addresses: readonly string[],
  context: CommandContext,
  options: PullCommandOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix: options.run, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const wanted = await selectOutputs(home, addresses, { options, runId: found.value.run.runId });
  if (!wanted.ok) return reject(wanted.error, { context, options });
  const { run, items } = wanted.value;
  return withService({ context, options: found.value.options }, async ({ service, loginAdvice }) => {
    for (const item of items) {
      const name = nameOf(item);
      const to = join(resolve(cwd, options.to), item.entry);
      let got = { files: 0, bytes: 0 };
      let seq = 0;
      const live = terminal.live && options.json !== true ? createLiveProgress(terminal, options) : undefined;
      const pulled = await run.pull(name, {
        service,
        to,
        onProgress: (progress) => {
          got = progress;
          if (progress.done) return;
          const { runId } = run;
          seq += 1;
          live?.report({ type: 'transfer', runId, seq, at: Date.now(), direction: 'download', name, ...progress });
        },
      });
      live?.close();
      if (!pulled.ok) return reject(fromRunError(pulled.error, { options, loginAdvice }), { context, options });
      for (const warning of pulled.value) printWarning(terminal, `output ${name}: ${warning}`);
      terminal.out(
        options.json === true
          ? renderValue('download', {
              output: item.output,
              ...(item.path !== undefined && { path: item.path }),
              to,
              files: got.files,
              bytes: got.bytes,
            })
          : `${name}  ${relative(cwd, to)}: ${got.files} file${got.files === 1 ? '' : 's'}, ${renderBytes(got.bytes)}\n`,
      );
    }
    const { run: summary, place } = found.value;
    const directories = addresses.length === 0 && summary.endedAt !== undefined ? place?.publish : undefined;
    return directories ? publish({ home, runId: run.runId, service, directories }, context, options) : EXIT_CODE.ok;
  });
}

/** The server that has executed the run could not copy the outputs with `publish` to this machine. */
async function publish(
  run: Parameters<typeof publishOutputs>[0],
  context: CommandContext,
  options: PullCommandOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const published = await publishOutputs(run);
  if (!published.ok) {
    const rejection = fromRunError(describeUnpublished(run.runId, published.error), { options, runId: run.runId });
    return reject({ ...rejection, exitCode: EXIT_CODE.runFailed }, { context, options });
  }
  let exitCode: number = EXIT_CODE.ok;
  for (const { output, directory, isKnown, warnings, problem } of published.value) {
    for (const warning of warnings) printWarning(terminal, `output ${output}: ${warning}`);
    const place = relative(cwd, directory);
    if (problem !== undefined) {
      exitCode = EXIT_CODE.runFailed;
      printWarning(terminal, `could not copy output ${output} to ${place}: ${problem}`);
    } else if (!isKnown && options.json !== true) terminal.out(`${output}  ${place}\n`);
  }
  return exitCode;
}

/** An output or a path in one, and the name that its copy gets in the destination directory. */
interface PullItem {
  readonly output: string;
  readonly path?: string;
  readonly entry: string;
}

type Selection = { readonly run: RunOutputs; readonly items: readonly PullItem[] };

/** The outputs that the addresses name, each once; without addresses, those that the pipeline declares. */
async function selectOutputs(
  home: string,
  addresses: readonly string[],
  { options, runId }: { readonly options: PullCommandOptions; readonly runId: string },
): Promise<Result<Selection, CommandError>> {
  const read = await readOutputs(home, runId);
  if (!read.ok) return fail(fromRunError(read.error, { options, runId }));
  const run = read.value;
  const reject = (message: string) => fail({ exitCode: EXIT_CODE.rejected, message });
  if (addresses.length === 0 && run.names.length === 0) {
    const advice = run.steps.length === 0 ? '' : `; name outputs of its steps: ${listOutputs(run)}`;
    return reject(`could not pull outputs: run ${runId} has none that its pipeline declares${advice}`);
  }
  const items: PullItem[] = addresses.length === 0 ? run.names.map((output) => ({ output, entry: output })) : [];
  for (const text of addresses) {
    const address = parseAddress(text);
    if (!address.ok) return address;
    const matches = findOutputs(run, address.value);
    if (matches.length === 0 && isRemovedOutput(run, address.value))
      return reject(`could not pull ${text}: it is temporary, and was removed when no cell of run ${runId} needed it`);
    if (matches.length === 0) {
      const its = run.names.length + run.steps.length === 0 ? 'no outputs' : `the outputs ${listOutputs(run)}`;
      const message = `could not pull ${text}: run ${runId} has ${its}`;
      const rejection = { exitCode: EXIT_CODE.rejected, code: 'OUTPUT_NOT_FOUND', message };
      return fail(withAdvice(rejection, await adviseOnRunArgument(home, { word: text, options })));
    }
    const { path } = address.value;
    const entry = path?.slice(path.lastIndexOf('/') + 1);
    items.push(...matches.map((output) => ({ output, entry: entry ?? output, ...(path !== undefined && { path }) })));
  }
  const all = distinct(items, options.to);
  return all.ok ? ok({ run, items: all.value }) : all;
}

/** Leaves out repetitions. Two different items with the same place are an error. */
function distinct(items: readonly PullItem[], to: string): Result<readonly PullItem[], CommandError> {
  const byEntry = new Map<string, PullItem>();
  for (const item of items) {
    const first = byEntry.get(item.entry) ?? item;
    if (nameOf(first) !== nameOf(item)) {
      const message = `could not pull ${nameOf(first)} and ${nameOf(item)} to ${to}: both copies would be ${join(to, item.entry)}; use separate commands with different values of --to`;
      return fail({ exitCode: EXIT_CODE.rejected, message });
    }
    byEntry.set(item.entry, first);
  }
  return ok([...byEntry.values()]);
}

function nameOf({ output, path }: PullItem): string {
  return path === undefined ? output : `${output}/${path}`;
}

/** A word alone is an output that the pipeline declares; if there is none, it is a step, of which all outputs match. */
function findOutputs({ names, steps }: RunOutputs, { step, cell, output }: Address): readonly string[] {
  if (cell === undefined && output === undefined && names.includes(step)) return [step];
  return steps
    .filter((one) => one.step === step && (output === undefined || one.output === output))
    .filter(({ locations }) => cell === undefined || locations.some((place) => place.cell === cell))
    .map((one) => `${cell === undefined ? step : `${step}/${cell}`}.${one.output}`);
}

function isRemovedOutput({ removed }: RunOutputs, { step, cell, output }: Address): boolean {
  return removed.some(
    (one) => one.step === step && (cell ?? one.cell) === one.cell && (output ?? one.output) === one.output,
  );
}

function listOutputs({ names, steps }: RunOutputs): string {
  return listSome([...names, ...steps.map(({ step, output }) => `${step}.${output}`)], OUTPUT_COLUMNS);
}

/** Width of the outputs that a message lists. */
const OUTPUT_COLUMNS = 200;
