/** The type of the values of a column of a table; a column without one contains strings. */
export type ColumnType = 'string' | 'integer' | 'number' | 'boolean';

/** All of them. */
export const COLUMN_TYPES = ['string', 'integer', 'number', 'boolean'] as const satisfies readonly ColumnType[];

/** The declared types of columns, by name. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** A row of a table with the columns of `C`. */
export type TableRow<C> = {
  readonly [K in keyof C]: C[K] extends 'integer' | 'number' ? number : C[K] extends 'boolean' ? boolean : string;
};
