/** Local date and time with milliseconds, sortable. */
export function renderTimestamp(milliseconds: number): string {
  const local = new Date(milliseconds - new Date(milliseconds).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 23).replace('T', ' ');
}
