import { readFileSync } from 'node:fs';
import { isSystemError, replaceFileSync } from '@sluice/host-system';
import { z } from 'zod';
import { DavError } from './dav-rejection.ts';
import { isBeneath } from './lock-table.ts';

const MAX_BYTES = 4 * 1024 * 1024;

const propertySchema = z.object({ namespace: z.string(), local: z.string(), xml: z.string() });
const fileSchema = z.object({ version: z.literal(1), properties: z.record(z.string(), z.array(propertySchema)) });

/** A dead property: an element of the client, stored unchanged. */
export type DeadProperty = z.infer<typeof propertySchema>;

/**
 * The dead properties of one volume, in a file outside it, so that containers can neither read nor change them. They follow
 * files that are moved, copied or deleted over WebDAV; files that are renamed otherwise lose them.
 */
export interface PropertyStore {
  of(path: string): readonly DeadProperty[];
  /** Replaces all properties of `path`, durably. Throws `DavError` 507 beyond the limit of the volume. */
  set(path: string, properties: readonly DeadProperty[]): void;
  copy(from: string, to: string, options: { members: boolean }): void;
  move(from: string, to: string): void;
  forget(path: string): void;
}

/** A key for a property's name. */
export function nameKey({ namespace, local }: Pick<DeadProperty, 'namespace' | 'local'>): string {
  return `${local} ${namespace}`;
}

/** Reads the file, which need not exist. Throws if it is invalid. */
export function openPropertyStore(filePath: string): PropertyStore {
  let properties = readProperties(filePath);

  const save = (next: Map<string, readonly DeadProperty[]>) => {
    const text = JSON.stringify({ version: 1, properties: Object.fromEntries(next) });
    if (text.length > MAX_BYTES && next.size >= properties.size) {
      throw new DavError(507, `the properties of the volume would take more than ${MAX_BYTES} bytes`);
    }
    replaceFileSync(filePath, text);
    properties = next;
  };
  const covered = (path: string) =>
    properties.size === 0 ? [] : [...properties.keys()].filter((key) => key === path || isBeneath(key, path));
  const without = (...paths: string[]) => {
    const gone = new Set(paths.flatMap(covered));
    return new Map([...properties].filter(([key]) => !gone.has(key)));
  };

  return {
    of: (path) => properties.get(path) ?? [],
    set(path, values) {
      const next = new Map(properties);
      if (values.length === 0) next.delete(path);
      else next.set(path, values);
      save(next);
    },
    copy(from, to, { members }) {
      const moved = covered(from).filter((key) => members || key === from);
      if (moved.length === 0 && covered(to).length === 0) return;
      const next = without(to);
      for (const key of moved) next.set(to + key.slice(from.length), properties.get(key) ?? []);
      save(next);
    },
    move(from, to) {
      const moved = covered(from);
      if (moved.length === 0 && covered(to).length === 0) return;
      const next = without(from, to);
      for (const key of moved) next.set(to + key.slice(from.length), properties.get(key) ?? []);
      save(next);
    },
    forget(path) {
      if (covered(path).length > 0) save(without(path));
    },
  };
}

function readProperties(filePath: string): Map<string, readonly DeadProperty[]> {
  let text: string;
  try {
    text = readFileSync(filePath, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return new Map();
    throw error;
  }
  return new Map(Object.entries(fileSchema.parse(JSON.parse(text)).properties));
}
