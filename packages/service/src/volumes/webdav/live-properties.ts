import type { Stats } from 'node:fs';
import { encodeName } from '@sluice/client';
import { contentTypeOf } from './content-type.ts';
import { type DavVolume, etagOf, hrefOf } from './dav-request.ts';
import type { Lock } from './lock-table.ts';
import { escapeXml } from './request-xml.ts';

/** The namespace of the `executable` property, which clients use to see and set the executable bit. */
export const APACHE_NAMESPACE = 'http://apache.org/dav/props/';

/** The namespace of the property `link`, the percent-encoded target of a symlink (docs/transfer.md). */
export const LINK_NAMESPACE = 'urn:sluice:dav';

/** The resource whose properties are rendered. */
export interface Resource {
  readonly volume: DavVolume;
  readonly path: string;
  readonly stats: Stats;
  /** The target, if the resource was found through a symlink. */
  readonly link?: string | undefined;
}

type Render = (resource: Resource) => string | undefined;

const SUPPORTED_LOCK = ['exclusive', 'shared']
  .map(
    (scope) => `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>`,
  )
  .join('');

/** In the order of listing; undefined if a resource does not have the property. */
const LIVE: ReadonlyMap<string, Render> = new Map<string, Render>([
  ['creationdate', ({ stats }) => new Date(stats.birthtimeMs || stats.ctimeMs).toISOString()],
  ['displayname', ({ path }) => escapeXml(path.slice(path.lastIndexOf('/') + 1))],
  ['getcontentlength', ({ stats }) => (stats.isFile() ? String(stats.size) : undefined)],
  ['getcontenttype', ({ stats, path }) => (stats.isFile() ? contentTypeOf(path) : undefined)],
  ['getetag', ({ stats }) => (stats.isFile() ? escapeXml(etagOf(stats)) : undefined)],
  ['getlastmodified', ({ stats }) => new Date(stats.mtimeMs).toUTCString()],
  ['resourcetype', ({ stats }) => (stats.isDirectory() ? '<D:collection/>' : '')],
  ['supportedlock', () => SUPPORTED_LOCK],
  [
    'lockdiscovery',
    ({ volume, path }) =>
      volume.locks
        .covering(path)
        .map((lock) => renderLock(volume, lock))
        .join(''),
  ],
]);

/** The names of the `DAV:` properties that the server computes and clients cannot set. */
export const LIVE_NAMES: readonly string[] = [...LIVE.keys()];

/** A live property as XML, with the prefix `D` bound to `DAV:`; undefined if the resource does not have it. */
export function renderLive(resource: Resource, namespace: string, local: string): string | undefined {
  if (namespace === APACHE_NAMESPACE && local === 'executable' && resource.stats.isFile()) {
    return `<A:executable xmlns:A="${APACHE_NAMESPACE}">${(resource.stats.mode & 0o100) === 0 ? 'F' : 'T'}</A:executable>`;
  }
  if (namespace === LINK_NAMESPACE && local === 'link' && resource.link !== undefined) {
    const target = resource.link.split('/').map(encodeName).join('/');
    return `<S:link xmlns:S="${LINK_NAMESPACE}">${escapeXml(target)}</S:link>`;
  }
  const value = namespace === 'DAV:' ? LIVE.get(local)?.(resource) : undefined;
  if (value === undefined) return undefined;
  return value === '' ? `<D:${local}/>` : `<D:${local}>${value}</D:${local}>`;
}

/** A lock as an `activelock` element. */
export function renderLock(volume: DavVolume, lock: Lock): string {
  const root = hrefOf(volume, lock.path, volume.tree.stat(lock.path)?.isDirectory() ? 'dir' : 'file');
  return (
    `<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:${lock.scope}/></D:lockscope>` +
    `<D:depth>${lock.depth}</D:depth>${lock.owner === '' ? '' : `<D:owner>${lock.owner}</D:owner>`}` +
    `<D:timeout>Second-${lock.seconds}</D:timeout><D:locktoken><D:href>${lock.token}</D:href></D:locktoken>` +
    `<D:lockroot><D:href>${root}</D:href></D:lockroot></D:activelock>`
  );
}
