import { type ContainerSpec, SECRET_ENVS_LABEL } from '@sluice/client';
import { z } from 'zod';
import { rejectField } from '../protocol/parse-body.ts';
import type { ContainerRow } from '../store/container-row.ts';

/** Encrypts the secret variables of containers with a key that is not in the store. */
export interface EnvSealer {
  /** `context` names the container: the result cannot be decrypted as that of another. Rejects without a usable key. */
  seal(envs: Readonly<Record<string, string>>, context: string): Promise<string>;
  /** Throws if the key or the context is another, or the text was changed. */
  open(sealed: string, context: string): Readonly<Record<string, string>>;
}

const namesSchema = z.array(z.string()).max(1000);

/** Splits the variables of a container whose label names the secret ones. Throws if the label is not valid. */
export function splitSecretEnvs(spec: ContainerSpec): {
  readonly spec: ContainerSpec;
  readonly secret: Readonly<Record<string, string>>;
} {
  const label = spec.labels?.[SECRET_ENVS_LABEL];
  if (label === undefined) return { spec, secret: {} };
  const names = new Set(parseNames(label));
  const all = Object.entries(spec.envs ?? {});
  if (!all.some(([name]) => names.has(name)) && names.size > 0) reject('names no variable of envs');
  return {
    spec: { ...spec, envs: Object.fromEntries(all.filter(([name]) => !names.has(name))) },
    secret: Object.fromEntries(all.filter(([name]) => names.has(name))),
  };
}

/** The container that encrypted variables belong to. */
export function sealContext({
  clusterID,
  accountID,
  id,
}: Pick<ContainerRow, 'clusterID' | 'accountID' | 'id'>): string {
  return `container ${clusterID}/${accountID}/${id}`;
}

/** The secret variables of a container that has not ended; undefined if they cannot be decrypted. */
export function openSecretEnvs(
  row: ContainerRow,
  sealer: EnvSealer | undefined,
): Readonly<Record<string, string>> | undefined {
  if (row.sealedEnvs === undefined) return {};
  try {
    return sealer?.open(row.sealedEnvs, sealContext(row));
  } catch {
    return undefined;
  }
}

function parseNames(label: string): readonly string[] {
  try {
    return namesSchema.parse(JSON.parse(label));
  } catch {
    return reject('is not a JSON array of names');
  }
}

function reject(why: string): never {
  return rejectField(`labels.${SECRET_ENVS_LABEL}`, why);
}
