import { own } from '@sluice/client';
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { checkAnswer } from '../../storage/storage-access.ts';
import { DavError } from './dav-rejection.ts';
import type { DavRequest } from './dav-request.ts';

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
const MAX_NODES = 4_000;
/** Characters of the namespaces in scope at one element, which each rendered property repeats. */
const MAX_DECLARED = 4_096;

/** From prefix to URI. */
type Declarations = ReadonlyMap<string, string>;

/** An element of a request's body. `declarations` are the namespaces in scope. */
export interface XmlElement {
  /** As written, with its prefix. */
  readonly name: string;
  readonly namespace: string;
  readonly local: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly declarations: Declarations;
  readonly children: (XmlElement | string)[];
}

/**
 * Parses the body and returns its root element; undefined without a body. Throws `DavError` for invalid XML, a DTD, and
 * more than the limits of bytes, depth and nodes, and `StorageSilent` if the storage does not answer after the body.
 */
export async function readXml({ request, volume }: DavRequest): Promise<XmlElement | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new DavError(413, `the body is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  await checkAnswer(volume.tree.storage);
  return size === 0 ? undefined : parseXml(Buffer.concat(chunks));
}

/** Parses a document. Throws `DavError` 400 if it is not well-formed, including its namespaces. */
function parseXml(bytes: Uint8Array): XmlElement {
  const stack: XmlElement[] = [];
  let root: XmlElement | undefined;
  let nodes = 0;
  const count = () => {
    nodes += 1;
    if (nodes > MAX_NODES) throw new DavError(413, `the body has more than ${MAX_NODES} nodes`);
  };
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw new DavError(400, `the body is not well-formed XML: ${error.message}`);
  });
  parser.on('doctype', () => {
    throw new DavError(400, 'the body declares a document type');
  });
  parser.on('opentag', (tag) => {
    count();
    if (stack.length >= MAX_DEPTH) throw new DavError(413, `the body is nested deeper than ${MAX_DEPTH}`);
    const element = elementOf(tag, stack.at(-1));
    stack.at(-1)?.children.push(element);
    root ??= element;
    stack.push(element);
  });
  const addText = (text: string) => {
    count();
    stack.at(-1)?.children.push(text);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => stack.pop());
  parser.write(decode(bytes)).close();
  if (root === undefined) throw new DavError(400, 'the body is not well-formed XML: it has no element');
  return root;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DavError(400, 'the body is not UTF-8');
  }
}

function elementOf(tag: SaxesTagNS, parent: XmlElement | undefined): XmlElement {
  const attributes: (readonly [string, string])[] = [];
  const own: [prefix: string, uri: string][] = [];
  for (const attribute of Object.values<SaxesAttributeNS>(tag.attributes)) {
    if (attribute.name === 'xmlns') own.push(['', attribute.value]);
    else if (attribute.prefix === 'xmlns') {
      if (attribute.value === '') {
        throw new DavError(400, `the body is not well-formed XML: it binds the prefix '${attribute.local}' to nothing`);
      }
      own.push([attribute.local, attribute.value]);
    } else attributes.push([attribute.name, attribute.value]);
  }
  const declarations = declarationsAt(parent, own);
  return { name: tag.name, namespace: tag.uri, local: tag.local, attributes, declarations, children: [] };
}

function declarationsAt(parent: XmlElement | undefined, own: readonly (readonly [string, string])[]): Declarations {
  if (own.length === 0 && parent !== undefined) return parent.declarations;
  const all = new Map([...(parent?.declarations ?? []), ...own]);
  let size = 0;
  for (const [prefix, uri] of all) size += prefix.length + uri.length;
  if (size > MAX_DECLARED) throw new DavError(413, `the body's namespaces take more than ${MAX_DECLARED} characters`);
  return all;
}

/** The child elements with the name `local` in the namespace `DAV:`; without a name, all of them. */
export function childElements(element: XmlElement, local?: string): XmlElement[] {
  const elements = element.children.filter((child): child is XmlElement => typeof child !== 'string');
  return local === undefined ? elements : elements.filter((child) => isDav(child, local));
}

/** Whether it is the element `local` in the namespace `DAV:`. */
export function isDav(element: XmlElement | undefined, local: string): boolean {
  return element?.namespace === 'DAV:' && element.local === local;
}

/** The text of an element and its descendants. */
export function textOf(element: XmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** Renders an element as self-contained XML, with its original prefixes and all namespace declarations in scope. */
export function renderAlone(element: XmlElement): string {
  const declarations = [...element.declarations]
    .filter(([prefix]) => prefix !== 'xml' && prefix !== 'xmlns')
    .map(([prefix, uri]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeXml(uri)}"`);
  return renderElement(element, declarations.join(''));
}

/** Renders the content of an element as self-contained XML. */
export function renderContent(element: XmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? escapeXml(child) : renderAlone(child))).join('');
}

function renderElement(element: XmlElement, declared: string): string {
  const attributes = element.attributes.map(([name, value]) => ` ${name}="${escapeXml(value)}"`).join('');
  const open = `<${element.name}${declared}${attributes}`;
  if (element.children.length === 0) return `${open}/>`;
  const content = element.children.map((child) => {
    if (typeof child === 'string') return escapeXml(child);
    return renderElement(child, renderNew(child.declarations, element.declarations));
  });
  return `${open}>${content.join('')}</${element.name}>`;
}

function renderNew(own: Declarations, outer: Declarations): string {
  return [...own]
    .filter(([prefix, uri]) => outer.get(prefix) !== uri)
    .map(([prefix, uri]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeXml(uri)}"`)
    .join('');
}

/** Replaces the special characters of XML by references, and characters that XML does not allow by U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replace(/[&<>"\r]/g, (char) => own(ESCAPES, char) ?? char);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
