import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EngineRig } from './engine-rig.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

const TASKS = { job: { tasks: { nodes: 2, perNode: 2 } }, limits: { cores: 4, memoryBytes: 512 * 2 ** 20 } };

/** Containers whose command is started several times. */
export function describeTasks(rig: EngineRig, subject: EngineUnderTest): void {
  describe('several tasks', () => {
    const linesOf = (text: string) => text.split('\n').filter(Boolean).sort();

    test('are started once each, with their ranks', async () => {
      const root = await rig.makeDirectory('ranks');
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
      const script = `echo "$RANK" >>/v/starts
echo "$SLUICE_NODE_RANK.$LOCAL_RANK of $SLUICE_NODES.$SLUICE_TASKS_PER_NODE, $WORLD_SIZE, $LOCAL_WORLD_SIZE, $GIVEN"
echo "\${MASTER_ADDR:+address} $([ "$MASTER_PORT" -gt 1023 ] && echo port) \${SLUICE_HOSTS:+hosts}" >&2
[ -z "$SLUICE_HOSTFILE" ] || { echo "$(tr '\\n' , <"$SLUICE_HOSTFILE")" | sed "s/^\\(.*\\),\\1,\\(.*\\),\\2,$/\\1,\\2/" | grep -qxF "$SLUICE_HOSTS" && echo 'host file'; }
printf 'no end of line'`;
      const given = "a 'b' @task-RANK@ & $HOME\r\n|";
      const env = { RANK: 'mine', GIVEN: given };
      const container = await rig.run(script, { ...TASKS, mounts, env });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const expected = [0, 1, 2, 3].flatMap((rank) => [
        `${rank}: ${Math.floor(rank / 2)}.${rank % 2} of 2.2, 4, 2, a 'b' @task-RANK@ & $HOME\r`,
        `${rank}: |`,
        `${rank}: address port hosts`,
        ...(subject.image === undefined ? [`${rank}: host file`] : []),
        `${rank}: no end of line`,
      ]);
      expect(linesOf(await container.text())).toEqual(expected.sort());
      expect(await rig.run('sort /v/starts', { mounts }).then(async (one) => (await one.end()) && one.text())).toBe(
        '0\n1\n2\n3\n',
      );
    });

    test.skipIf(subject.separatesTasks)('share the memory of their node', async () => {
      // On the process engine, the nodes are one machine, and without namespaces /dev/shm is that of the machine.
      const shared = join('/dev/shm', `sluice-test-${randomUUID()}`);
      onTestFinished(() => rm(shared, { recursive: true, force: true }));
      const script = `mkdir -p ${shared}
cd ${shared}
me="$SLUICE_NODE_RANK-$LOCAL_RANK"
echo "$LOCAL_RANK" >".$me"
mv ".$me" "$me"
until [ -e "$SLUICE_NODE_RANK-0" ] && [ -e "$SLUICE_NODE_RANK-1" ]; do sleep 0.05; done
cat "$SLUICE_NODE_RANK"-*`;
      const container = await rig.run(script, TASKS);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(linesOf(await container.text())).toEqual([0, 1, 2, 3].flatMap((rank) => [`${rank}: 0`, `${rank}: 1`]));
    });

    test('all end with the first that fails, and with its code', async () => {
      const container = await rig.run('[ "$RANK" != 2 ] || exit 3; sleep 600', TASKS);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
    });

    test('succeed only together', async () => {
      const container = await rig.run('[ "$RANK" = 0 ] || sleep 1; echo "$RANK" over', TASKS);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(linesOf(await container.text())).toEqual(['0: 0 over', '1: 1 over', '2: 2 over', '3: 3 over']);
    });

    test('have the grace to clean up after a stop', async () => {
      const script = 'trap "echo cleaned; exit 0" TERM; echo ready; while :; do sleep 0.05; done';
      const container = await rig.launch({ command: ['sh', '-c', script], ...TASKS });
      for (const rank of [0, 1, 2, 3]) await rig.untilLog(container, `${rank}: ready`);
      await rig.engine.stop(container.launch.key, { graceMs: 60_000 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      const cleaned = linesOf(await container.text()).filter((line) => line.endsWith('cleaned'));
      expect(cleaned).toEqual(['0: cleaned', '1: cleaned', '2: cleaned', '3: cleaned']);
    });

    test('are killed with their children if they ignore a stop', async () => {
      const root = await rig.makeDirectory('ignoring');
      const alive = await rig.makeFifo('ignoring/alive');
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
      const script = 'trap "" TERM; exec 9>/v/alive; echo ready; while :; do sleep 1; done';
      const container = await rig.launch({ command: ['sh', '-c', script], ...TASKS, mounts });
      for (const rank of [0, 1, 2, 3]) await rig.untilLog(container, `${rank}: ready`);
      await rig.engine.stop(container.launch.key, { graceMs: 300 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      await alive.closed;
    });
  });
}
