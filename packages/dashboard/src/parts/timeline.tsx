import { renderDuration } from '@sluice/core';
import { useMemo } from 'preact/hooks';
import { useColumnWidth } from './column-handle.tsx';
import { TimeAxis } from './time-axis.tsx';
import { GapBar, isSame, rowId, type TimelineProps, TimelineRow } from './timeline-row.tsx';
import { VirtualList } from './virtual-list.tsx';

const ROW_HEIGHT = 28;

/** All steps as a tree, each with its bar on the time axis. */
export function Timeline(props: TimelineProps) {
  const { rows, selected, startedAt, end, gaps, now } = props;
  const span = Math.max(1, end - startedAt);
  const column = useColumnWidth('timeline');
  const place = useMemo(() => rows.findIndex((row) => isSame(row, selected)), [rows, selected?.step, selected?.cell]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (handleKey(event.key, props, place)) event.preventDefault();
  };
  return (
    <div class="timeline" style={{ '--name-width': column.styleWidth }}>
      <TimeAxis column={column} span={span}>
        {gaps.map((gap) => (
          <GapBar key={gap.from} {...{ gap, startedAt, span, now }} />
        ))}
      </TimeAxis>
      <VirtualList
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        shown={place}
        attributes={{
          class: 'rows',
          role: 'tree',
          tabIndex: 0,
          'aria-label': 'Steps',
          'aria-activedescendant': place === -1 ? '' : rowId(rows[place]!),
          onKeyDown,
        }}
        renderRow={(index) => <TimelineRow {...props} row={rows[index]!} index={index} span={span} />}
      />
      {rows.length === 0 && <p class="empty">No step matches.</p>}
      {gaps.length > 0 && <GapLegend gaps={gaps} />}
    </div>
  );
}

function GapLegend({ gaps }: Pick<TimelineProps, 'gaps'>) {
  const ms = gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <p class="gap-legend soft">
      <i class="gap" /> no process executed the run: {gaps.length === 1 ? '1 gap' : `${gaps.length} gaps`}, at most{' '}
      {renderDuration(ms)}
    </p>
  );
}

/** Whether the key means something in a tree. */
function handleKey(key: string, props: TimelineProps, place: number): boolean {
  const { rows, expanded, model, steps } = props;
  const row = rows[place];
  const select = (index: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (next) props.onSelect(next);
  };
  const isParent = row !== undefined && row.cell === undefined && model.cells[row.step]!.length > 1;
  if (key === 'ArrowDown') select(place + 1);
  else if (key === 'ArrowUp') select(place - 1);
  else if (key === 'Home') select(0);
  else if (key === 'End') select(rows.length - 1);
  else if (row === undefined) return false;
  else if (key === 'Enter') props.onOpen(row);
  else if (isParent && (key === ' ' || expanded.has(row.step) === (key === 'ArrowLeft'))) props.onToggle(row.step);
  else if (key === 'ArrowLeft' && row.cell !== undefined) props.onSelect({ step: row.step });
  else if (key === 'ArrowLeft' && row.cell === undefined && steps[row.step]!.group !== undefined)
    props.onFold(row.step);
  else return false;
  return true;
}
