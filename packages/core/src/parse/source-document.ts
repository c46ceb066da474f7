import type { SourceRange } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';

/** Keys and list indexes from the document's root. */
export type Path = readonly (string | number)[];

export interface Spot {
  readonly path: Path;
  /** The key itself instead of its value. */
  readonly on?: 'key';
  /** A piece of the text at `path`, as it stands in the file. */
  readonly within?: { readonly text: string; readonly start: number; readonly end: number };
}

/** A file that was read, and where each of its values stands. */
export interface SourceDocument {
  readonly file: string;
  readonly text: string;
  readonly value: Json;
  /** The nearest place that exists: if the path continues beyond a short form, the short form. */
  readonly locate: (spot: Spot) => SourceRange | undefined;
}
