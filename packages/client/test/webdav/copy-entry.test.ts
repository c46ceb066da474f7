import { createWebDavFiles } from '@sluice/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instantClock } from '../rig/instant-clock.ts';
import { type Seen, scriptedServer } from '../rig/scripted-server.ts';

/** A WebDAV server with a tree in memory: paths to contents, directories end with a slash. `copy` answers COPY. */
async function openServer(copy: (seen: Seen, tree: Map<string, string>, number: number) => number | 'lost') {
  const tree = new Map([
    ['in/', ''],
    ['in/a b', 'first'],
    ['in/deep/', ''],
    ['in/deep/c', 'second'],
    ['in/empty/', ''],
  ]);
  let copies = 0;
  const pathOf = (url: string) => decodeURIComponent(new URL(url, 'http://x').pathname).replace(/^\/dav\//, '');
  const server = await scriptedServer((seen, reply) => {
    const path = pathOf(seen.url).replace(/\/$/, '');
    const status = (code: number, body = '') => {
      reply.writeHead(code).end(body);
    };
    const to = pathOf(String(seen.headers.destination ?? ''));
    if (seen.method === 'COPY') {
      copies += 1;
      const outcome = copy(seen, tree, copies);
      if (outcome === 'lost') reply.destroy();
      else status(outcome);
    } else if (seen.method === 'PROPFIND') {
      const body = propfind(tree, { path, depth: seen.headers.depth });
      status(body === undefined ? 404 : 207, body);
    } else if (seen.method === 'PROPPATCH') {
      status(207, '<D:multistatus xmlns:D="DAV:"/>');
    } else if (seen.method === 'MKCOL') {
      status(tree.has(`${path}/`) ? 405 : 201);
      tree.set(`${path}/`, '');
    } else if (seen.method === 'GET') {
      status(200, tree.get(path));
    } else if (seen.method === 'PUT') {
      tree.set(path, seen.body);
      status(201);
    } else {
      const isFound = seen.method === 'DELETE' || copyIn(tree, path, to);
      removeIn(tree, path);
      status(isFound ? 204 : 404);
    }
  });
  onTestFinished(() => server.close());
  const files = createWebDavFiles({ url: `${server.url}/dav`, username: 'u', password: 'p', clock: instantClock() });
  const names = (under: string) => [...tree.keys()].filter((it) => it.startsWith(under)).sort();
  return { server, tree, files, names, destinationOf: (seen: Seen) => pathOf(String(seen.headers.destination)) };
}

function copyIn(tree: Map<string, string>, from: string, to: string): boolean {
  const found = [...tree].filter(([name]) => name === from || name.startsWith(`${from}/`));
  for (const [name, content] of found) tree.set(to + name.slice(from.length), content);
  return found.length > 0;
}

function removeIn(tree: Map<string, string>, path: string): void {
  for (const name of [...tree.keys()]) if (name === path || name.startsWith(`${path}/`)) tree.delete(name);
}

function propfind(tree: Map<string, string>, { path, depth }: { path: string; depth: unknown }): string | undefined {
  const isListed = (name: string) => {
    const rest = name.startsWith(`${path}/`) ? name.slice(path.length + 1).replace(/\/$/, '') : undefined;
    return name === path || rest === '' || (depth === '1' && rest !== undefined && !rest.includes('/'));
  };
  const found = [...tree].filter(([name]) => isListed(name));
  if (found.length === 0) return undefined;
  const entries = found.map(([name, content]) => {
    const type = name.endsWith('/') ? '<D:collection/>' : '';
    const executable = name === 'in/deep/c' ? 'T' : 'F';
    const properties = `<executable xmlns="http://apache.org/dav/props/">${executable}</executable><D:resourcetype>${type}</D:resourcetype><D:getcontentlength>${content.length}</D:getcontentlength>`;
    const found = `<D:propstat><D:prop>${properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>`;
    return `<D:response><D:href>/dav/${encodeURI(name)}</D:href>${found}</D:response>`;
  });
  return `<D:multistatus xmlns:D="DAV:">${entries.join('')}</D:multistatus>`;
}

describe('createWebDavFiles, copy', () => {
  it('asks the server once, and moves what it copied into place', async () => {
    const { server, files, names, destinationOf } = await openServer((seen, tree) => {
      copyIn(tree, 'in', destinationOf(seen));
      return 201;
    });
    await files.copy('in', 'out');
    expect(names('out')).toEqual(['out/', 'out/a b', 'out/deep/', 'out/deep/c', 'out/empty/']);
    const sent = server.seen.filter(({ method }) => method !== 'PROPFIND');
    expect(sent.map(({ method }) => method)).toEqual(['COPY', 'MOVE']);
    expect(sent[0]?.headers).toMatchObject({ depth: 'infinity', overwrite: 'F' });
    expect(names('.sluice-')).toEqual([]);
  });

  it.each([207, 403, 405, 415, 501, 500])('streams every file where the server answers %i', async (status) => {
    const { server, files, tree, names, destinationOf } = await openServer((seen, tree) => {
      // A server that gives up in the middle leaves what it had.
      if (status === 207) tree.set(`${destinationOf(seen)}/`, '').set(`${destinationOf(seen)}/rest`, 'half');
      return status;
    });
    await files.copy('in', 'out');
    expect(names('out')).toEqual(['out/', 'out/a b', 'out/deep/', 'out/deep/c', 'out/empty/']);
    expect(tree.get('out/deep/c')).toBe('second');
    expect(names('.sluice-')).toEqual([]);
    const marked = server.seen.filter(({ method }) => method === 'PROPPATCH');
    expect(marked.map(({ url }) => url)).toEqual([expect.stringMatching(/deep\/\.sluice-\w+\.part$/)]);
    await files.copy('in/a b', 'one');
    expect(tree.get('one')).toBe('first');
  });

  it('copies anew where a reply was lost, since what stands there may be half of it', async () => {
    const { server, files, tree, names, destinationOf } = await openServer((seen, tree, number) => {
      if (number === 1) {
        tree.set(`${destinationOf(seen)}/`, '').set(`${destinationOf(seen)}/a b`, 'fi');
        return 'lost';
      }
      copyIn(tree, 'in', destinationOf(seen));
      return 201;
    });
    await files.copy('in', 'out');
    expect(tree.get('out/a b')).toBe('first');
    expect(names('.sluice-')).toEqual([]);
    const targets = server.seen.filter(({ method }) => method === 'COPY').map(destinationOf);
    expect(new Set(targets).size).toBe(2);
  });

  it('leaves nothing behind where it fails', async () => {
    const { files, names, destinationOf } = await openServer((seen, tree) => {
      tree.set(`${destinationOf(seen)}/`, '');
      return 507;
    });
    await expect(files.copy('in', 'out')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(names('out')).toEqual([]);
    expect(names('.sluice-')).toEqual([]);
  });
});
