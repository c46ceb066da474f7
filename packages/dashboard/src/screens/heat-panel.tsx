import { useRef, useState } from 'preact/hooks';
import { linkTo, replaceQuery } from '../live/route.ts';
import { MAX_CELLS, useCells } from '../live/use-cells.ts';
import { type HeatMap, type HeatTile, heatMapOf, heatValues } from '../model/heat-map.ts';
import { renderCount } from '../model/render-count.ts';
import { codeOf, STATUSES } from '../model/statuses.ts';

interface HeatProps {
  readonly runId: string;
  readonly step: string;
  readonly query: URLSearchParams;
  /** How many cells the step has. */
  readonly count: number;
  /** The cells are loaded again when it changes. */
  readonly version: unknown;
}

/**
 * The cells of a step as a map of their axes, colored by status or by a number. The choice is part of the URL. Of more cells
 * than it can show, the search and the status of the table choose.
 */
export function HeatPanel({ runId, step, query, count, version }: HeatProps) {
  const filter =
    count <= MAX_CELLS ? {} : { status: query.get('status') ?? undefined, search: query.get('q') ?? undefined };
  const { cells, total } = useCells(runId, step, { ...filter, version });
  const values = heatValues(cells);
  const value = values.includes(query.get('color') ?? '') ? query.get('color')! : undefined;
  const map = heatMapOf(cells, { across: query.get('across') ?? undefined, value });
  const [shown, setShown] = useState<HeatTile>();
  if (map === undefined) return null;
  return (
    <section class="panel" aria-labelledby="heat">
      <div class="panel-head">
        <h2 id="heat">Map of the cells</h2>
        <Choice label="Color" name="color" value={value ?? ''} choices={['', ...values]} />
        {map.axes.length > 1 && <Choice label="Across" name="across" value={map.across} choices={map.axes} />}
      </div>
      {count > MAX_CELLS && <p class="soft">{partWords(cells.length, total, count)}</p>}
      <HeatTable {...{ runId, step, map, value, setShown }} />
      <p class="soft heat-words">{shown === undefined ? rangeWords(map, value) : tileWords(shown, value)}</p>
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly choices: readonly string[];
}

function Choice({ label, name, value, choices }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => replaceQuery({ [name]: event.currentTarget.value || undefined })}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice === '' ? 'status' : choice}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TableProps {
  readonly runId: string;
  readonly step: string;
  readonly map: HeatMap;
  readonly value: string | undefined;
  readonly setShown: (tile: HeatTile | undefined) => void;
}

const MOVES = new Map<string, readonly [down: number, across: number]>([
  ['ArrowUp', [-1, 0]],
  ['ArrowDown', [1, 0]],
  ['ArrowLeft', [0, -1]],
  ['ArrowRight', [0, 1]],
]);

function HeatTable({ runId, step, map, value, setShown }: TableProps) {
  const table = useRef<HTMLTableElement>(null);
  const [place, setPlace] = useState<readonly [number, number]>([0, 0]);
  const current = map.rows[place[0]]?.tiles[place[1]] === undefined ? firstPlace(map) : place;
  const others = map.axes.filter((axis) => axis !== map.across);
  const onKeyDown = (event: KeyboardEvent) => {
    const move = MOVES.get(event.key);
    if (move === undefined) return;
    event.preventDefault();
    let [row, column] = [current[0] + move[0], current[1] + move[1]];
    while (column in map.columns && map.rows[row]?.tiles[column] === undefined && row in map.rows)
      [row, column] = [row + move[0], column + move[1]];
    table.current?.querySelector<HTMLElement>(`[data-place="${row} ${column}"]`)?.focus();
  };
  return (
    <div class="scroll">
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move in it, as in a grid */}
      <table ref={table} class="heat" role="grid" aria-labelledby="heat" onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {others.length === 0 ? <td /> : <th scope="col">{others.join(', ')}</th>}
            {map.columns.map((column) => (
              <th key={column} scope="col" title={`${map.across} ${column}`}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {map.rows.map(({ name, tiles }, row) => (
            <tr key={name}>
              <th scope="row">{name || map.across}</th>
              {tiles.map((tile, column) => (
                <td key={map.columns[column]}>
                  {tile && (
                    <Tile
                      {...{ tile, value, range: map.range, setShown }}
                      href={linkTo(['runs', runId, 'steps', step, 'cells', String(tile.cell.cellIndex)])}
                      place={`${row} ${column}`}
                      isCurrent={row === current[0] && column === current[1]}
                      onFocus={() => setPlace([row, column])}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function firstPlace({ rows }: HeatMap): readonly [number, number] {
  const row = rows.findIndex(({ tiles }) => tiles.some((tile) => tile !== undefined));
  return [row, rows[row]?.tiles.findIndex((tile) => tile !== undefined) ?? 0];
}

interface TileProps extends Pick<TableProps, 'value' | 'setShown'> {
  readonly tile: HeatTile;
  readonly range: HeatMap['range'];
  readonly href: string;
  readonly place: string;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
}

function Tile({ tile, value, range, href, place, isCurrent, setShown, onFocus }: TileProps) {
  const words = tileWords(tile, value);
  const { mark, tone } = STATUSES[codeOf(tile.cell.status, tile.cell.reused)]!;
  const hasNumber = value !== undefined && tile.value !== undefined && range !== undefined;
  const share = hasNumber ? (tile.value! - range[0]) / (range[1] - range[0] || 1) : 0;
  return (
    <a
      class={`tile ${hasNumber ? 'heat-number' : `tone-${tone}`}`}
      href={href}
      tabIndex={isCurrent ? 0 : -1}
      data-place={place}
      title={words}
      aria-label={words}
      style={{ '--heat': hasNumber ? `${Math.round(8 + 42 * share)}%` : undefined }}
      onPointerEnter={() => setShown(tile)}
      onPointerLeave={() => setShown(undefined)}
      onFocus={() => {
        onFocus();
        setShown(tile);
      }}
      onBlur={() => setShown(undefined)}
    >
      {hasNumber ? numberWords(tile.value!) : mark}
    </a>
  );
}

/** For example `5,000 of 12,000 cells shown.` with how to see the others. */
function partWords(shown: number, found: number, count: number): string {
  const [some, matching, all] = [shown, found, count].map((number) => renderCount(number));
  const cells = found === count ? `${some} of ${all} cells shown.` : `${some} of ${matching} matching cells shown.`;
  return `${cells} Search or status in the table below choose which cells the map shows.`;
}

function tileWords({ cell, value: number }: HeatTile, value: string | undefined): string {
  const { label } = STATUSES[codeOf(cell.status, cell.reused)]!;
  return `${cell.cell}: ${label}${value === undefined || number === undefined ? '' : `, ${value} ${number}`}`;
}

function rangeWords({ range }: HeatMap, value: string | undefined): string {
  return value === undefined || range === undefined
    ? 'The arrow keys move in the map, Enter opens a cell.'
    : `${value}: from ${numberWords(range[0])} (pale) to ${numberWords(range[1])} (strong)`;
}

function numberWords(number: number): string {
  return String(Number(number.toPrecision(3)));
}
