import { renderDuration } from '@sluice/core';
import type { ComponentChildren } from 'preact';
import { roundTicks } from '../model/round-ticks.ts';
import { ColumnHandle, type ColumnWidth } from './column-handle.tsx';

interface AxisProps {
  /** Of the names. */
  readonly column: ColumnWidth;
  /** In milliseconds. */
  readonly span: number;
  /** Behind the times. */
  readonly children?: ComponentChildren;
}

/** The head of a timeline: the handle of the names' column, and round times since the start. */
export function TimeAxis({ column, span, children }: AxisProps) {
  return (
    <div class="axis">
      <span class="row-name">
        <ColumnHandle column={column} label="Width of the names" />
      </span>
      <span class="track" aria-hidden="true">
        {children}
        {roundTicks(span).map((tick) => (
          <span key={tick} style={{ left: `${(100 * tick) / span}%` }}>
            {renderDuration(tick)}
          </span>
        ))}
      </span>
    </div>
  );
}
