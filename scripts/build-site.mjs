// Usage: node scripts/build-site.mjs   (after `pnpm build`). Builds the documentation and the API reference as a site in
// site/dist. Fails where a link leads nowhere. The generators are packages of `site`, outside of the workspace: only those
// who build the site install them (docs/decisions/0046-site-and-api-reference.md).
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { createLlmsText } from './llms-text.mjs';
import { pnpmCommand, ROOT } from './workspace.mjs';
import { listPublishedPackages } from './workspace-packages.mjs';

const SITE = join(ROOT, 'site');
const CONTENT = join(SITE, 'content');
const ENTRIES = join(SITE, 'entries');
const PAGES =
  /^(?:(?:README|ARCHITECTURE|CONTRIBUTING|SECURITY|CHANGELOG|examples\/README|packages\/cli\/CHANGELOG)\.md|docs\/.*\.(?:md|html|svg|png))$/;

install();
copyPages();
writeReference();
run(process.execPath, [join(SITE, 'node_modules/vitepress/bin/vitepress.js'), 'build', '.']);

function install() {
  const lock = readFileSync(join(SITE, 'pnpm-lock.yaml'), 'utf8');
  const stamp = join(SITE, 'node_modules/.installed-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  const options = ['--ignore-workspace', '--frozen-lockfile', '--ignore-scripts', '--reporter=append-only'];
  run(process.execPath, pnpmCommand('install', ...options));
  writeFileSync(stamp, lock);
}

/** In the layout of the repository, so that links between the pages are the same. */
function copyPages() {
  rmSync(CONTENT, { recursive: true, force: true });
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const path of stdout.split('\0').filter((name) => PAGES.test(name)))
    cpSync(join(ROOT, path), join(CONTENT, path));
  mkdirSync(join(CONTENT, 'public'));
  writeFileSync(join(CONTENT, 'public/llms.txt'), createLlmsText(ROOT));
}

/** One page for each entry point of the published packages, from the declarations that `tsc` has emitted. */
function writeReference() {
  rmSync(ENTRIES, { recursive: true, force: true });
  mkdirSync(ENTRIES);
  const files = listPublishedPackages(ROOT).flatMap(({ directory, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([entry, { types }]) => {
      // A program or a manifest: nothing to import.
      if (types === undefined) return [];
      const file = join(ENTRIES, `${basename(join(directory, entry === '.' ? '' : entry))}.ts`);
      const target = relative(ENTRIES, join(ROOT, directory, types)).replace(/\.d\.ts$/, '.js');
      writeFileSync(
        file,
        `/** \`${join(manifest.name, entry)}\`: ${manifest.description}. @module */\nexport * from '${target}';\n`,
      );
      return [file];
    }),
  );
  const options = ['--readme', 'none', '--hideGenerator', '--disableSources', '--outputFileStrategy', 'modules'];
  run(process.execPath, [
    join(SITE, 'node_modules/typedoc/bin/typedoc'),
    ...['--plugin', 'typedoc-plugin-markdown', '--tsconfig', join(SITE, 'tsconfig.json'), '--skipErrorChecking'],
    ...['--logLevel', 'Error', '--name', 'API', ...options, '--out', join(CONTENT, 'api'), ...files],
  ]);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: SITE, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  console.error(
    `could not build the site: ${basename(dirname(args[0] ?? command))} ended with ${error?.message ?? status}`,
  );
  process.exit(1);
}
