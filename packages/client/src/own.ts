/** The value that a record itself has under a name: `constructor` and its kind are on the prototype of every plain object. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
