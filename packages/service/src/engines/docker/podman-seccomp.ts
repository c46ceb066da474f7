import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Places of Podman's default profile, in order of precedence. */
const PLACES = ['/etc/containers/seccomp.json', '/usr/share/containers/seccomp.json'];

/** System calls that Podman allows for containers within containers. */
const REJECTED = [
  ...['unshare', 'setns', 'mount', 'umount', 'umount2', 'pivot_root', 'mount_setattr', 'open_tree', 'move_mount'],
  ...['fsopen', 'fsconfig', 'fsmount', 'fspick', 'keyctl', 'add_key', 'request_key'],
];
/** All flags of `clone` that create namespaces. */
const NAMESPACES = 0x7e020000;
const ENOSYS = 38;
const EPERM = 1;

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
}

interface Profile {
  readonly syscalls: readonly Rule[];
}

let profile: Promise<string | undefined> | undefined;

/**
 * Writes Podman's default seccomp profile into `directory`, without user namespaces and mounts: with them, a container of
 * Podman as root can write the host's cgroups on cgroup v1. Returns its path; undefined if Podman has no profile.
 */
export async function writePodmanProfile(directory: string): Promise<string | undefined> {
  profile ??= readProfile();
  const text = await profile;
  if (text === undefined) return undefined;
  const path = join(directory, 'seccomp.json');
  await writeFile(path, text);
  return path;
}

async function readProfile(): Promise<string | undefined> {
  for (const place of PLACES) {
    const text = await readFile(place, 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.stringify(restrictProfile(JSON.parse(text) as Profile));
  }
  return undefined;
}

/** Makes the profile as strict as Docker's about namespaces, mounts and keys. */
function restrictProfile<T extends Profile>(own: T): T {
  const changed = new Set([...REJECTED, 'clone', 'clone3']);
  const kept = own.syscalls.map((rule) => ({ ...rule, names: rule.names.filter((name) => !changed.has(name)) }));
  const args = [{ index: 0, value: NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }];
  return {
    ...own,
    syscalls: [
      ...kept.filter(({ names }) => names.length > 0),
      { names: REJECTED, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
      { names: ['clone'], action: 'SCMP_ACT_ALLOW', args },
      // A filter cannot read its flags; after ENOSYS the C library uses `clone`.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
}
