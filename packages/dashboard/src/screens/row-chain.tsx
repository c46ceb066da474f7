import type { CellList, RunDetails } from '@sluice/host';
import { ENDED_STATUSES } from '@sluice/run';
import { useState } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo, replaceQuery } from '../live/route.ts';
import { useEscape } from '../live/use-escape.ts';
import { useNow } from '../live/use-now.ts';
import { useReply } from '../live/use-reply.ts';
import { LogView } from '../log/log-view.tsx';
import { renderCount } from '../model/render-count.ts';
import { codeOf } from '../model/statuses.ts';
import { Note } from '../parts/note.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { NOT_BEGUN, tookWords } from '../parts/time-words.ts';

/** A row can have all cells of a step. */
const MAX_CELLS = 200;

interface ChainProps {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly row: string;
  readonly axes: string;
  /** The cells are loaded again when it changes. */
  readonly version: number;
}

/** The cells of one row in the order of the graph, each with its duration and its log. */
export function RowChain({ run, details, row, axes, version }: ChainProps) {
  const path = `runs/${encodeURIComponent(run.runId)}/cells`;
  const { value, error } = useReply<CellList>(path, { row, axes, pageSize: MAX_CELLS }, version);
  const now = useNow(run.status === 'running');
  const { steps } = details.plan;
  const cells = value?.cells.toSorted((a, b) => steps[a.stepIndex]!.level - steps[b.stepIndex]!.level) ?? [];
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const standard = firstShown(cells);
  useEscape(() => replaceQuery({ row: undefined }));
  return (
    <section class="panel chain" aria-label={`Cells of ${row}`}>
      <header>
        <h2>{row}</h2>
        <button type="button" aria-label="Close the row" onClick={() => replaceQuery({ row: undefined })}>
          ✕
        </button>
      </header>
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {value !== undefined && value.total > cells.length && (
        <p class="soft">
          The first {cells.length} of {renderCount(value.total)} cells.
        </p>
      )}
      {cells.map((cell) => {
        const id = `${cell.stepIndex}-${cell.cellIndex}`;
        const isOpen = chosen.get(id) ?? id === standard;
        return (
          <ChainCell
            key={id}
            {...{ runId: run.runId, cell, now, isOpen }}
            onToggle={() => setChosen(new Map(chosen).set(id, !isOpen))}
          />
        );
      })}
    </section>
  );
}

type Cell = CellList['cells'][number];

/** The cell whose log is shown at first: the first one that has failed, otherwise the last one with a log. */
function firstShown(cells: readonly Cell[]): string | undefined {
  const shown =
    cells.find((cell) => cell.status === 'failed' && hasLog(cell)) ?? cells.findLast((cell) => hasLog(cell));
  return shown && `${shown.stepIndex}-${shown.cellIndex}`;
}

function hasLog({ containerId }: Cell): boolean {
  return containerId !== undefined;
}

interface CellProps {
  readonly runId: string;
  readonly cell: Cell;
  readonly now: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function ChainCell({ runId, cell, now, isOpen, onToggle }: CellProps) {
  const name = `${cell.step}/${cell.cell}`;
  const source = {
    ...{ path: `runs/${encodeURIComponent(runId)}/log`, step: cell.step },
    ...{ cell: cell.cellIndex, attempt: cell.attempt },
  };
  return (
    <article aria-label={name}>
      <header>
        <StatusMark code={codeOf(cell.status, cell.reused)} />
        <a href={linkTo(['runs', runId, 'steps', cell.step, 'cells', String(cell.cellIndex)])}>{name}</a>
        <span class="soft">{ranWords(cell, now)}</span>
        {hasLog(cell) && (
          <button type="button" aria-expanded={isOpen} onClick={onToggle}>
            Log<span class="hidden"> of {name}</span>
          </button>
        )}
      </header>
      {cell.message !== undefined && <p class="soft">{cell.message}</p>}
      {isOpen && hasLog(cell) && (
        <LogView
          key={JSON.stringify(source)}
          source={source}
          isOpen={!ENDED_STATUSES.has(cell.status)}
          hasFailed={cell.status === 'failed'}
          hrefOf={(line) =>
            linkTo(['runs', runId, 'steps', cell.step, 'cells', String(cell.cellIndex)], {
              ...{ tab: 'log', attempt: String(cell.attempt), line },
            })
          }
        />
      )}
    </article>
  );
}

function ranWords(cell: Cell, now: number): string {
  const took = tookWords(cell, now);
  if (took === NOT_BEGUN) return '';
  return cell.attempt > 1 ? `${took}, attempt ${cell.attempt}` : took;
}
