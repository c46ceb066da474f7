import { createCipheriv, createDecipheriv, type DecipherGCM, randomBytes } from 'node:crypto';
import { z } from 'zod';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const secretsSchema = z.record(z.string(), z.string());

/** The values of the secrets of a run, by name. */
export type RunSecrets = Readonly<Record<string, string>>;

/** Encrypts secrets. `context` names the run: the result cannot be decrypted as that of another. */
export function sealSecrets(secrets: RunSecrets, { key, context }: { key: Uint8Array; context: string }): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

function decrypt(decipher: DecipherGCM, sealed: Uint8Array): string {
  try {
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString();
  } catch {
    throw new Error('they were encrypted with another key or for another run, or were changed');
  }
}

/** Decrypts secrets. Throws if the key or the context is another, or the bytes were changed. */
export function openSecrets(sealed: Uint8Array, { key, context }: { key: Uint8Array; context: string }): RunSecrets {
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), options)
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return secretsSchema.parse(JSON.parse(decrypt(decipher, sealed.subarray(IV_BYTES + TAG_BYTES))));
}
