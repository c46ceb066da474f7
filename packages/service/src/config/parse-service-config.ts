import { resolve } from 'node:path';
import { describeIssue, own } from '@sluice/client';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import { nearestName } from '../protocol/nearest-name.ts';
import { type ServiceConfig, serviceConfigSchema } from './service-config.ts';

/** A problem in a configuration file. Lines and columns count from 1. */
export interface ConfigProblem {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** The field, as `clusters.0.engine`; empty if the text is not YAML. */
  readonly path: string;
  /** Continues a sentence that begins with the field, if there is one. */
  readonly message: string;
}

/** Top-level fields of the file that belong to other programs, each with its schema. */
export type ConfigSections = Readonly<Record<string, z.ZodType>>;

/** The configuration with its sections, or all problems. */
export type ConfigResult<Sections extends ConfigSections = Record<never, never>> =
  | {
      readonly ok: true;
      readonly value: ServiceConfig;
      readonly sections: { readonly [Name in keyof Sections]: z.output<Sections[Name]> };
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

const MAX_BYTES = 1_000_000;
const MAX_DEPTH = 64;

/**
 * Parses a configuration file. Relative paths are resolved from `directory`, except in `sections`, whose owners resolve
 * them. Reports all problems, in the file's order.
 */
export function parseServiceConfig<Sections extends ConfigSections = Record<never, never>>(
  text: string,
  directory: string,
  sections: Sections = {} as Sections,
): ConfigResult<Sections> {
  const unsafe = unsafeReason(text);
  if (unsafe !== undefined) return { ok: false, problems: [{ line: 1, column: 1, path: '', message: unsafe }] };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => ({ ...at(pos[0]), path: '', message }));
    return { ok: false, problems };
  }
  const content: unknown = withAbsolutePaths(document.toJS({ maxAliasCount: 100 }), directory);
  const ours = isRecord(content)
    ? Object.fromEntries(Object.entries(content).filter(([name]) => !Object.hasOwn(sections, name)))
    : content;
  const result = serviceConfigSchema.safeParse(ours);
  const faults = result.success ? [] : result.error.issues.flatMap((issue) => faultsOf(issue, Object.keys(sections)));
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(sections)) {
    const parsed = schema.safeParse(isRecord(content) ? own(content, name) : undefined);
    if (parsed.success) values[name] = parsed.data;
    else
      for (const { path, message } of parsed.error.issues)
        faults.push({ path: [name, ...path], message: describeIssue(message) });
  }
  if (result.success && faults.length === 0) return { ok: true, value: result.data, sections: values as never };
  const problems = faults.map((fault) => ({
    ...at(offsetOf(document.contents, fault)),
    path: fault.path.join('.'),
    message: fault.message,
  }));
  return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
}

/** Bounds the size and the nesting, because the parser is recursive. */
function unsafeReason(text: string): string | undefined {
  if (Buffer.byteLength(text) > MAX_BYTES) return `the file is larger than ${MAX_BYTES} bytes`;
  let depth = 0;
  for (const c of text) {
    if (c === '[' || c === '{') depth++;
    else if (c === ']' || c === '}') depth = Math.max(0, depth - 1);
    if (depth > MAX_DEPTH) return `the file is nested deeper than ${MAX_DEPTH}`;
  }
  return undefined;
}

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The fault is the field itself, not its value. */
  readonly isUnknown?: boolean;
}

function faultsOf(issue: z.core.$ZodIssue, sections: readonly string[]): Fault[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: describeIssue(issue.message) }];
  return issue.keys.map((key) => {
    const known = knownKeys(issue.path);
    const nearest = nearestName(key, issue.path.length === 0 ? [...known, ...sections] : known);
    const hint = nearest === undefined ? '' : `; the nearest known field is '${nearest}'`;
    return { isUnknown: true, path: [...issue.path, key], message: `the field '${key}' is unknown${hint}` };
  });
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  let node = z.toJSONSchema(serviceConfigSchema, { io: 'input' }) as SchemaNode | undefined;
  for (const part of path) node = typeof part === 'number' ? node?.items : own(node?.properties, String(part));
  return Object.keys(node?.properties ?? {});
}

/** The offset of the value at `path`, or of the key if the field is unknown; of the nearest ancestor if it is absent. */
function offsetOf(contents: unknown, { path, isUnknown }: Fault): number {
  let node = contents as Node | null;
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, part] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (key as { value?: unknown } | null)?.value === part);
      if (pair === undefined) return offset;
      const pointed = depth === path.length - 1 && isUnknown === true ? pair.key : pair.value;
      offset = (pointed as Node | null)?.range?.[0] ?? offset;
      node = pair.value as Node | null;
    } else if (isSeq(node)) {
      node = (node.items[Number(part)] ?? null) as Node | null;
      offset = node?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}

/** Makes the fields with paths absolute. Other types of values stay as they are, for the schema to reject. */
function withAbsolutePaths(value: unknown, directory: string): unknown {
  if (!isRecord(value)) return value;
  const absolute = (record: Record<string, unknown>, ...names: string[]) => {
    const paths = names.filter((name) => typeof own(record, name) === 'string');
    return {
      ...record,
      ...Object.fromEntries(paths.map((name) => [name, resolve(directory, own(record, name) as string)])),
    };
  };
  const config = absolute(value, 'root');
  if (isRecord(config.tls)) config.tls = absolute(config.tls, 'certFile', 'keyFile');
  if (isRecord(config.ports) && isRecord(config.ports.tls)) {
    config.ports = { ...config.ports, tls: absolute(config.ports.tls, 'certFile', 'keyFile') };
  }
  if (isRecord(config.sftp)) config.sftp = absolute(config.sftp, 'hostKeyFile');
  if (Array.isArray(config.clusters)) {
    config.clusters = config.clusters.map((cluster: unknown) =>
      isRecord(cluster) ? absolute(cluster, 'storage') : cluster,
    );
  }
  return config;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
