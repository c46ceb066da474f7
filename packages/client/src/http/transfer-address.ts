import { isIP } from 'node:net';
import { ServiceError } from '../service-error.ts';

/**
 * Validates the address of a volume's files before a login is sent there: HTTP or HTTPS, but not HTTP if the service
 * uses HTTPS, and a local or link-local host only if the service has one too. Throws `INVALID_REPLY`.
 */
export function parseTransferAddress(text: string, options: { readonly base: string; readonly what: string }): string {
  const reject = (why: string) =>
    new ServiceError('INVALID_REPLY', `could not ${options.what}: the service gave the address ${shown(text)}, ${why}`);
  if (text.length > MAX_LENGTH || !URL.canParse(text)) throw reject('which is no URL');
  const [url, base] = [new URL(text), new URL(options.base)];
  if (!/^https?:$/.test(url.protocol)) throw reject('which is neither http nor https');
  if (url.username !== '' || url.password !== '') throw reject('which has a user or password in it');
  if (base.protocol === 'https:' && url.protocol === 'http:') {
    throw reject('where the password would go unencrypted, though the service itself uses https');
  }
  if (isLocal(url.hostname) && !isLocal(base.hostname)) throw reject('which is on this machine and not on the service');
  return url.href;
}

const MAX_LENGTH = 2_000;
const MAX_SHOWN = 100;

function shown(text: string): string {
  const quoted = JSON.stringify(text.slice(0, MAX_SHOWN).replace(/\/\/[^/]*@/, '//…@'));
  return text.length > MAX_SHOWN ? `${quoted}…` : quoted;
}

/** Whether an address is loopback, link-local or unspecified; names are not resolved. */
function isLocal(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (isIP(host) === 4) return /^(127|0)\.|^169\.254\./.test(host);
  return isIP(host) === 6 && /^(::1?$|fe[89ab]|::ffff:(7f|a9fe|0?:))/.test(host);
}
