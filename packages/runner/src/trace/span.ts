/** A finished part of a run. Times are in milliseconds since the Unix epoch. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startAt: number;
  readonly endAt: number;
  /** Unknown values are undefined. */
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly events: readonly { readonly name: string; readonly at: number }[];
  /** Why it failed; undefined if it has not failed. */
  readonly failure: string | undefined;
}
