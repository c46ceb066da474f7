import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { own } from '@sluice/core';
import { runDirectory } from '@sluice/home';
import { isSystemError } from '@sluice/host-system';
import { ApiError } from '../errors/api-error.ts';
import { openSecrets, type RunSecrets, sealSecrets } from './seal-secrets.ts';

/** The secrets of the runs of one account, encrypted in their directories. */
export interface SecretStore {
  /** The encrypted secrets of a run. Creates the key if there is none; throws `ApiError` if that fails. */
  seal(runId: string, secrets: RunSecrets): Promise<Uint8Array>;
  /** The value of a secret. Undefined: the run has no such secret, or its secrets cannot be decrypted. */
  read(runId: string, name: string): string | undefined;
  remove(runId: string): Promise<void>;
}

/** The name of the file in the directory of a run. */
export const SECRETS_FILE = 'secrets.sealed';

/** What the secrets of an account depend on. */
export interface SecretStoreOptions {
  readonly home: string;
  /** `CLUSTER/ACCOUNT`. */
  readonly account: string;
  /** The key; created if there is none. */
  readonly createKey: () => Promise<Uint8Array>;
  /** The key; undefined if there is none. */
  readonly readKey: () => Uint8Array | undefined;
  readonly log: (line: string) => void;
}

/** Decrypted values are kept in memory while the run is not over. */
export function createSecretStore({ home, account, createKey, readKey, log }: SecretStoreOptions): SecretStore {
  const opened = new Map<string, RunSecrets>();
  const contextOf = (runId: string) => `${account}/${runId}`;
  const pathOf = (runId: string) => join(runDirectory(home, runId), SECRETS_FILE);

  function open(runId: string): RunSecrets {
    let sealed: Buffer;
    try {
      sealed = readFileSync(pathOf(runId));
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return {};
      throw error;
    }
    const key = readKey();
    if (key !== undefined) return openSecrets(sealed, { key, context: contextOf(runId) });
    throw new Error('the key file is missing');
  }

  return {
    async seal(runId, secrets) {
      opened.delete(runId);
      let key: Uint8Array;
      try {
        key = await createKey();
      } catch (error) {
        log(`run ${runId}: could not encrypt its secrets: ${(error as Error).message}`);
        const message = 'could not store the secrets of the run: the server has no usable key; ask its operator';
        throw new ApiError(503, 'SECRETS_UNAVAILABLE', message);
      }
      return sealSecrets(secrets, { key, context: contextOf(runId) });
    },
    read(runId, name) {
      let secrets = opened.get(runId);
      if (secrets === undefined) {
        try {
          secrets = open(runId);
        } catch (error) {
          log(`run ${runId}: could not decrypt its secrets: ${(error as Error).message}`);
          return undefined;
        }
        opened.set(runId, secrets);
      }
      return own(secrets, name);
    },
    async remove(runId) {
      opened.delete(runId);
      const directory = runDirectory(home, runId);
      const names = await readdir(directory).catch(() => []);
      // A process that was killed while it replaced the file has left a temporary one.
      const found = names.filter((one) => one.startsWith(SECRETS_FILE));
      await Promise.all(found.map((one) => rm(join(directory, one), { force: true })));
    },
  };
}
