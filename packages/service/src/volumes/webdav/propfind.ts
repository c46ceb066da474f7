import { sendBlock } from '../../protocol/send-block.ts';
import { joinVolumePath } from '../files/volume-path.ts';
import { DavError } from './dav-rejection.ts';
import { type DavRequest, depthOf, hrefOf, requireStats } from './dav-request.ts';
import { APACHE_NAMESPACE, LINK_NAMESPACE, LIVE_NAMES, type Resource, renderLive } from './live-properties.ts';
import { nameKey } from './property-store.ts';
import { childElements, escapeXml, isDav, readXml, type XmlElement } from './request-xml.ts';

const BLOCK_CHARACTERS = 64 * 1024;

interface PropertyName {
  readonly namespace: string;
  readonly local: string;
}

/** The requested properties: all, only the names of all, or some by name. */
type Question = { readonly kind: 'all' | 'names' } | { readonly kind: 'some'; readonly names: readonly PropertyName[] };

/** PROPFIND of one resource or a directory's members; infinite depth is rejected, as the standard allows. */
export async function propfind(dav: DavRequest): Promise<void> {
  const { volume, path, reply } = dav;
  const depth = depthOf(dav.request, 'infinity');
  const question = questionOf(await readXml(dav));
  const stats = requireStats(volume, path);
  if (depth === 'infinity' && stats.isDirectory()) {
    throw new DavError(403, 'PROPFIND takes Depth 0 or 1', { condition: '<D:propfind-finite-depth/>' });
  }
  // A client that does not request links would treat a broken one as a file.
  const links = requestsLinks(question) ? 'all' : 'reachable';
  const members = depth === '1' && stats.isDirectory() ? volume.tree.list(path, links) : [];
  reply.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' });
  let text = `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">`;
  text += renderResponse({ volume, path, stats }, question);
  for await (const member of members) {
    const { name, stats: shown, link } = member;
    text += renderResponse({ volume, path: joinVolumePath(path, name), stats: shown, link }, question);
    if (text.length < BLOCK_CHARACTERS) continue;
    await sendBlock(reply, text);
    text = '';
  }
  reply.end(`${text}</D:multistatus>`);
}

function requestsLinks(question: Question): boolean {
  if (question.kind !== 'some') return false;
  return question.names.some(({ namespace, local }) => namespace === LINK_NAMESPACE && local === 'link');
}

function questionOf(body: XmlElement | undefined): Question {
  if (body === undefined) return { kind: 'all' };
  if (!isDav(body, 'propfind')) throw new DavError(400, 'the body is not a propfind element');
  const [prop] = childElements(body, 'prop');
  if (prop !== undefined) {
    return { kind: 'some', names: childElements(prop).map(({ namespace, local }) => ({ namespace, local })) };
  }
  if (childElements(body, 'propname').length > 0) return { kind: 'names' };
  if (childElements(body, 'allprop').length > 0) return { kind: 'all' };
  throw new DavError(400, 'the body requests nothing');
}

function renderResponse(resource: Resource, question: Question): string {
  const { volume, path, stats } = resource;
  const href = hrefOf(volume, path, stats.isDirectory() ? 'dir' : 'file');
  return `<D:response><D:href>${escapeXml(href)}</D:href>${renderStats(resource, question)}</D:response>`;
}

function renderStats(resource: Resource, question: Question): string {
  if (question.kind === 'some') {
    const found: string[] = [];
    const missing: string[] = [];
    const dead = new Map(resource.volume.properties.of(resource.path).map((property) => [nameKey(property), property]));
    for (const name of question.names) {
      const rendered = renderLive(resource, name.namespace, name.local) ?? dead.get(nameKey(name))?.xml;
      if (rendered === undefined) missing.push(renderName(name));
      else found.push(rendered);
    }
    return (found.length > 0 || missing.length === 0 ? propstat(found, '200 OK') : '') + propstat404(missing);
  }
  const dead = resource.volume.properties.of(resource.path);
  const live = allLive(resource);
  if (question.kind === 'all') return propstat([...live.values(), ...dead.map(({ xml }) => xml)], '200 OK');
  return propstat([...live.keys(), ...dead.map(renderName)], '200 OK');
}

/** From each property's name as an empty element to the property itself. */
function allLive(resource: Resource): Map<string, string> {
  const names = LIVE_NAMES.map((local) => ({ namespace: 'DAV:', local }));
  const all = new Map<string, string>();
  for (const name of [...names, { namespace: APACHE_NAMESPACE, local: 'executable' }]) {
    const rendered = renderLive(resource, name.namespace, name.local);
    if (rendered !== undefined) all.set(renderName(name), rendered);
  }
  return all;
}

/** A property's name as an empty, self-contained element. */
export function renderName({ namespace, local }: PropertyName): string {
  if (namespace === 'DAV:') return `<D:${local}/>`;
  return namespace === '' ? `<${local}/>` : `<p:${local} xmlns:p="${escapeXml(namespace)}"/>`;
}

function propstat404(missing: readonly string[]): string {
  return missing.length === 0 ? '' : propstat(missing, '404 Not Found');
}

/** The `propstat` element of properties with the same status. */
export function propstat(properties: readonly string[], status: string): string {
  const prop = `<D:prop>${properties.join('')}</D:prop>`;
  return `<D:propstat>${prop}<D:status>HTTP/1.1 ${status}</D:status></D:propstat>`;
}
