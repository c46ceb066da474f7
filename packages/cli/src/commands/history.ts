import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail, ok, own, type Result } from '@sluice/core';
import { findCell, readFileHistory } from '@sluice/home';
import {
  type FileHistory,
  type FilePort,
  fileHistoryValue,
  findOrigin,
  type ReplayedRun,
  type RunError,
  stepIndex,
} from '@sluice/run';
import { findPublishedContent, findPublishedFile, hashLocalFile, type PublishedFile } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { renderFileHistory } from '../render/render-file-history.ts';
import { type Address, parseAddress } from '../runs/parse-address.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** `run` is the prefix of a run's ID (default: the newest run); only for an address. */
export interface HistoryOptions extends GlobalOptions {
  readonly run?: string;
}

/** `sluice history`: which run, step and attempt wrote the bytes of a file, and who has reused or mounted them. */
export async function history(what: string, context: CommandContext, options: HistoryOptions): Promise<number> {
  const home = findHome(context, options);
  const read = await readHistories(what, { home, context, options });
  if (!read.ok) return reject(read.error, { context, options });
  const { terminal } = context;
  for (const [index, one] of read.value.entries()) {
    if (options.json === true) terminal.out(renderValue('fileHistory', fileHistoryValue(one)));
    else terminal.out(`${index > 0 ? '\n' : ''}${renderFileHistory(one, { terminal, cwd: context.cwd })}`);
  }
  return EXIT_CODE.ok;
}

interface Given {
  readonly home: string;
  readonly context: CommandContext;
  readonly options: HistoryOptions;
}

/** One for each place of the file. */
async function readHistories(what: string, given: Given): Promise<Result<readonly FileHistory[], CommandError>> {
  const sha256 = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(what)?.[1]?.toLowerCase();
  if (sha256 !== undefined) return readByContent(what, { sha256 }, given);
  const file = resolve(given.context.cwd, what);
  const entry = lstatSync(file, { throwIfNoEntry: false });
  if (entry !== undefined) return readByFile(what, { file, size: entry.isFile() ? entry.size : undefined }, given);
  const inVolume = IN_VOLUME.exec(what);
  if (inVolume !== null) return readInVolume(inVolume, given);
  const address = parseAddress(what);
  if (!address.ok || address.value.output === undefined) {
    const message = `could not find the history of ${what}: there is no such file; expected a file, STEP[/CELL].OUTPUT[/PATH], a path in a volume, or a SHA-256`;
    return fail({ exitCode: EXIT_CODE.rejected, message });
  }
  const { context, options, home } = given;
  const found = await selectShownRun(home, { prefix: options.run, context, options });
  if (!found.ok) return found;
  const { runId } = found.value.run;
  return readUnseen({ ...given, runId, port: (run) => findPort(run, address.value) });
}

/** A published file in a volume, as the output itself says it. */
const IN_VOLUME = /^(?:[^:]*:)?runs\/([^/]+)\/out\/([^/]+)\/([^/]+)\/?(.*?)\/*$/s;

function readInVolume([, runId = '', step = '', output = '', below = '']: RegExpExecArray, given: Given) {
  const port = (run: ReplayedRun): Result<FilePort, RunError> => {
    const place = findCell(run, step);
    if (!place.ok) return place;
    const source = { runId: run.runId, plan: run.facts.plan, facts: run.facts };
    for (const cell of (run.facts.cells[place.value.step] ?? []).keys()) {
      const { path } = findOrigin(source, place.value.step, cell);
      if (path === '' || !`${below}/`.startsWith(`${path}/`)) continue;
      return ok({ step: place.value.step, cell, kind: 'output', name: output, path: below.slice(path.length + 1) });
    }
    return ok({ step: place.value.step, kind: 'output', name: output, path: below });
  };
  return readUnseen({ ...given, runId, port });
}

/** The history of files that were not read. */
async function readUnseen({
  home,
  options,
  runId,
  port,
}: Given & Pick<Parameters<typeof readFileHistory>[0], 'runId' | 'port'>): Promise<
  Result<readonly FileHistory[], CommandError>
> {
  const read = await readFileHistory({ home, runId, port });
  if (!read.ok) return fail(fromRunError(read.error, { options, runId }));
  const { path, unknown } = read.value;
  const unseen = path === undefined ? [] : [`whether the output contains ${path}: volumes were not read`];
  return ok([{ ...read.value, unknown: [...unseen, ...unknown] }]);
}

/** A file in a published directory; a copy of one elsewhere has the same content. */
async function readByFile(
  what: string,
  { file, size }: { readonly file: string; readonly size: number | undefined },
  given: Given,
): Promise<Result<readonly FileHistory[], CommandError>> {
  const published = await findPublishedFile(given.home, file);
  const sha256 = size === undefined ? undefined : await hashLocalFile(file);
  if (published !== undefined) return readPublished([published], { ...given, sha256 });
  if (sha256 !== undefined && size !== undefined) return readByContent(what, { sha256, size }, given);
  const message = `could not find the history of ${what}: no run of this home has copied an output to it`;
  return fail({ exitCode: EXIT_CODE.rejected, message });
}

async function readByContent(
  what: string,
  content: { readonly sha256: string; readonly size?: number },
  given: Given,
): Promise<Result<readonly FileHistory[], CommandError>> {
  const { files, unread } = await findPublishedContent(given.home, content);
  if (files.length > 0) return readPublished(files, { ...given, sha256: content.sha256 });
  const not = ['files in volumes, of which no hashes are recorded', ...unread].join(', and ');
  const message = `could not find the history of ${what}: no directory to which a run of this home has copied an output contains it; not searched: ${not}`;
  return fail({ exitCode: EXIT_CODE.rejected, message });
}

async function readPublished(
  files: readonly PublishedFile[],
  { home, options, sha256 }: Given & { readonly sha256: string | undefined },
): Promise<Result<readonly FileHistory[], CommandError>> {
  const histories: FileHistory[] = [];
  for (const { runId, output, path, copiedAt } of files) {
    const read = await readFileHistory({ home, runId, port: (run) => findDeclared(run, { output, path }) });
    if (!read.ok) return fail(fromRunError(read.error, { options, runId }));
    const changed = `whether the local file has changed since ${new Date(copiedAt).toISOString()}, when the run copied it`;
    const unknown = [changed, ...read.value.unknown];
    histories.push({ ...read.value, ...(sha256 !== undefined && { sha256 }), unknown });
  }
  return ok(histories);
}

/** The files of an output that the pipeline declares. */
function findDeclared(
  { facts, runId }: ReplayedRun,
  { output, path }: { readonly output: string; readonly path: string },
): Result<FilePort, RunError> {
  const from = own(facts.plan.pipeline.outputs, output)?.from;
  const step = from && stepIndex(facts.plan, from.step);
  if (from === undefined || step === undefined)
    return fail({ code: 'SOURCE_MISSING', message: `run ${runId} has no output ${output}` });
  const inside = [from.path ?? '', path].filter((part) => part !== '');
  // The copy of an output of many cells has a directory for each.
  const cell = (facts.cells[step] ?? []).findIndex(({ key }) => key !== '' && inside[0]?.split('/')[0] === key);
  const below = cell === -1 ? inside.join('/') : inside.join('/').split('/').slice(1).join('/');
  return ok({ step, ...(cell !== -1 && { cell }), kind: 'output', name: from.output, path: below });
}

function findPort(run: ReplayedRun, { step, cell, output, path = '' }: Address): Result<FilePort, RunError> {
  const place = findCell(run, cell === undefined ? step : `${step}/${cell}`);
  return place.ok ? ok({ ...place.value, kind: 'output', name: output!, path }) : place;
}
