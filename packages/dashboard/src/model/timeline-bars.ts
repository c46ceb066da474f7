import { type ChangeHistory, changesOfCell, type Retry } from './change-history.ts';
import { BAR_ORDER, isFinished, STATUSES, type StatusLook } from './statuses.ts';

/** A part of a row of the timeline, in milliseconds. */
export interface TimelineBar {
  readonly kind: 'wait' | 'queue' | 'ran';
  readonly from: number;
  readonly to: number;
  /** The color: of what ran, how it ended. */
  readonly tone: StatusLook['tone'];
  readonly label: string;
  /** Of a step with several cells: the parts of the bar from top to bottom, by the present states of the cells. */
  readonly shares?: readonly { readonly tone: StatusLook['tone']; readonly count: number }[];
}

/** The most bars of one row. */
const MAX_BARS = 60;

/** The bars of one cell: each attempt waits, is queued at the service, and runs. Unfinished bars end at `now`. */
export function findCellBars(
  history: ChangeHistory,
  { step, cell }: { step: number; cell: number },
  now: number,
): TimelineBar[] {
  const changes = changesOfCell(history, step, cell);
  const bars: TimelineBar[] = [];
  changes.forEach((change, index) => {
    const code = history.code[change]!;
    const kind = kindOf(code);
    if (kind === undefined) return;
    const next = changes[index + 1];
    const from = history.at[change]!;
    const to = Math.max(from, next === undefined ? now : history.at[next]!);
    const end = changes.slice(index + 1).find((later) => kindOf(history.code[later]!) !== 'ran');
    const look = STATUSES[kind === 'ran' && end !== undefined ? history.code[end]! : code]!;
    const last = bars.at(-1);
    // Publishing continues the bar of the attempt that ran.
    if (last?.kind === kind && last.to === from) bars[bars.length - 1] = { ...last, to };
    else bars.push({ kind, from, to, tone: toneOf(look), label: look.label });
  });
  return bars.slice(-MAX_BARS);
}

interface StepBarOptions {
  readonly now: number;
  readonly code: number;
  /** The numbers of cells by state. */
  readonly counts: ArrayLike<number>;
}

/** One bar for all cells of a step, from the first start to the last end. */
export function findStepBar(history: ChangeHistory, step: number, options: StepBarOptions): TimelineBar[] {
  const { begunAt, endedAt } = history.spans[step]!;
  if (begunAt === undefined) return [];
  const to = isFinished(options.code) ? Math.max(begunAt, endedAt ?? begunAt) : Math.max(begunAt, options.now);
  const look = STATUSES[options.code]!;
  const shares = BAR_ORDER.filter((code) => options.counts[code]! > 0).map((code) => ({
    tone: toneOf(STATUSES[code]!),
    count: options.counts[code]!,
  }));
  return [{ kind: 'ran', from: begunAt, to, tone: toneOf(look), label: look.label, shares }];
}

/** The retries of a cell until `now`; without a cell, of all cells of the step. */
export function findRetries(
  { retries }: ChangeHistory,
  { step, cell }: { readonly step: number; readonly cell?: number | undefined },
  now: number,
): readonly Retry[] {
  return retries[step]!.filter((retry) => retry.at <= now && (cell === undefined || retry.cell === cell));
}

function toneOf({ tone }: StatusLook): StatusLook['tone'] {
  return tone;
}

function kindOf(code: number): TimelineBar['kind'] | undefined {
  switch (STATUSES[code]!.status) {
    case 'ready':
    case 'submitting':
    case 'awaitingApproval':
      return 'wait';
    case 'pending':
      return 'queue';
    case 'running':
    case 'publishing':
      return 'ran';
    default:
      return undefined;
  }
}
