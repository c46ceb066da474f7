import type { DataPort } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';

/** Where the user is: the part of the URL after `#`, so that every screen has a URL and the server needs only one page. */
export interface Route {
  /** The decoded segments of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const LONE = /\p{Surrogate}/gu;

/** Reads a route from the `hash` of a URL. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decodePart),
    query: new URLSearchParams(query),
  };
}

/** A link to a route. Undefined and empty values of the query are left out. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
  return `#/${path.map((part) => encodeURIComponent(replaceLone(part))).join('/')}${search}`;
}

/** Whether a file can be requested by this name. Bytes of a name that are not UTF-8 are lone surrogates, which a URL cannot contain. */
export function isLinkable(name: string): boolean {
  return replaceLone(name) === name;
}

function replaceLone(text: string): string {
  return text.replace(LONE, '\ufffd');
}

/** The current route; the component is rendered again when it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return parseRoute(hash);
}

/** Changes values of the query without a new entry in the browser's history. */
export function replaceQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = parseRoute(location.hash);
  const link = linkTo(path, { ...Object.fromEntries(query), ...changes });
  if (link === location.hash) return;
  history.replaceState(null, '', link);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Not every text that people paste is a valid encoding. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** An input or output of a cell. */
export interface PortPlace {
  readonly runId: string;
  readonly step: string;
  readonly cell: number;
  readonly port: DataPort;
}

/** The path of the screen of an input or output. */
export function portPath({ runId, step, cell, port }: PortPlace): readonly string[] {
  return ['runs', runId, 'data', step, String(cell), port.kind, port.name];
}
