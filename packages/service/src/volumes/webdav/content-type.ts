import { extname } from 'node:path';
import { own } from '@sluice/client';

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.log': 'text/plain; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml',
  '.yaml': 'text/plain; charset=utf-8',
  '.zip': 'application/zip',
};

/** The media type for a file's extension. Unknown extensions have `application/octet-stream`. */
export function contentTypeOf(path: string): string {
  return own(TYPES, extname(path).toLowerCase()) ?? 'application/octet-stream';
}
