import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { API_PREFIX, type Listener } from '@sluice/host';
import { replaceFile } from '@sluice/host-system';
import { describeSystemError } from '../context/describe-system-error.ts';

/** The file with which programs of this user call the run API. */
export interface ApiAccess {
  /** Removes the file: its token is void when the listener closes. */
  withdraw(): Promise<void>;
}

/**
 * Writes the address and the token of the run API to `host/api.json` in the home, readable only by its owner. Only for the
 * process that hosts the runs of the home, so that there is one. A failure is logged.
 */
export async function offerApi(
  { url, token }: Pick<Listener, 'url' | 'token'>,
  { home, log }: { readonly home: string; readonly log: (line: string) => void },
): Promise<ApiAccess> {
  const file = join(home, 'host', 'api.json');
  const value = { url: `${url.replace(/\/$/, '')}${API_PREFIX}`, token };
  try {
    await replaceFile(file, `${JSON.stringify(value)}\n`);
  } catch (error) {
    log(`could not write ${file}: ${describeSystemError(error)}; programs cannot call the run API`);
  }
  return { withdraw: () => rm(file, { force: true }) };
}
