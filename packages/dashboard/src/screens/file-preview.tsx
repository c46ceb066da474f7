import { useEffect, useState } from 'preact/hooks';
import { byteWords } from '../parts/byte-words.ts';
import { parseCsv } from '../parts/parse-csv.ts';

interface PreviewProps {
  readonly name: string;
  /** The beginning of the file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly total: number | undefined;
}

const IMAGE_TYPES = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
  }),
);
const MAX_ROWS = 500;

/** Shows text, JSON, tables and images. Nothing of a file is ever interpreted as a page. */
export function FilePreview({ name, bytes, total = bytes.length }: PreviewProps) {
  const extension = name.split('.').at(-1)?.toLowerCase() ?? '';
  const isWhole = bytes.length >= total;
  const note = isWhole ? byteWords(total) : `the first ${byteWords(bytes.length)} of ${byteWords(total)}`;
  return (
    <>
      <p class="soft">{note}</p>
      <Contents extension={extension} bytes={bytes} isWhole={isWhole} name={name} />
    </>
  );
}

function Contents({
  extension,
  bytes,
  isWhole,
  name,
}: {
  extension: string;
  bytes: Uint8Array<ArrayBuffer>;
  isWhole: boolean;
  name: string;
}) {
  const type = IMAGE_TYPES.get(extension);
  if (type !== undefined && isWhole) return <ImagePreview bytes={bytes} type={type} name={name} />;
  if (bytes.includes(0)) return <p class="empty">This file has no preview, since it is not text.</p>;
  const text = new TextDecoder().decode(bytes);
  if (extension === 'csv' || extension === 'tsv')
    return <Table rows={parseCsv(text, extension === 'csv' ? ',' : '\t')} />;
  return <pre class="preview">{extension === 'json' && isWhole ? indentJson(text) : text}</pre>;
}

function ImagePreview({ bytes, type, name }: { bytes: Uint8Array<ArrayBuffer>; type: string; name: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [bytes]);
  return url === undefined ? null : <img class="preview" src={url} alt={name} />;
}

function Table({ rows }: { rows: readonly (readonly string[])[] }) {
  const [head = [], ...body] = rows;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {head.map((text, index) => (
              <th key={index}>{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index}>
              {row.map((text, column) => (
                <td key={column}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
