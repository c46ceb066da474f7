import { readFileSync, realpathSync } from 'node:fs';

/** A mounted file system. */
export interface Mount {
  /** As the kernel names it: `ext4`, `nfs4`. */
  readonly type: string;
  /** Whether its file locks exclude only processes of this machine, although other machines see its files. */
  readonly locksAreLocal: boolean;
}

/** The mount that contains an existing path; undefined if it is unknown. */
export function findMount(path: string): Mount | undefined {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(path));
  } catch {
    return undefined;
  }
}

/** As `findMount`, from the contents of `/proc/self/mountinfo`; `path` is absolute and without symbolic links. */
export function parseMounts(text: string, path: string): Mount | undefined {
  let found: { readonly point: string; readonly type: string; readonly options: readonly string[] } | undefined;
  for (const line of text.split('\n')) {
    const [before, after] = line.split(' - ');
    const point = decodeBlanks(before?.split(' ')[4] ?? '');
    const [type, , options = ''] = after?.split(' ') ?? [];
    if (type === undefined || point === '' || !contains(point, path)) continue;
    // Of several mounts at one point, the last hides the others.
    if (found === undefined || point.length >= found.point.length) found = { point, type, options: options.split(',') };
  }
  return found && { type: found.type, locksAreLocal: haveLocalLocks(found) };
}

function haveLocalLocks({ type, options }: { readonly type: string; readonly options: readonly string[] }): boolean {
  if (type === 'nfs' || type === 'nfs4')
    return ['nolock', 'local_lock=flock', 'local_lock=all'].some((option) => options.includes(option));
  // Without `flock` and `localflock`, Lustre rejects locks.
  return type === 'lustre' && options.includes('localflock');
}

function contains(point: string, path: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`);
}

/** The kernel writes blanks and backslashes as `\040`. */
function decodeBlanks(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
