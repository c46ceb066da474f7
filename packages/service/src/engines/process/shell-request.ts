import { shellQuote as quote, shellWords as words } from '../shell-quote.ts';
import type { LaunchRequest } from './launcher.ts';

/** The request file described in `container.sh`: everything that is specific to one container, quoted. */
export function renderShellRequest(
  request: LaunchRequest,
  options: { script: string; maskedPaths: readonly string[]; isolated: boolean },
): string {
  const name = request.argv[0] ?? '';
  const path = request.env.find((entry) => entry.startsWith('PATH=')) ?? 'PATH=/usr/local/bin:/usr/bin:/bin';
  const lines = [
    `id=${quote(request.id)}`,
    `directory=${quote(request.directory)}`,
    `log=${quote(request.logPath)}`,
    `cwd=${quote(request.workingDirectory)}`,
    `memory_kb=${Math.floor(request.memoryBytes / 1024)}`,
    `masks=${quote(options.maskedPaths.join('\n'))}`,
    `isolated=${options.isolated ? '1' : ''}`,
    `name=${quote(name)}`,
    'volumes() {',
    ...request.mounts.map(
      ({ root, subPath, kind, target, readOnly, isLate }) =>
        `  volume ${words([root, subPath, kind, target, readOnly === true ? 'ro' : 'rw', isLate ? '1' : '0'])}`,
    ),
    '  :',
    '}',
    'targets() {',
    ...request.mounts.filter(({ isLate }) => !isLate).map(({ kind, target }) => `  target ${kind} ${quote(target)}`),
    '  :',
    '}',
    `search() { printf %s ${quote(`${quote(path).replace(/^'PATH=/, "PATH='")}; command -v -- ${quote(name)}`)}; }`,
    `run() { exec env -i ${words(request.env)} "$@" ${words(request.argv)}; }`,
    `. ${quote(options.script)}`,
  ];
  return `${lines.join('\n')}\n`;
}
