import type { Profile } from '../home/profile.ts';

/** What of a profile may be shown as it is; of the other settings, only that they are set. */
const SHOWN: ReadonlySet<string> = new Set(['account', 'cluster', 'engine', 'limits']);
const ADDRESSES: ReadonlySet<string> = new Set(['service', 'authUrl', 'otlp']);

/** The settings of a profile without credentials: of files and names only that they are set, of addresses only the host. */
export function describeProfile(profile: Profile): Record<string, unknown> {
  const settings = Object.entries(profile).filter(([, value]) => value !== undefined);
  return Object.fromEntries(settings.map(([key, value]) => [key, describeSetting(key, value)]));
}

function describeSetting(key: string, value: unknown): unknown {
  if (SHOWN.has(key)) return value;
  return ADDRESSES.has(key) ? new URL(String(value)).origin : '(set)';
}
