import { chmodSync } from 'node:fs';
import { DavError } from './dav-rejection.ts';
import { answerXml, type DavRequest, hrefOf, requireStats } from './dav-request.ts';
import { APACHE_NAMESPACE, LINK_NAMESPACE, LIVE_NAMES } from './live-properties.ts';
import { checkLocks } from './preconditions.ts';
import { nameKey } from './property-store.ts';
import { propstat, renderName } from './propfind.ts';
import { childElements, escapeXml, isDav, readXml, renderAlone, textOf, type XmlElement } from './request-xml.ts';

interface Change {
  readonly kind: 'set' | 'remove';
  readonly element: XmlElement;
}

/** PROPPATCH: applies all changes in order, or none if one of them is to a property that clients cannot set. */
export async function proppatch(dav: DavRequest): Promise<void> {
  const { volume, path } = dav;
  const changes = changesOf(await readXml(dav));
  const stats = requireStats(volume, path);
  checkLocks(dav, path);
  const rejected = changes.filter((change) => !isAllowed(change));
  if (rejected.length === 0) apply(dav, changes);
  const rendered = renderOutcome(changes, rejected);
  const href = escapeXml(hrefOf(volume, path, stats.isDirectory() ? 'dir' : 'file'));
  const response = `<D:response><D:href>${href}</D:href>${rendered}</D:response>`;
  answerXml(dav.reply, { status: 207, xml: `<D:multistatus xmlns:D="DAV:">${response}</D:multistatus>` });
}

function changesOf(body: XmlElement | undefined): Change[] {
  if (body === undefined || !isDav(body, 'propertyupdate')) {
    throw new DavError(400, 'the body is not a propertyupdate element');
  }
  const changes = childElements(body)
    .filter((part) => isDav(part, 'set') || isDav(part, 'remove'))
    .flatMap((part) =>
      childElements(part, 'prop').flatMap((prop) =>
        childElements(prop).map(
          (element): Change => ({ kind: part.local as 'set' | 'remove', element: inherit(element, prop) }),
        ),
      ),
    );
  if (changes.length === 0) throw new DavError(400, 'the body changes nothing');
  return changes;
}

/** `xml:lang` belongs to the property's value, even if it is set on the parent element. */
function inherit(element: XmlElement, prop: XmlElement): XmlElement {
  const language = prop.attributes.find(([name]) => name === 'xml:lang');
  if (language === undefined || element.attributes.some(([name]) => name === 'xml:lang')) return element;
  return { ...element, attributes: [language, ...element.attributes] };
}

function isExecutable({ namespace, local }: XmlElement): boolean {
  return namespace === APACHE_NAMESPACE && local === 'executable';
}

function isAllowed({ kind, element }: Change): boolean {
  if (isExecutable(element)) return kind === 'set' && ['T', 'F'].includes(textOf(element).trim());
  if (element.namespace === LINK_NAMESPACE) return false;
  return element.namespace !== 'DAV:' || !LIVE_NAMES.includes(element.local);
}

function apply({ volume, path }: DavRequest, changes: readonly Change[]): void {
  const [flags, others] = [true, false].map((is) => changes.filter(({ element }) => isExecutable(element) === is));
  // Storing the properties of a volume is a durable write, which may be rejected.
  if (others!.length > 0) storeProperties({ volume, path }, others!);
  for (const { element } of flags!) setExecutable({ volume, path }, textOf(element).trim() === 'T');
}

function storeProperties({ volume, path }: Pick<DavRequest, 'volume' | 'path'>, changes: readonly Change[]): void {
  const properties = new Map(volume.properties.of(path).map((property) => [nameKey(property), property]));
  for (const { kind, element } of changes) {
    const { namespace, local } = element;
    if (kind === 'remove') properties.delete(nameKey(element));
    else properties.set(nameKey(element), { namespace, local, xml: renderAlone(element) });
  }
  volume.properties.set(path, [...properties.values()]);
}

function setExecutable({ volume, path }: Pick<DavRequest, 'volume' | 'path'>, executable: boolean): void {
  const mode = volume.tree.stat(path)?.mode ?? 0;
  // Users who may read it may run it, as with `chmod +x`.
  const next = executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
  volume.tree.inNode(path, (node) => chmodSync(node, next & 0o777));
}

function renderOutcome(changes: readonly Change[], rejected: readonly Change[]): string {
  const names = (some: readonly Change[]) => [...new Set(some.map(({ element }) => renderName(element)))];
  if (rejected.length === 0) return propstat(names(changes), '200 OK');
  const rest = names(changes.filter((change) => !rejected.includes(change)));
  const failed = propstat(names(rejected), '403 Forbidden');
  return rest.length === 0 ? failed : failed + propstat(rest, '424 Failed Dependency');
}
