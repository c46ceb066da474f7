import { SaxesParser, type SaxesTagNS } from 'saxes';
import { decodeName } from '../name-bytes.ts';

/** The properties of one resource in a PROPFIND reply. */
export interface Resource {
  /** Decoded path of its URL, without a trailing slash. */
  readonly path: string;
  readonly kind: 'file' | 'dir';
  readonly size: number;
  readonly modifiedAt: number;
  /** Undefined if the server does not report it. */
  readonly executable: boolean | undefined;
  /** The target of a symlink; undefined for other resources, and if the server does not report it. */
  readonly link: string | undefined;
  /** Undefined for directories, and if the server does not report it. */
  readonly etag: string | undefined;
}

/** Apache's property for the executable bit, which other servers and clients also support. */
const APACHE_NAMESPACE = 'http://apache.org/dav/props/';
/** Namespace of the property `link` of `sluice serve`: a symlink's target, percent-encoded. */
const LINK_NAMESPACE = 'urn:sluice:dav';

const DAV = 'DAV:';
const EXECUTABLE = `{${APACHE_NAMESPACE}}executable`;
const LINK = `{${LINK_NAMESPACE}}link`;
const MAX_DEPTH = 64;
/** Enough for about a million entries. */
const MAX_CHARACTERS = 512 * 1024 * 1024;
const MAX_ENTRIES = 2_000_000;
/** The longest path of common file systems, with every byte percent-encoded. */
const MAX_TEXT = 16_384;

/** Requests the properties that `readMultistatus` reads. */
export const PROPFIND_BODY =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>' +
  '<resourcetype/><getcontentlength/><getlastmodified/><getetag/>' +
  `<executable xmlns="${APACHE_NAMESPACE}"/><link xmlns="${LINK_NAMESPACE}"/></prop></propfind>`;

type Draft = { -readonly [Key in keyof Resource]: Resource[Key] | (Key extends 'path' ? undefined : never) };

/**
 * Reads a 207 body as it arrives. Properties count only with status 200, which may come before or after them. Throws
 * for custom entities and for excessive nesting or length.
 */
export async function readMultistatus(body: AsyncIterable<Uint8Array>): Promise<Resource[]> {
  const found: Resource[] = [];
  const parser = createParser((resource) => {
    if (found.push(resource) > MAX_ENTRIES) throw new Error('too many entries');
  });
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
    if (text.length > MAX_TEXT) throw new Error('a text is too long');
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
    else if (name === EXECUTABLE) props.executable = value === 'T';
    else if (name === LINK) props.link = decodeName(value);
    else if (name === 'getetag' && value !== '') props.etag = value;
    else if (name === 'status' && stack.at(-1) === 'propstat') status = value;
    else if (name === 'propstat' && / 200\b/.test(status)) Object.assign(draft, props);
    else if (name === 'response' && draft.path !== undefined) take(toResource(draft, draft.path));
  });
  return parser;
}

const emptyDraft = (): Draft => ({
  path: undefined,
  kind: 'file',
  size: 0,
  modifiedAt: 0,
  executable: undefined,
  link: undefined,
  etag: undefined,
});

function toResource(draft: Draft, path: string): Resource {
  return {
    ...draft,
    path,
    size: draft.kind === 'dir' ? 0 : draft.size,
    modifiedAt: Number.isNaN(draft.modifiedAt) ? 0 : draft.modifiedAt,
    etag: draft.kind === 'dir' ? undefined : draft.etag,
  };
}

/** Servers send a full URL or only its path; behind a proxy, only the path is reliable. */
function pathOfHref(href: string): string {
  const path = href.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/\/+$/, '');
  return decodeName(path);
}
