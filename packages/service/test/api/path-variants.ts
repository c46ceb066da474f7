import { request } from 'node:http';

/** Other forms of a path, by what they are called. Those of an absolute form contain another host. */
export const VARIANTS: Readonly<Record<string, (path: string) => string>> = {
  'as it is': (path) => path,
  'two slashes at the beginning': (path) => `/${path}`,
  'repeated slashes': (path) => path.replaceAll('/', '///'),
  'a slash at the end': (path) => `${path}/`,
  'two slashes at the end': (path) => `${path}//`,
  'an absolute form': (path) => `http://example.org${path}`,
  'an absolute form with repeated slashes': (path) => `HTTP://example.org/${path}//`,
  'a dot': (path) => `/.${path}`,
  'a dot at the end': (path) => `${path}/.`,
  'two dots': (path) => `/healthz/..${path}`,
  'two dots from a public path': (path) => `/user/api/login/../../..${path}`,
  'two dots from a page': (path) => `/ui/login/../..${path}`,
  'two dots in an absolute form': (path) => `http://example.org/healthz/..${path}`,
  'an encoded slash': (path) => path.replace(/(?<=.)\//, '%2f'),
  'all slashes encoded': (path) => path.replace(/(?<=.)\//g, '%2F'),
  'an encoded slash at the beginning': (path) => `/%2f${path.slice(1)}`,
  'an encoded slash at the end': (path) => `${path}%2f`,
  'encoded dots': (path) => `/healthz/%2e%2e${path}`,
  'a backslash': (path) => path.replace(/(?<=.)\//, '\\'),
  'a parameter': (path) => `${path};x`,
};

/** Those that mean the same path. */
export const SAME: ReadonlySet<string> = new Set(Object.keys(VARIANTS).slice(0, 7));

/** Sends a request to the origin `url` with the target as it is, which `fetch` does not. */
export function sendTarget(
  url: string,
  { method, target, headers = {} }: { method: string; target: string; headers?: Record<string, string> },
): Promise<{ status: number; text: string; location?: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, method, path: target, headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      reply.on('end', () => {
        const { location } = reply.headers;
        resolve({ status: reply.statusCode ?? 0, text, ...(location !== undefined && { location }) });
      });
    });
    sent.on('error', reject).end();
  });
}
