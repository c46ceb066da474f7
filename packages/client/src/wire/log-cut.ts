import type { LogCut } from '../container-service.ts';

const HEADER = 'sluice-log-cut';

/** The header of a reply with a log that was cut, of the extension `Sluice-Log-Cut` of the protocol. */
export function renderLogCut({ start, id }: LogCut): Record<string, string> {
  return { [HEADER]: `${start}/${id}` };
}

/** The cut that the headers of a reply with a log name; undefined if they name none. */
export function parseLogCut(headers: Readonly<Record<string, unknown>>): LogCut | undefined {
  const [, start, id] = /^(\d{1,15})\/([\w.-]{1,100})$/.exec(String(headers[HEADER] ?? '')) ?? [];
  return start === undefined || id === undefined ? undefined : { start: Number(start), id };
}
