import type { FileDifferences as Differences } from '@sluice/host';
import { isLinkable, linkTo, type PortPlace, portPath } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { renderCount } from '../model/render-count.ts';
import { byteWords } from '../parts/byte-words.ts';
import { NOT_LINKABLE, nameWords } from '../parts/name-words.ts';
import { Note } from '../parts/note.tsx';
import { OtherRun } from './other-run.tsx';

interface DifferencesProps {
  readonly place: PortPlace;
  readonly pipeline: string;
  /** The ID of the other run. */
  readonly other: string | undefined;
}

const SHORT_HASH = 12;

/** The files of an input or output that differ from those of another run of the pipeline. */
export function FileDifferences({ place, pipeline, other }: DifferencesProps) {
  const { runId, step, cell, port } = place;
  const path = other === undefined ? undefined : `runs/${encodeURIComponent(runId)}/differences`;
  const { value, error } = useReply<Differences>(path, { step, cellIndex: cell, [port.kind]: port.name, with: other });
  return (
    <section class="panel" aria-labelledby="differences">
      <div class="panel-head">
        <h2 id="differences">Differences</h2>
        <OtherRun runId={runId} pipeline={pipeline} other={other} none="none" name="with" />
      </div>
      {other !== undefined && value === undefined && error === undefined && <p class="soft">Comparing…</p>}
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {value !== undefined && other !== undefined && (
        <>
          <p>{summaryOf(value)}</p>
          {value.differences.length > 0 && <DifferenceTable value={value} place={place} other={other} />}
        </>
      )}
    </section>
  );
}

function summaryOf({ differences, total, same }: Differences): string {
  const equal = `${renderCount(same)} ${same === 1 ? 'file is' : 'files are'} equal`;
  if (total === 0) return `No difference: ${equal}.`;
  const shown = differences.length < total ? `; the first ${renderCount(differences.length)} are shown` : '';
  return `${renderCount(total)} ${total === 1 ? 'file differs' : 'files differ'}, ${equal}${shown}.`;
}

interface TableProps {
  readonly value: Differences;
  readonly place: PortPlace;
  readonly other: string;
}

const MARKS = { added: '+', removed: '−', changed: '≠', unknown: '?' } as const;
const TONES = { added: 'good', removed: 'bad', changed: 'warn', unknown: 'calm' } as const;

function DifferenceTable({ value, place, other }: TableProps) {
  const { step, cell, port } = place;
  const linkOf = (runId: string, index: number, path: string) =>
    isLinkable(path) ? linkTo([...portPath({ runId, step, cell: index, port }), ...path.split('/')]) : undefined;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>This run</th>
            <th>Other run</th>
          </tr>
        </thead>
        <tbody>
          {value.differences.map(({ path, kind, here, there }) => (
            <tr key={path}>
              <td>
                <span class={`status tone-${TONES[kind]}`}>
                  <span class="mark" aria-hidden="true">
                    {MARKS[kind]}
                  </span>
                  {kind}
                </span>{' '}
                {path === '' ? port.name : nameWords(path)}
              </td>
              <td>{here === undefined ? '–' : <Side side={here} link={linkOf(place.runId, cell, path)} />}</td>
              <td>
                {there === undefined ? '–' : <Side side={there} link={linkOf(other, value.otherCellIndex, path)} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SideProps {
  readonly side: NonNullable<Differences['differences'][number]['here']>;
  /** Undefined: the file cannot be requested by its name. */
  readonly link: string | undefined;
}

function Side({ side, link }: SideProps) {
  if (side.link !== undefined) return <span>link to {nameWords(side.link)}</span>;
  const size = byteWords(side.bytes ?? 0);
  return (
    <>
      {link === undefined ? <span title={NOT_LINKABLE}>{size}</span> : <a href={link}>{size}</a>}
      {side.sha256 !== undefined && (
        <small class="soft id" title={side.sha256}>
          {side.sha256.slice(0, SHORT_HASH)}
        </small>
      )}
    </>
  );
}
