import type { DataPort, FileList } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { apiUrl, messageFor, send } from '../api/fetch-reply.ts';
import type { LiveRun } from '../live/open-run.ts';
import { isLinkable, linkTo, portPath } from '../live/route.ts';
import { useStore } from '../live/use-store.ts';
import { byteWords } from '../parts/byte-words.ts';
import { NOT_LINKABLE, nameWords } from '../parts/name-words.ts';
import { Note } from '../parts/note.tsx';
import { PageButtons } from '../parts/page-buttons.tsx';
import { Time } from '../parts/time.tsx';
import { Trail } from '../parts/trail.tsx';
import { FileDifferences } from './file-differences.tsx';
import { FileHistory } from './file-history.tsx';
import { FilePreview } from './file-preview.tsx';

interface DataProps {
  readonly run: LiveRun;
  readonly step: string;
  readonly cell: number;
  readonly port: DataPort;
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const PREVIEW_BYTES = 262_144;
const PAGE = 1_000;

/** The files of an input or output: a directory, or the preview of a file. */
export function DataScreen({ run, step, cell, port, path, query }: DataProps) {
  useStore(run);
  const filesPath = `runs/${encodeURIComponent(run.runId)}/files`;
  const place = { step, cellIndex: cell, [port.kind]: port.name, path: path.join('/') };
  const [pages, setPages] = useState<readonly (string | undefined)[]>([undefined]);
  const url = apiUrl(filesPath, { ...place, pageSize: PAGE, pageToken: pages.at(-1) });
  const content = useContent(url);
  const base = portPath({ runId: run.runId, step, cell, port });
  return (
    <>
      {run.details !== undefined && <Trail details={run.details} steps={[step]} />}
      <h1>{port.kind === 'output' ? `${step}.${port.name}` : `Input ${port.name} of ${step}`}</h1>
      <nav class="trail" aria-label="Directory">
        <a href={linkTo(base)}>{port.name}</a>
        {path.map((part, index) => (
          <a key={index} href={linkTo([...base, ...path.slice(0, index + 1)])}>
            {part}
          </a>
        ))}
      </nav>
      {content.error !== undefined && <Note tone="bad">{content.error}</Note>}
      {content.list !== undefined && <Directory list={content.list} base={[...base, ...path]} />}
      <PageButtons pages={pages} next={content.list?.nextPageToken} onChange={setPages} />
      {content.bytes !== undefined && (
        <section class="panel">
          <a class="button" href={apiUrl(filesPath, place)} download={path.at(-1)}>
            Download
          </a>
          <FilePreview name={path.at(-1) ?? ''} bytes={content.bytes} total={content.total} />
        </section>
      )}
      {content.error === undefined && <FileHistory {...{ runId: run.runId, step, cell, port, path: path.join('/') }} />}
      {path.length === 0 && run.details !== undefined && (
        <FileDifferences
          place={{ runId: run.runId, step, cell, port }}
          pipeline={run.details.pipeline}
          other={query.get('with') ?? undefined}
        />
      )}
    </>
  );
}

interface Content {
  readonly list?: FileList;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly total?: number | undefined;
  readonly error?: string;
}

/** A directory is a JSON value, a file is sent as an attachment. Of a file, only the beginning is fetched. */
function useContent(url: string): Content {
  const [content, setContent] = useState<Content>({});
  useEffect(() => {
    const aborted = new AbortController();
    const load = async () => {
      const range = { range: `bytes=0-${PREVIEW_BYTES - 1}` };
      const reply = await send(url, { headers: range, signal: aborted.signal });
      if (!reply.headers.has('content-disposition')) return { list: (await reply.json()) as FileList };
      const total = /\/(\d+)$/.exec(reply.headers.get('content-range') ?? '')?.[1];
      const bytes = reply.status === 416 ? new Uint8Array() : new Uint8Array(await reply.arrayBuffer());
      return { bytes, total: total === undefined ? undefined : Number(total) };
    };
    load().then(setContent, (thrown) => {
      if (!aborted.signal.aborted) setContent({ error: messageFor(thrown) });
    });
    return () => aborted.abort();
  }, [url]);
  return content;
}

function Directory({ list, base }: { list: FileList; base: readonly string[] }) {
  return (
    <section class="panel">
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th class="number">Size</th>
            <th>Changed</th>
          </tr>
        </thead>
        <tbody>
          {list.entries.map(({ name, kind, bytes, modifiedAt }) => (
            <tr key={name}>
              <td>
                {!isLinkable(name) ? (
                  <span title={NOT_LINKABLE}>{nameWords(name)}</span>
                ) : kind === 'other' ? (
                  name
                ) : (
                  <a href={linkTo([...base, name])}>{kind === 'directory' ? `${name}/` : name}</a>
                )}
              </td>
              <td class="number">{bytes === undefined ? '–' : byteWords(bytes)}</td>
              <td>{modifiedAt === undefined ? '–' : <Time at={modifiedAt} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.entries.length === 0 && <p class="empty">This directory is empty.</p>}
    </section>
  );
}
