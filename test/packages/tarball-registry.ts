import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

/** A registry with only packages of the scope `@sluice`, as the public one has them after a release. */
export interface TarballRegistry {
  readonly url: string;
  close(): void;
}

/** Serves packed packages. Without it, a package manager would look for the dependencies of a tarball in the public registry. */
export async function serveTarballs(tarballs: readonly string[]): Promise<TarballRegistry> {
  const packages = new Map(tarballs.map((path) => [readManifest(path).name, path]));
  const server = createServer((request, response) => {
    const address = decodeURIComponent(request.url ?? '').slice(1);
    const tarball = tarballs.find((path) => address === `tarballs/${basename(path)}`);
    if (tarball !== undefined) return response.end(readFileSync(tarball));
    const path = packages.get(address);
    if (path === undefined) return response.writeHead(404).end('{}');
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(describe(path, `http://${request.headers.host}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the registry has no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

export function readManifest(tarball: string): Manifest {
  const { stdout, status, stderr } = spawnSync('tar', ['xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`could not read ${tarball}: ${stderr}`);
  return JSON.parse(stdout);
}

function describe(tarball: string, origin: string) {
  const manifest = readManifest(tarball);
  const { name, version } = manifest;
  const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  const shasum = createHash('sha1').update(readFileSync(tarball)).digest('hex');
  const dist = { tarball: `${origin}/tarballs/${basename(tarball)}`, integrity, shasum };
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}
