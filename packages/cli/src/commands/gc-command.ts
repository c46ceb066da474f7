import { DURATION, parseDuration, parseSize, SIZE } from '@sluice/core';
import { collectGarbage, type Freed, type GarbageReport } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import type { JsonValue } from '../json/json-values.ts';
import { renderValue } from '../json/render-value.ts';
import { renderBytes } from '../render/render-event.ts';
import { readRunsElsewhere } from '../runs/read-runs-elsewhere.ts';
import { plainLine } from '../text/plain-line.ts';
import { renderTable } from '../text/render-table.ts';

/** Wide enough for a source and its volume, whose ID has up to 63 characters. */
const MOST_COLUMNS = 100;

/** Options of `sluice gc`, not validated yet. */
export interface GcOptions extends GlobalOptions {
  /** A duration such as `30d`; runs that ended within it are kept. */
  readonly olderThan: string;
  /** A size such as `20GB`; the oldest runs are removed until the rest fits. */
  readonly maxSize?: string;
  readonly dryRun?: boolean;
}

/** `sluice gc`: removes what no run needs, and lists what it keeps and why. */
export async function gcCommand(context: CommandContext, options: GcOptions): Promise<number> {
  const fault = findFault(options);
  if (fault !== undefined) return reject({ exitCode: EXIT_CODE.rejected, message: fault }, { context, options });
  return withService({ context, options }, (opened) => collect(opened, context, options));
}

function findFault({ olderThan, maxSize }: GcOptions): string | undefined {
  if (!DURATION.test(olderThan))
    return `could not read --older-than ${olderThan}: expected a duration such as 12h or 30d`;
  if (maxSize !== undefined && !SIZE.test(maxSize)) {
    return `could not read --max-size ${maxSize}: expected a size such as 512MB or 20GB`;
  }
  return undefined;
}

async function collect(opened: HomeService, context: CommandContext, options: GcOptions): Promise<number> {
  const { terminal } = context;
  const { service, home } = opened;
  const { olderThan, maxSize, dryRun = false } = options;
  const limit = maxSize === undefined ? {} : { maxBytes: parseSize(maxSize) };
  const readElsewhere = () => readRunsElsewhere({ opened, context, options });
  const given = { service, home, olderThanMs: parseDuration(olderThan), dryRun, readElsewhere };
  const report = await collectGarbage({ ...given, ...limit });
  if (options.json === true) terminal.out(renderValue('garbage', toValue(report, dryRun)));
  else terminal.out(renderCollected(report, dryRun));
  return report.problems.length === 0 ? EXIT_CODE.ok : EXIT_CODE.runFailed;
}

function toValue({ freed, kept, problems }: GarbageReport, dryRun: boolean): JsonValue<'garbage'> {
  return {
    dryRun,
    bytes: sumBytes(freed),
    removed: freed,
    retained: kept.map(({ reason, ...run }) => ({ ...run, message: reason })),
    problems,
  };
}

function sumBytes(freed: readonly Freed[]): number {
  return freed.reduce((sum, item) => sum + item.bytes, 0);
}

function renderCollected({ freed, kept, problems }: GarbageReport, dryRun: boolean): string {
  const done = dryRun ? 'would free' : 'freed';
  const rows = freed.map((item) => [done, describeFreed(item), renderBytes(item.bytes)]);
  const held = kept.filter(({ reason }) => reason !== YOUNG);
  const stays = held.map(({ runId, pipeline, reason }) => ['kept', `run ${runId} of ${pipeline}`, reason]);
  const young = kept.length - held.length;
  const count = `${freed.length} ${freed.length === 1 ? 'item' : 'items'}`;
  const tail = young > 0 ? `; ${young} recent run${young === 1 ? '' : 's'} kept` : '';
  return `${renderTable([...rows, ...stays], MOST_COLUMNS)}${problems.map((problem) => `${plainLine(problem)}\n`).join('')}${done} ${renderBytes(sumBytes(freed))}: ${count}${tail}\n`;
}

/** Runs kept for this reason may be thousands and are expected, so they are counted but not listed. */
const YOUNG = 'it is too recent';

function describeFreed(item: Freed): string {
  if (item.kind === 'run') return `run ${item.runId} of ${item.pipeline}`;
  return `source ${item.digest.slice(0, 12)} in volume ${item.volumeId}`;
}
