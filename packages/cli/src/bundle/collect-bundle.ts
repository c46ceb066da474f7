import { join } from 'node:path';
import type { JsonValue } from '../json/json-values.ts';
import { collectSecrets } from './collect-secrets.ts';
import type { ArchiveFile } from './pack-tar.ts';
import { readRegularFile } from './read-regular-file.ts';
import { createBundleRedactor } from './redact-values.ts';

const MIB = 1 << 20;
/** Larger ones are left out: a part of a document cannot be read. */
const MOST_DOCUMENT = 8 * MIB;
/** Of a journal, its end; of a log, less. All together have less than 50 MiB. */
const MOST_JOURNAL = 12 * MIB;
const MOST_LOG = MIB;

/** What a bundle is made of. */
export interface BundleSources {
  readonly env: NodeJS.ProcessEnv;
  /** Undefined: the home may not be read, for `homeProblem`. */
  readonly home: string | undefined;
  readonly homeProblem: string | undefined;
  readonly runDirectory: string | undefined;
  readonly runProblem: string | undefined;
  /** Described by this process: versions, the doctor's findings, the profile. By name, without `.json`. */
  readonly described: Readonly<Record<string, unknown>>;
  readonly credentialFiles: readonly string[];
}

/** The files of a bundle, and what it does not contain. */
export interface Bundle {
  readonly files: readonly ArchiveFile[];
  readonly leftOut: JsonValue<'bundle'>['leftOut'];
}

interface Part {
  readonly name: string;
  readonly path: string;
  readonly type: 'document' | 'journal' | 'log';
}

const NEVER = [
  { name: 'secrets, credentials and tokens', reason: 'they are secret' },
  { name: 'outputs, volumes and logs of steps', reason: 'they are data of the pipeline' },
];

/** Reads the files of a bundle and removes the secrets from them. */
export function collectBundle(sources: BundleSources): Bundle {
  const leftOut = [...NEVER];
  const texts: { readonly part: Part; readonly text: string }[] = [];
  for (const part of listParts(sources)) {
    const text = readPart(part);
    if (typeof text === 'string') texts.push({ part, text });
    else leftOut.push({ name: part.name, reason: text.reason });
  }
  if (sources.homeProblem !== undefined) leftOut.push({ name: 'the home', reason: sources.homeProblem });
  if (sources.runProblem !== undefined) leftOut.push({ name: 'a run', reason: sources.runProblem });
  const documents = texts.flatMap(({ part, text }) => (part.type === 'document' ? [parseOrText(text)] : []));
  const { env, home, credentialFiles } = sources;
  const redactor = createBundleRedactor(collectSecrets({ env, home, files: credentialFiles, values: documents }));
  const described = Object.entries(sources.described).map(([name, value]) => ({
    name: `${name}.json`,
    bytes: Buffer.from(`${JSON.stringify(redactor.data(value), null, 2)}\n`),
  }));
  const read = texts.map(({ part: { name, type }, text }) => {
    if (type === 'document') return { name, bytes: Buffer.from(`${redactDocument(text)}\n`) };
    return { name, bytes: Buffer.from(text.split('\n').map(redactDocument).join('\n')) };
  });
  return { files: [...described, ...read], leftOut };

  /** JSON by its strings, so that no spelling of a secret is missed; other text as it is. */
  function redactDocument(text: string): string {
    const value = parseOrText(text);
    return typeof value === 'string' ? redactor.text(text) : JSON.stringify(redactor.data(value));
  }
}

function listParts({ home, runDirectory }: BundleSources): readonly Part[] {
  if (home === undefined) return [];
  const documents = ['plan', 'report', 'summary', 'custody'];
  return [
    ...(runDirectory === undefined
      ? []
      : [
          ...documents.map((name) => ({
            name: `run/${name}.json`,
            path: join(runDirectory, `${name}.json`),
            type: 'document' as const,
          })),
          { name: 'run/journal.ndjson', path: join(runDirectory, 'journal.ndjson'), type: 'journal' as const },
        ]),
    { name: 'host.log', path: join(home, 'host', 'host.log'), type: 'log' },
  ];
}

function readPart({ path, type }: Part): string | { readonly reason: string } {
  const most = { document: MOST_DOCUMENT, journal: MOST_JOURNAL, log: MOST_LOG }[type];
  const read = readRegularFile(path, most + 1);
  if (!read.ok) return { reason: read.error };
  if (read.value.length <= most) return read.value.toString('utf8');
  if (type === 'document') return { reason: `it has more than ${most / MIB} MiB` };
  const text = read.value.toString('utf8');
  return `(only the last ${most / MIB} MiB)\n${text.slice(text.indexOf('\n') + 1)}`;
}

/** A number or a word alone is text, too: a secret may look like one. */
function parseOrText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}
