import { hash } from 'node:crypto';

/** The digest of a text in fingerprints: 160 bits. */
export function hashText(text: string): string {
  return hash('sha256', text).slice(0, 40);
}
