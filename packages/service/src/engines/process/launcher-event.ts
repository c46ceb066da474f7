import type { LauncherEvent } from './launcher.ts';

/** Parses one line of a launcher's output. Throws for any line that this version's launchers do not write. */
export function parseLauncherEvent(line: string): LauncherEvent {
  const space = line.indexOf(' ');
  const type = space < 0 ? line : line.slice(0, space);
  const rest = space < 0 ? '' : line.slice(space + 1);
  const gap = rest.indexOf(' ');
  const id = gap < 0 ? rest : rest.slice(0, gap);
  const detail = gap < 0 ? '' : rest.slice(gap + 1);
  switch (type) {
    case 'ready':
      return { type, memory: id, cores: detail };
    case 'claimed':
      return { type, id, pid: Number.parseInt(detail, 10) };
    case 'started':
      return { type, id, startedAt: Number(detail) };
    case 'ended':
      return { type, id, record: detail };
    case 'rejected':
    case 'fault':
      return { type, id, reason: detail };
    case 'exists':
    case 'adopted':
    case 'unknown':
    case 'gone':
      return { type, id };
    default:
      throw new Error(`could not read the launcher's line '${line}'`);
  }
}
