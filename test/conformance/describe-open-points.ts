import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import {
  ENDS,
  findVolume,
  freshId,
  items,
  makeVolume,
  NORTH,
  type Rig,
  reach,
  SOUTH,
  start,
} from './conformance-rig.ts';

/** The order in which a container may meet its phases; each at most once. */
const ORDER = ['Creating', 'Pending', 'Running', 'Exiting', 'Canceling'];

/** What the document leaves open, as `docs/protocol.md` says that this service decides it. */
export function describeOpenPoints(rig: Rig): void {
  describe('what the document leaves open', () => {
    clause(['Container > #2'], 'image and command may be left out where the engine needs none', async () => {
      const create = (body: object) =>
        rig().call('POST', `${NORTH}/containers`, { body: { instanceType: 'n-small', ...body } });
      const withoutImage = await create({ command: ['true'] });
      expect(withoutImage.status).toBe(200);
      expect(withoutImage.json()).not.toHaveProperty('image');
      for (const [body, why] of [
        [{}, /command/],
        [{ command: ['true'], image: 'alpine' }, /image/],
      ] as const) {
        const answer = await create(body);
        const ended =
          answer.status === 200 ? await reach(rig(), `${NORTH}/containers/${answer.json().id}`, ...ENDS) : {};
        expect([400, 200]).toContain(answer.status);
        if (answer.status === 200) expect(ended).toMatchObject({ phase: 'Failed', state: expect.stringMatching(why) });
        else expect(answer.json()).toMatchObject({ message: expect.stringMatching(why) });
      }
    });

    clause(['Container > #4'], 'runID and nodeID are text, there from Running on and never changed', async () => {
      const { path, created } = await start(rig(), 'sleep 0.2');
      expect(created).not.toHaveProperty('runID');
      const running = await reach(rig(), path, 'Running', ...ENDS);
      const ended = await reach(rig(), path, ...ENDS);
      for (const field of ['runID', 'nodeID']) {
        expect(running[field]).toMatch(/./);
        expect(ended[field]).toBe(running[field]);
      }
    });

    clause(['Container phases > #3'], 'no phase is met out of order, entered again or left once terminal', async () => {
      const many = await Promise.all(
        Array.from({ length: 12 }, (_, i) => start(rig(), i % 2 === 0 ? 'true' : 'sleep 100')),
      );
      await Promise.all(
        many.map(async ({ path }, i) => {
          const seen = ['Creating'];
          for (let look = 0; !ENDS.includes(seen.at(-1)!); look++) {
            if (i % 2 === 1 && look === i) expect((await rig().call('POST', `${path}:cancel`)).status).toBe(204);
            const phase = String((await rig().call('GET', path)).json().phase);
            if (phase !== seen.at(-1)) seen.push(phase);
          }
          const places = seen.slice(0, -1).map((phase) => ORDER.indexOf(phase));
          expect(places, seen.join(' → ')).toEqual([...new Set(places)].sort((a, b) => a - b));
          expect(seen.at(-1)).toBe(i % 2 === 0 ? 'Succeeded' : 'Canceled');
          expect((await rig().call('GET', path)).json().phase).toBe(seen.at(-1));
        }),
      );
    });

    clause(['Volume phases > #1'], 'a volume is Available after an undelete, with what was in it', async () => {
      const { id, path } = await makeVolume(rig());
      const write = await start(rig(), 'echo kept > /v/f', { volumeMounts: { [id]: '/v' } });
      await reach(rig(), write.path, 'Succeeded');
      expect((await rig().call('DELETE', path)).status).toBe(204);
      expect((await rig().call('POST', `${path}:undelete`)).status).toBe(204);
      expect(await findVolume(rig(), id)).toMatchObject({ phase: 'Available' });
      const read = await start(rig(), 'cat /v/f', { volumeMounts: { [id]: '/v' } });
      await reach(rig(), read.path, 'Succeeded');
      expect((await rig().call('GET', `${read.path}/logs`)).text).toBe('kept\n');
    });

    clause(
      ['Volume phases > Failed'],
      'a volume that cannot be made is a failed call, and nothing is listed or in the way of the next try',
      async () => {
        const volumes = join(rig().root, 'clusters/south/volumes/lab');
        await makeVolume(rig(), { account: SOUTH });
        renameSync(volumes, `${volumes}-away`);
        writeFileSync(volumes, 'no directory');
        const id = freshId('v');
        const create = () => rig().call('POST', `${SOUTH}/volumes`, { query: { volumeID: id }, body: {} });
        const answer = await create();
        expect([answer.status, answer.json().code]).toEqual([500, 500]);
        expect(answer.text).not.toContain(rig().root);
        expect(await findVolume(rig(), id, SOUTH)).toBeUndefined();
        renameSync(`${volumes}-away`, `${volumes}-back`);
        renameSync(volumes, `${volumes}-file`);
        renameSync(`${volumes}-back`, volumes);
        expect((await create()).status).toBe(200);
      },
    );

    clause(['Events > #1'], 'changes are learned of by asking, and by nothing else', async () => {
      const { id, path } = await start(rig(), 'sleep 0.1');
      await reach(rig(), path, 'Succeeded');
      const listed = (await items(rig(), `${NORTH}/containers`, 'containers', { all: true })).find(
        (it) => it.id === id,
      );
      expect(listed).toMatchObject({ phase: 'Succeeded' });
      for (const name of ['events', 'watch', 'webhooks', 'notifications']) {
        expect((await rig().call('GET', `${NORTH}/${name}`)).status).toBe(404);
      }
    });

    clause(['What the service does > #6'], 'the operations are those of the document, and our extension', async () => {
      const document = (await rig().call('GET', '/openapi.json', { token: null })).json();
      const operations = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>)
        .flatMap((methods) => Object.values(methods))
        .map(({ operationId }) => operationId);
      expect(operations.toSorted()).toEqual([
        ...['cancelContainer', 'createContainer', 'createVolume', 'deleteContainer', 'deleteVolume', 'getContainer'],
        ...[
          'listAccounts',
          'listContainers',
          'listInstanceTypes',
          'listVolumes',
          'login',
          'readLogs',
          'resolveImage',
          'undeleteVolume',
        ],
      ]);
    });
  });
}
