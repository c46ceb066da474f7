import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** A file that is served from memory. */
export interface StaticFile {
  readonly bytes: Buffer;
  readonly type: string;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.json', 'application/json'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
]);

const INDEX = '/index.html';

/** Reads all files below a directory, by their path with `/` first. Throws if there is no such directory. */
export function readStaticFiles(directory: string): ReadonlyMap<string, StaticFile> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      const path = `/${relative(directory, file).split(sep).join('/')}`;
      return [path, { bytes: readFileSync(file), type: TYPES.get(extname(name)) ?? 'application/octet-stream' }];
    }),
  );
}

/** Serves the files. The path of a screen leads to it, and every other one that is not below `/api` to the first page. */
export function addStaticFiles(server: FastifyInstance, files: ReadonlyMap<string, StaticFile>): void {
  server.get('/*', async (request, reply) => sendStaticFile(reply, { files, path: decodePath(request.url) }));
}

/** A screen of the dashboard, as it is written after `#`. */
const SCREEN = /^\/(?:runs|schedules|compare)(?:\/(?!\.)[^/]*)*$/;

/** Sends the file at a decoded path, or the first page if the path is none of a file; a screen is found after `#`. */
export function sendStaticFile(
  reply: FastifyReply,
  { files, path }: { readonly files: ReadonlyMap<string, StaticFile>; readonly path: string },
): FastifyReply {
  // Relative, since the browser may see the pages below another path.
  if (SCREEN.test(path))
    return reply.redirect(`${'../'.repeat(path.split('/').length - 2) || './'}#${encodeURI(path)}`, 303);
  const isPage = !path.startsWith('/api/') && extname(path) === '';
  const file = files.get(path) ?? (isPage ? files.get(INDEX) : undefined);
  if (file === undefined) {
    return reply.code(404).send({ code: 404, status: 'NOT_FOUND', message: 'could not find a file at this path' });
  }
  // The names of all other files contain a hash of their content.
  const cache = path.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'no-cache';
  return reply.header('cache-control', cache).type(file.type).send(file.bytes);
}

function decodePath(url: string): string {
  const [path = '/'] = url.split(/[?#]/);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
