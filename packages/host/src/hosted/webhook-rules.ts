import { BlockList, isIP } from 'node:net';

/** Which addresses webhooks may be sent to. */
export interface WebhookRules {
  /** Whether a webhook may be sent to a host at one of its addresses. */
  isAllowed(host: string, address: string): boolean;
}

/** Addresses that no other organization can have: this machine, its networks, metadata services, multicast. */
const DENIED: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

/** `allow` has host names, addresses and networks (CIDR) to which the operator allows webhooks although they are denied. */
export function createWebhookRules(allow: readonly string[]): WebhookRules {
  // Separate lists: one list also compares an IPv4 address with the network of all mapped ones, which contains each.
  const denied = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [address, prefix] of DENIED) denied[familyOf(address)].addSubnet(address, prefix, familyOf(address));
  const allowed = new BlockList();
  const names = new Set<string>();
  for (const entry of allow) {
    const [address = '', prefix] = entry.split('/');
    if (isIP(address) === 0) names.add(entry.toLowerCase());
    else if (prefix === undefined) allowed.addAddress(address, familyOf(address));
    else allowed.addSubnet(address, Number(prefix), familyOf(address));
  }
  return {
    isAllowed(host, address) {
      if (isIP(address) === 0) return false;
      const family = familyOf(address);
      if (names.has(host.toLowerCase()) || allowed.check(address, family)) return true;
      return !denied[family].check(address, family);
    },
  };
}

/** Why an entry of `allow` is invalid; undefined if it is valid. */
export function findWebhookFault(entry: string): string | undefined {
  const [address = '', prefix, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0) {
    const isName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(entry);
    return isName ? undefined : 'must be a host name, an address or a network such as 10.1.0.0/16';
  }
  const bits = version === 4 ? 32 : 128;
  const isNetwork = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return isNetwork && rest.length === 0 ? undefined : `must have a prefix of at most ${bits} bits`;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
