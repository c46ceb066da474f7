import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import { type AttackProgram, buildAttackProgram, listSuccesses, readAttackResults, Victim } from './attacks.ts';

export interface AttackSubject {
  /** Attacks that may succeed here, depending on the kernel, and their evidence; the documentation must name them. */
  readonly tolerated?: Readonly<Record<string, RegExp>>;
  /** Abstract sockets of the host cannot be reached where the kernel has Landlock 6. Default: they can. */
  readonly hidesAbstractSockets?: true;
  /** Words before the victim, to run it as the user that runs the containers. */
  readonly victimPrefix?: readonly string[];
  /** Where the attack program is put, for an engine that mounts only what lies in its storage. Default: the temp directory. */
  readonly programIn?: string;
}

/** Attacks that succeed in a container without a filter of system calls. Of the host they see only its session's keys. */
export const WITHOUT_FILTER: Readonly<Record<string, RegExp>> = {
  'kernel-perf': /opened/,
  'kernel-userfaultfd': /opened/,
  'kernel-io-uring': /made/,
  'kernel-keys-session': /saw/,
  'kernel-keys-user': /added/,
  'kernel-keys-request': /found/,
};

/**
 * What a container must not be able to do to its machine, on the real thing. The rig must be open before the tests run;
 * the attacker is a static program, which the container finds in a read-only mount.
 */
export function describeAttacks(rig: EngineRig, subject: AttackSubject = {}): void {
  describe('attacks from inside a container', () => {
    let program: AttackProgram | undefined;
    beforeAll(() => {
      program = buildAttackProgram(subject.programIn);
    });
    afterAll(() => program?.remove());

    test('are blocked, and the host is unchanged', async (context) => {
      if (program === undefined) return context.skip('no C compiler');
      const victim = await Victim.start(program, subject.victimPrefix);
      const limits = readHostLimits();
      onTestFinished(() => victim.end());
      const container = await rig.run(`/attacks/attack run ${victim.number}`, {
        mounts: [{ root: program.directory, subPath: '', kind: 'dir', target: '/attacks', readOnly: true }],
      });
      const results = readAttackResults(await container.text());
      expect(results.size).toBeGreaterThan(80);
      const mayConnect = subject.hidesAbstractSockets !== true || program.landlock < 6;
      const tolerated = { ...subject.tolerated, ...(mayConnect && { 'network-abstract-socket': /connected/ }) };
      for (const [name, evidence] of Object.entries(tolerated)) {
        const result = results.get(name);
        if (result?.verdict === 'succeeded') expect(result.detail).toMatch(evidence);
        if (result?.verdict !== 'broken') results.delete(name);
      }
      expect(listSuccesses(results)).toEqual([]);
      expect(readHostLimits()).toEqual(limits);
      expect(await victim.examine()).toBe('intact');
    });
  });
}

const settings = ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sys/vm/overcommit_memory'];

/** Settings of the kernel, and the limits at the top of each hierarchy. */
function readHostLimits(): Record<string, string> {
  const files = [...settings];
  const top = '/sys/fs/cgroup';
  for (const hierarchy of existsSync(top) ? readdirSync(top) : []) {
    for (const name of ['memory.limit_in_bytes', 'cpu.cfs_quota_us', 'freezer.state', 'memory.max', 'cpu.max'])
      files.push(join(top, hierarchy, name));
  }
  return Object.fromEntries(files.filter((file) => existsSync(file)).map((file) => [file, readFileSync(file, 'utf8')]));
}
