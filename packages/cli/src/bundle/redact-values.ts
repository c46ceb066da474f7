import { isSensitiveName } from './sensitive-name.ts';

const SHOWN = '[secret]';
/** Only names the secret. */
const REFERENCE = /^\$\{\{ *secrets\.\w+ *\}\}$/;
/** The user and the password in an address. */
const USER_INFO = /(?<=:\/\/)[^\s/?#@"']+@/g;

/** Removes secrets from the files of a bundle. */
export interface BundleRedactor {
  text(text: string): string;
  /** All strings of a JSON value, in any spelling; what has the name of a credential is removed as a whole. */
  data(data: unknown): unknown;
}

/** `secrets` are the values to remove. */
export function createBundleRedactor(secrets: Iterable<string>): BundleRedactor {
  // The longest first, so that a secret which contains another is removed as a whole.
  const forms = [...new Set([...secrets].flatMap(listForms))].sort((a, b) => b.length - a.length);

  function text(whole: string): string {
    const shown = forms.reduce((rest, form) => rest.replaceAll(form, SHOWN), whole);
    return shown.replaceAll(USER_INFO, `${SHOWN}@`);
  }

  function walk(value: unknown): unknown {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return forms.includes(String(value)) ? SHOWN : value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), redactItem(key, item)]));
  }

  function redactItem(key: string, item: unknown): unknown {
    const isScalar = typeof item === 'string' || typeof item === 'number';
    if (!isScalar || !isSensitiveName(key) || REFERENCE.test(String(item))) return walk(item);
    return SHOWN;
  }

  return { text, data: walk };
}

/** A value as texts contain it: as it is, in JSON, in a URL, in Base64, on one line, and each of several lines. */
function listForms(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).filter(({ length }) => length >= 8);
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(Buffer.from(value).toString()),
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    value.replace(/\s+/g, ' ').trim(),
    ...lines,
  ].filter(({ length }) => length > 0);
}
