/** How a time in milliseconds is written in an address. `parse` returns NaN for another text. */
export interface TimeFormat {
  readonly parse: (text: string) => number;
  readonly render: (at: number) => string;
}

/** A point in time, for example `2026-01-31T12:00:00.000Z`. */
export const POINT_IN_TIME: TimeFormat = {
  parse: (text) => Date.parse(text),
  render: (at) => new Date(at).toISOString(),
};

/** The time since a start, in seconds, for example `2.5`. */
export const SECONDS: TimeFormat = {
  parse: (text) => (/^\d{1,9}(\.\d+)?$/.test(text) ? Math.round(Number(text) * 1_000) : Number.NaN),
  render: (at) => String(Math.round(at) / 1_000),
};
