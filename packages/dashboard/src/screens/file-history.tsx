import type { DataPort, FileHistory as History } from '@sluice/host';
import { linkTo } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { Note } from '../parts/note.tsx';
import { timeWords } from '../parts/time-words.ts';

interface HistoryProps {
  readonly runId: string;
  readonly step: string;
  readonly cell: number;
  readonly port: DataPort;
  readonly path: string;
}

const KINDS = { reused: 'reused as', mounted: 'mounted by', published: 'copied to' } as const;

/** Which attempt wrote the files that are shown, and who has reused or mounted them. */
export function FileHistory({ runId, step, cell, port, path }: HistoryProps) {
  const query = { step, cellIndex: cell, [port.kind]: port.name, path };
  const { value, error } = useReply<History>(`runs/${encodeURIComponent(runId)}/history`, query);
  return (
    <section class="panel" aria-labelledby="file-history">
      <h2 id="file-history">History</h2>
      {error !== undefined && <Note>{error}</Note>}
      {value !== undefined && (
        <>
          <Makers value={value} />
          <Uses value={value} />
          <details>
            <summary>Not known</summary>
            <ul>
              {value.unknown.map((line) => (
                <li key={line} class="soft">
                  {line}
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </section>
  );
}

function Makers({ value: { makers, makerCount } }: { value: History }) {
  if (makers.length === 0) return null;
  return (
    <>
      <h3>Written by</h3>
      <ul>
        {makers.map(({ runId, pipeline, step, cell, attempt, publishedAt, problem }) => (
          <li key={`${runId} ${step} ${cell}`}>
            {pipeline === undefined ? (
              nameOf(step, cell)
            ) : (
              <a href={linkToStep(runId, step)}>
                {nameOf(step, cell)}
                {attempt !== undefined && `, attempt ${attempt}`}
              </a>
            )}{' '}
            of run {pipeline === undefined ? <span class="id">{runId}</span> : <RunLink {...{ runId, pipeline }} />}
            {publishedAt !== undefined && <span class="soft"> · {timeWords(publishedAt)}</span>}
            {problem !== undefined && <span class="soft"> · {problem}</span>}
          </li>
        ))}
      </ul>
      {makerCount > makers.length && <p class="soft">{`And ${makerCount - makers.length} more cells.`}</p>}
    </>
  );
}

function Uses({ value: { uses, useCount } }: { value: History }) {
  return (
    <>
      <h3>Used by</h3>
      {uses.length === 0 && <p class="soft">Nothing in this home.</p>}
      {uses.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Use</th>
                <th scope="col">Step or directory</th>
                <th scope="col">Name</th>
                <th scope="col">Run</th>
                <th scope="col">Time</th>
              </tr>
            </thead>
            <tbody>
              {uses.map(({ kind, runId, pipeline, step, cell, name, directory, at }, index) => (
                <tr key={index}>
                  <td>{KINDS[kind]}</td>
                  <td>{directory ?? <a href={linkToStep(runId, step)}>{nameOf(step, cell)}</a>}</td>
                  <td>{name ?? '–'}</td>
                  <td>
                    <RunLink {...{ runId, pipeline }} />
                  </td>
                  <td>{at === undefined ? '–' : timeWords(at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {useCount > uses.length && <p class="soft">{`And ${useCount - uses.length} more.`}</p>}
    </>
  );
}

function RunLink({ runId, pipeline }: { runId: string; pipeline: string }) {
  return (
    <a href={linkTo(['runs', runId])}>
      {pipeline} <span class="id">{runId}</span>
    </a>
  );
}

function linkToStep(runId: string, step: string): string {
  return linkTo(['runs', runId, 'steps', step]);
}

function nameOf(step: string, cell: string): string {
  return cell === '' ? step : `${step} / ${cell}`;
}
