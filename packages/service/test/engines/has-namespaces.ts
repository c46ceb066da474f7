import { spawnSync } from 'node:child_process';

const isRoot = process.getuid?.() === 0;

/** Where they are forbidden (a default Docker container), what needs them is skipped. */
export const hasNamespaces =
  spawnSync('unshare', [...(isRoot ? [] : ['--map-root-user']), '--mount', 'true']).status === 0;
