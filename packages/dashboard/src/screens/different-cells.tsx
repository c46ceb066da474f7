import type { CellEntry } from '@sluice/host';
import { useMemo, useState } from 'preact/hooks';
import { linkTo, replaceQuery } from '../live/route.ts';
import { useCells } from '../live/use-cells.ts';
import { alignSteps } from '../model/align-steps.ts';
import { type CellDifference, compareCells, DIFFERENCE_KINDS } from '../model/cell-differences.ts';
import { renderCount } from '../model/render-count.ts';
import type { RunPair } from '../model/run-pair.ts';
import { codeOf } from '../model/statuses.ts';
import { Note } from '../parts/note.tsx';
import { PageButtons } from '../parts/page-buttons.tsx';
import { SizedHead } from '../parts/sized-head.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { TOOK, tookWords } from '../parts/time-words.ts';

const PAGE = 50;

interface DifferentProps extends RunPair {
  readonly query: URLSearchParams;
}

/** The cells that differ between two runs. The step and the kind of difference are part of the URL. */
export function DifferentCells({ run, other, query }: DifferentProps) {
  const steps = useMemo(
    () =>
      alignSteps(run.plan.steps, other.plan.steps).flatMap(({ name, places }) =>
        places.includes(undefined) ? [] : [name],
      ),
    [run, other],
  );
  const step = steps.find((name) => name === query.get('cellsOf'));
  const kind = DIFFERENCE_KINDS.find((one) => one === query.get('differsIn'));
  return (
    <section class="panel" aria-labelledby="different-cells">
      <div class="panel-head">
        <h2 id="different-cells">Cells that differ</h2>
        <Choice label="Step" name="cellsOf" value={step} choices={steps} />
        <Choice label="Difference" name="differsIn" value={kind} choices={DIFFERENCE_KINDS} />
      </div>
      <Loaded key={JSON.stringify([run.runId, other.runId, step])} {...{ run, other, step, kind }} />
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly choices: readonly string[];
}

function Choice({ label, name, value, choices }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={value ?? ''} onChange={(event) => replaceQuery({ [name]: event.currentTarget.value })}>
        <option value="">all</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  );
}

interface LoadedProps extends RunPair {
  readonly step: string | undefined;
  readonly kind: CellDifference['kind'] | undefined;
}

function Loaded({ run, other, step, kind }: LoadedProps) {
  const first = useCells(run.runId, step, { version: run.position });
  const second = useCells(other.runId, step, { version: other.position });
  const all = useMemo(() => compareCells(first, second), [first, second]);
  const error = first.error ?? second.error;
  if (error !== undefined) return <Note tone="bad">{error}</Note>;
  if (!first.isLoaded || !second.isLoaded) return <p class="soft">Comparing the cells…</p>;
  const shown = kind === undefined ? all : all.filter((difference) => difference.kind === kind);
  const isPart = [first, second].some(({ cells, total }) => cells.length < total);
  return (
    <>
      {isPart && (
        <Note tone="warn">{`The first ${renderCount(first.cells.length)} of ${renderCount(first.total)} cells of A and the first ${renderCount(second.cells.length)} of ${renderCount(second.total)} cells of B were compared. Choose a step to compare its cells.`}</Note>
      )}
      {shown.length === 0 && <p class="empty">No cell differs.</p>}
      {shown.length > 0 && <DifferencePages key={kind} differences={shown} runIds={[run.runId, other.runId]} />}
    </>
  );
}

interface PagesProps {
  readonly differences: readonly CellDifference[];
  readonly runIds: readonly [string, string];
}

function DifferencePages({ differences, runIds }: PagesProps) {
  const [pages, setPages] = useState<readonly (string | undefined)[]>([undefined]);
  // Of a run that continues, there can be fewer than before.
  const last = Math.floor((differences.length - 1) / PAGE) * PAGE;
  const from = Math.min(Number(pages.at(-1) ?? 0), last);
  const to = Math.min(from + PAGE, differences.length);
  return (
    <>
      <p class="soft">
        {`Cells ${renderCount(from + 1)} to ${renderCount(to)} of ${renderCount(differences.length)}, the worst first`}
      </p>
      <div class="scroll whole">
        <DifferenceTable differences={differences.slice(from, to)} runIds={runIds} />
      </div>
      <PageButtons pages={pages} next={to < differences.length ? String(to) : undefined} onChange={setPages} />
    </>
  );
}

function DifferenceTable({ differences, runIds }: PagesProps) {
  return (
    <table class="different-cells">
      <thead>
        <tr>
          <SizedHead name="different-cells" label="Width of the names">
            Cell
          </SizedHead>
          {['A', 'B'].map((letter) => (
            <th key={letter} scope="col" title={TOOK}>
              {letter}
            </th>
          ))}
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ name, cells, words }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, index) => (
              <td key={runIds[index]}>{cell && <CellLink cell={cell} name={name} runId={runIds[index]!} />}</td>
            ))}
            <td>
              {words.map((text) => (
                <span key={text} class="block">
                  {text}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The status and the duration of a cell, with a link to its page. */
function CellLink({ cell, name, runId }: { cell: CellEntry; name: string; runId: string }) {
  return (
    <a
      href={linkTo(['runs', runId, 'steps', cell.step, 'cells', String(cell.cellIndex)])}
      aria-label={`${name} in run ${runId}: ${cell.status}, ${tookWords(cell)}`}
    >
      <StatusMark code={codeOf(cell.status, cell.reused)} isShort /> {tookWords(cell)}
    </a>
  );
}
