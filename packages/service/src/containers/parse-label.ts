/** The JSON value of a label; undefined if it is not JSON, which no schema accepts. */
export function parseLabel(label: string): unknown {
  try {
    return JSON.parse(label);
  } catch {
    return undefined;
  }
}
