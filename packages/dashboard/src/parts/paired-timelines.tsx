import { linkTo } from '../live/route.ts';
import type { AlignedStep } from '../model/align-steps.ts';
import type { ChangeHistory } from '../model/change-history.ts';
import type { Gap } from '../model/find-gaps.ts';
import { type RunModel, stepCodes } from '../model/run-model.ts';
import { STATUSES } from '../model/statuses.ts';
import { findRetries } from '../model/timeline-bars.ts';
import { useColumnWidth } from './column-handle.tsx';
import { StatusMark } from './status-mark.tsx';
import { TimeAxis } from './time-axis.tsx';
import { Track } from './timeline-row.tsx';
import { VirtualList } from './virtual-list.tsx';

const ROW_HEIGHT = 52;

/** One of two runs as its timeline is shown. */
export interface PairedRun {
  /** Its name on this screen. */
  readonly letter: 'A' | 'B';
  readonly runId: string;
  readonly model: RunModel;
  readonly history: ChangeHistory | undefined;
  readonly gaps: readonly Gap[];
  readonly startedAt: number;
  /** The time that is shown. */
  readonly now: number;
}

interface PairedProps {
  readonly rows: readonly AlignedStep[];
  readonly runs: readonly [PairedRun, PairedRun];
  /** Of the axis, in milliseconds. */
  readonly span: number;
}

/** The steps of two runs as rows, each with the bars of both runs on one axis that counts from their starts. */
export function PairedTimelines({ rows, runs, span }: PairedProps) {
  const column = useColumnWidth('timeline');
  return (
    <div class="timeline paired" style={{ '--name-width': column.styleWidth }}>
      <TimeAxis column={column} span={span} />
      <VirtualList
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        attributes={{ class: 'rows', role: 'list', tabIndex: 0, 'aria-label': 'Steps of both runs' }}
        renderRow={(index) => <PairedRow row={rows[index]!} runs={runs} span={span} />}
      />
    </div>
  );
}

function PairedRow({ row: { name, places }, runs, span }: Omit<PairedProps, 'rows'> & { row: AlignedStep }) {
  const codes = places.map((place, index) => (place === undefined ? undefined : stepCodes(runs[index]!.model)[place]));
  const only = runs.find((_, index) => places[1 - index] === undefined);
  const cells = Math.max(...places.map((place, index) => cellsOf(runs[index]!, place)));
  const isDifferent = codes[0] !== codes[1];
  return (
    <li class={`row ${isDifferent ? 'different' : ''}`}>
      <span class="row-name" title={name}>
        <span class="name">{name}</span>
        {cells > 1 && <span class="soft"> ×{cells.toLocaleString('en')}</span>}
        {only !== undefined && <span class="label">only {only.letter}</span>}
      </span>
      <span class="pair">
        {runs.map((run, index) => (
          <PairedLine key={run.letter} {...{ run, span, name }} step={places[index]} code={codes[index]} />
        ))}
      </span>
    </li>
  );
}

interface LineProps {
  readonly run: PairedRun;
  readonly name: string;
  readonly step: number | undefined;
  readonly code: number | undefined;
  readonly span: number;
}

/** The state and the bars of a step in one run. */
function PairedLine({ run, name, step, code, span }: LineProps) {
  const { letter, runId, model, history, gaps, startedAt, now } = run;
  if (step === undefined || code === undefined) return <span class="pair-line soft">{letter}</span>;
  const retries = history === undefined ? [] : findRetries(history, { step }, now);
  return (
    <span class="pair-line">
      <a href={linkTo(['runs', runId, 'steps', name])} aria-label={`${name}, run ${letter}: ${STATUSES[code]!.label}`}>
        {letter} <StatusMark code={code} isShort />
      </a>
      <Track {...{ history, model, gaps, code, retries }} row={{ step }} scale={{ startedAt, span, now }} />
    </span>
  );
}

function cellsOf({ model }: PairedRun, step: number | undefined): number {
  return step === undefined ? 0 : model.cells[step]!.length;
}
