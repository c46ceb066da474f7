import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { findLines } from './read-tree.mjs';

const REGISTRY = /\bhttps?:\/\/(registry|npm|mirror|packages?|artifactory|nexus|verdaccio)[.-][a-z0-9.-]+/i;
const TARBALL = /^\s+tarball:|resolution: \{.*tarball/;

/** Nothing names a package registry, this machine, or the place of this checkout. */
export function check({ root, files }) {
  const here = resolve(root);
  const local = [
    // A short name such as "build" would be found everywhere.
    ...(hostname().length >= 8 ? [hostname()] : []),
    ...(here.split('/').length > 2 ? [`${here}/`] : []),
  ];
  return files.flatMap((file) => [
    ...findLines(file, REGISTRY, 'names a package registry'),
    ...(file.path === 'pnpm-lock.yaml' ? findLines(file, TARBALL, 'names where a package was loaded from') : []),
    ...local.flatMap((name) =>
      findLines(file, { test: (line) => line.includes(name) }, `names "${name}", which is only here`),
    ),
  ]);
}
