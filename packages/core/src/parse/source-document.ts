import type { Doubles } from '../expressions/doubles.ts';
import type { SourceRange } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';

/** Keys and list indexes from the document's root. */
export type Path = readonly (string | number)[];

/** A position in a document, before it is converted to line and column. */
export interface Spot {
  readonly path: Path;
  /** The key itself instead of its value. */
  readonly on?: 'key';
  /** A piece of the text at `path`, as the file contains it. */
  readonly within?: { readonly text: string; readonly start: number; readonly end: number };
}

/** A file that was read, with the positions of its values. */
export interface SourceDocument {
  readonly file: string;
  readonly text: string;
  readonly value: Json;
  /** By parameter: the whole numbers in its lists and maps that the text writes as doubles. */
  readonly paramDoubles?: ReadonlyMap<string, Doubles>;
  /** The nearest existing position: if the path continues below a short form, the short form. */
  readonly locate: (spot: Spot) => SourceRange | undefined;
}
