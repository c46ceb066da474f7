import { SaxesParser, type SaxesTagNS } from 'saxes';

/** What a PROPFIND says of one resource. */
export interface Resource {
  /** Decoded path of its URL, without a trailing slash. */
  readonly path: string;
  readonly kind: 'file' | 'dir';
  readonly size: number;
  readonly modifiedAt: number;
}

const DAV = 'DAV:';
const MAX_DEPTH = 64;
/** About a million entries. */
const MAX_CHARACTERS = 512 * 1024 * 1024;

/** The properties that `readMultistatus` looks at. */
export const PROPFIND_BODY =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>' +
  '<resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>';

interface Draft {
  path: string | undefined;
  kind: 'file' | 'dir';
  size: number;
  modifiedAt: number;
}

/**
 * Reads a 207 body as it arrives. Only properties under a 200 status count, whichever of the two comes first; entities
 * beyond XML's own five, endless nesting and endless length are errors.
 */
export async function readMultistatus(body: AsyncIterable<Uint8Array>): Promise<Resource[]> {
  const found: Resource[] = [];
  const parser = createParser((resource) => found.push(resource));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let characters = 0;
  for await (const part of body) {
    const decoded = decoder.decode(part, { stream: true });
    characters += decoded.length;
    if (characters > MAX_CHARACTERS) throw new Error('too long');
    parser.write(decoded);
  }
  parser.write(decoder.decode()).close();
  return found;
}

function createParser(take: (resource: Resource) => void) {
  const parser = new SaxesParser({ xmlns: true });
  const stack: string[] = [];
  let text = '';
  let draft = emptyDraft();
  let props: Partial<Draft> = {};
  let status = '';
  const addText = (part: string) => {
    text += part;
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', (tag: SaxesTagNS) => {
    const name = tag.uri === DAV ? tag.local : `{${tag.uri}}${tag.local}`;
    stack.push(name);
    if (stack.length > MAX_DEPTH) throw new Error('nested too deeply');
    text = '';
    if (name === 'response') draft = emptyDraft();
    if (name === 'propstat') [props, status] = [{}, ''];
    if (name === 'collection' && stack.at(-2) === 'resourcetype') props.kind = 'dir';
  });
  parser.on('closetag', () => {
    const name = stack.pop();
    const value = text.trim();
    text = '';
    if (name === 'href' && stack.at(-1) === 'response') draft.path ??= pathOfHref(value);
    else if (name === 'getcontentlength' && /^\d+$/.test(value)) props.size = Number(value);
    else if (name === 'getlastmodified') props.modifiedAt = Date.parse(value);
    else if (name === 'status' && stack.at(-1) === 'propstat') status = value;
    else if (name === 'propstat' && / 200\b/.test(status)) Object.assign(draft, props);
    else if (name === 'response' && draft.path !== undefined) take(toResource(draft, draft.path));
  });
  return parser;
}

const emptyDraft = (): Draft => ({ path: undefined, kind: 'file', size: 0, modifiedAt: 0 });

function toResource(draft: Draft, path: string): Resource {
  return {
    path,
    kind: draft.kind,
    size: draft.kind === 'dir' ? 0 : draft.size,
    modifiedAt: Number.isNaN(draft.modifiedAt) ? 0 : draft.modifiedAt,
  };
}

/** Servers send a whole URL or only its path; only the path tells anything behind a proxy. */
function pathOfHref(href: string): string {
  const path = href.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/\/+$/, '');
  return decodeURIComponent(path);
}
