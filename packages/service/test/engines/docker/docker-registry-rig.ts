import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** `robot` with `right-secret`, as `htpasswd -nB` writes it. */
const HTPASSWD = 'robot:$2b$04$lhESGcvnJH6SEiSU1YWOOunICQShkviCtt3mcthxr0xnILRJBK5iK\n';

/** A registry on loopback that wants that login; keeps its data in `directory`. */
export async function startRegistry(directory: string, address: string): Promise<ChildProcess> {
  await writeFile(join(directory, 'htpasswd'), HTPASSWD);
  await writeFile(
    join(directory, 'registry.yml'),
    `version: 0.1
storage: { filesystem: { rootdirectory: ${directory}/data } }
http: { addr: ${address} }
auth: { htpasswd: { realm: test, path: ${directory}/htpasswd } }
`,
  );
  const server = spawn('docker-registry', ['serve', join(directory, 'registry.yml')], { stdio: 'ignore' });
  for (let tries = 0; tries < 200; tries++) {
    const status = await fetch(`http://${address}/v2/`).then(
      (reply) => reply.status,
      () => 0,
    );
    if (status === 401) return server;
    await pause(50);
  }
  throw new Error('could not see the registry answer within 10 s');
}

/** A port that nobody listened on just now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
