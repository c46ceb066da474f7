import { once } from 'node:events';
import { request } from 'node:http';
import type { VolumeService } from '@sluice/client';
import { Client } from 'ssh2';
import { expect, onTestFinished, test } from 'vitest';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

test.each([{ force: false }, { force: true }])(
  'a volume’s deletion cuts its WebDAV and SFTP sessions at once: %j',
  async (how) => {
    const rig = await openRig({ config: { sftp: { host: '127.0.0.1', port: 0 } } });
    onTestFinished(() => rig.close());
    const { port } = await rig.service.listen({ host: '127.0.0.1', port: 0 });
    const service = rig.service.inProcess(PRINCIPAL);
    const volumes = await Promise.all([0, 1].map(() => service.volumes.create(SCOPE, { transfer: true })));
    const sessions = await Promise.all(volumes.map(({ id, service: login }) => openSessions(port!, id, login!)));
    await service.volumes.delete({ ...SCOPE, id: volumes[0]!.id }, how);
    await Promise.all(sessions[0]!.ended);
    // The other volume's go on.
    const [upload, sftp] = sessions[1]!.ended.map((one) =>
      Promise.race([one.then(() => 'cut'), Promise.resolve('open')]),
    );
    expect([await upload, await sftp]).toEqual(['open', 'open']);
    sessions[1]!.close();
  },
);

/** An upload that has begun and a login over SFTP; `ended` resolve when the server cuts them. */
async function openSessions(port: number, id: string, login: VolumeService) {
  const { username, password } = login;
  const path = `/dav/${SCOPE.clusterID}/${SCOPE.accountID}/${id}/file`;
  const upload = request({ port, host: '127.0.0.1', path, method: 'PUT', auth: `${username}:${password}` });
  upload.on('error', () => {});
  upload.write('begun');
  const ssh = new Client();
  ssh.on('error', () => {});
  // Unlike `once`, content with errors on the way: what is cut has some.
  const ended = [upload, ssh].map((one) => new Promise<void>((resolve) => one.once('close', () => resolve())));
  ssh.connect({ host: '127.0.0.1', port: Number(login.address.sftp?.split(':')[1]), username, password });
  await once(ssh, 'ready');
  return {
    ended,
    close() {
      upload.destroy();
      ssh.end();
    },
  };
}
