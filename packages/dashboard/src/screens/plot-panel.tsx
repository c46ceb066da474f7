import { useState } from 'preact/hooks';
import { replaceQuery } from '../live/route.ts';
import { type ComparisonTable, numericColumns, pointsOf } from '../model/comparison-table.ts';
import { Plot } from '../parts/plot.tsx';

/** A plot of two columns of a table, open if there are results. The choice is part of the URL. */
export function PlotPanel({ table, query, name }: { table: ComparisonTable; query: URLSearchParams; name: string }) {
  const [chosen, setOpen] = useState<boolean>();
  const numeric = numericColumns(table);
  if (numeric.length === 0 || table.rows.length < 2) return null;
  const indexOf = (column: string | null) => {
    const index = table.columns.indexOf(column ?? '');
    return index < 0 ? undefined : index;
  };
  const results = numeric.filter((index) => table.results.includes(table.columns[index]!));
  const isOpen = chosen ?? (query.has('y') || results.length > 0);
  const x = indexOf(query.get('x'));
  const y =
    indexOf(query.get('y')) ??
    results[0] ??
    numeric.find((index) => table.columns[index] === 'duration (s)') ??
    numeric[0]!;
  return (
    <details class="panel" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Plot</summary>
      {isOpen && (
        <>
          <div class="panel-head">
            <label>
              Vertical{' '}
              <select value={table.columns[y]} onChange={(event) => replaceQuery({ y: event.currentTarget.value })}>
                {numeric.map((index) => (
                  <option key={index}>{table.columns[index]}</option>
                ))}
              </select>
            </label>
            <label>
              Horizontal{' '}
              <select
                value={x === undefined ? '' : table.columns[x]}
                onChange={(event) => replaceQuery({ x: event.currentTarget.value, y: table.columns[y] })}
              >
                <option value="">{name}</option>
                {table.columns.map((column) => (
                  <option key={column}>{column}</option>
                ))}
              </select>
            </label>
          </div>
          <Plot
            {...pointsOf(table, x, y)}
            xName={x === undefined ? name : table.columns[x]!}
            yName={table.columns[y]!}
          />
        </>
      )}
    </details>
  );
}
