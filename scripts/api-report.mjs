// Usage: node scripts/api-report.mjs [--check]   (after `pnpm build`). Writes the public surface of every published package
// into its api-report.md. With --check it changes nothing, and fails where a report is out of date.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { ROOT } from './workspace.mjs';
import { listPublishedPackages } from './workspace-packages.mjs';

const COMPILER_OPTIONS = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
};
const isCheck = process.argv.includes('--check');
const directory = mkdtempSync(join(tmpdir(), 'sluice-api-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

for (const { directory: place, manifest } of listPublishedPackages(ROOT)) {
  for (const [entry, { types }] of Object.entries(manifest.exports ?? {})) {
    // A program, which nothing imports.
    if (types === undefined) continue;
    const suffix = entry === '.' ? '' : entry.slice(1).replaceAll('/', '-');
    const report = join(ROOT, place, `api-report${suffix}.md`);
    const text = extract(join(ROOT, place), types);
    if (existsSync(report) && readFileSync(report, 'utf8') === text) continue;
    const name = relative(ROOT, report);
    if (isCheck) {
      console.error(`${name} is out of date: run \`pnpm api-report\` and review what changes for users`);
      process.exitCode = 1;
    } else {
      writeFileSync(report, text);
      console.log(`wrote ${name}`);
    }
  }
}

/** The report of one entry point, made from its declarations. Throws with what API Extractor cannot read. */
function extract(projectFolder, types) {
  const errors = [];
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
    configObject: {
      projectFolder,
      mainEntryPointFilePath: join(projectFolder, types),
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions: COMPILER_OPTIONS } },
      apiReport: {
        enabled: true,
        reportFolder: directory,
        reportTempFolder: join(directory, 'temp'),
        reportFileName: 'report',
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: { default: { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
  const result = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === 'error') errors.push(message.text);
      message.handled = true;
    },
  });
  if (!result.succeeded) throw new Error(`could not read ${types} in ${projectFolder}: ${errors.join('; ')}`);
  return readFileSync(join(directory, 'report.api.md'), 'utf8');
}
