import type { Json } from './json.ts';

/**
 * Text that may contain `${{ … }}` expressions; checked when the file is read, evaluated when a step is about to start.
 */
export type Template = string;

/** A value whose strings may be templates; a string that is one whole expression keeps that expression's type. */
export type JsonTemplate = Json;
