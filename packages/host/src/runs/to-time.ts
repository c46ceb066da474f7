/** Milliseconds since the Unix epoch as RFC 3339 in UTC. */
export function toTime(at: number): string {
  return new Date(at).toISOString();
}

/** The value under its key; nothing if it is undefined. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
