import type { Doubles } from '../expressions/doubles.ts';
import type { Columns } from '../tables/column-type.ts';
import type { Json } from './json.ts';
import type { JsonType } from './json-type.ts';

/** A declared parameter; its value may still be missing. */
export interface Param {
  readonly type: JsonType;
  readonly default?: Json;
  /** Whole numbers in the default and in the allowed values that the file writes as doubles, such as `1.0`. */
  readonly doubles?: Doubles;
  /** The allowed values. */
  readonly enum?: readonly Json[];
  /** Of a list of maps, such as the rows of a table: columns that each of them has, with their types. */
  readonly columns?: Columns;
  /** A regular expression in RE2 syntax that text must match. */
  readonly pattern?: string;
  /** Inclusive, as is `maximum`. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** True if there is no default. */
  readonly required: boolean;
  readonly description?: string;
}

/** The value of a parameter of a used file. It contains no expressions. */
export interface BoundValue {
  readonly value: Json;
  /** The numbers that are doubles. */
  readonly doubles?: Doubles;
}
