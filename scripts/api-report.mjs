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

/**
 * What `sluice` need not export although its declarations use it: types that the compiler infers and no program names, and the
 * constants from which exported types are made.
 */
const INNER = [
  ...[
    'AddAxis',
    'AddStep',
    'AddUse',
    'AnyStep',
    'AxisHandles',
    'EventOf',
    'FAILURE_CLASSES',
    'FieldName',
    'FieldValue',
    'InMilliseconds',
    'InputConfig',
    'ItemOf',
    'Items',
    'ItemsOf',
  ],
  ...['NEED_CONDITIONS', 'ParamShapes', 'ParamValue', 'RawPipeline', 'RawStep', 'ResultShapes', 'STEP_REASONS'],
  ...['STEP_STATUSES', 'Source', 'StepSources', 'Text', 'TraceError', 'TypeOfResult', 'Undefinable', 'ValueOf'],
  ...['VolumeShapes', 'WholeOutputHandle', 'accountSchema', 'containerListItemSchema', 'containerSchema'],
  ...['instanceTypeSchema', 'runEntry', 'runReport', 'runnerEvents', 'stepExplanation', 'volumeSchema'],
  'volumeServiceSchema',
];

const published = listPublishedPackages(ROOT);
for (const { directory: place, manifest } of published) {
  for (const [entry, { types }] of Object.entries(manifest.exports ?? {})) {
    // A program, which nothing imports.
    if (types === undefined) continue;
    const suffix = entry === '.' ? '' : entry.slice(1).replaceAll('/', '-');
    const report = join(ROOT, place, `api-report${suffix}.md`);
    const text = extract(join(ROOT, place), types);
    if (manifest.name === 'sluice' && entry === '.') checkExports(join(ROOT, place), types);
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

/** A program can install only `sluice`, so every type that it may have to name is exported there. */
function checkExports(projectFolder, types) {
  const unexported = findUnexported(projectFolder, types);
  const missing = unexported.filter((name) => !INNER.includes(name));
  const stale = INNER.filter((name) => !unexported.includes(name));
  if (missing.length > 0)
    console.error(`${types} of sluice does not export ${missing.join(', ')}: add them to its index.ts`);
  if (stale.length > 0)
    console.error(`INNER in scripts/api-report.mjs names what is exported or unused: ${stale.join(', ')}`);
  if (missing.length + stale.length > 0) process.exitCode = 1;
}

/** The report of one entry point, made from its declarations. Throws with what API Extractor cannot read. */
function extract(projectFolder, types) {
  const errors = invoke(projectFolder, types, {
    apiReport: {
      enabled: true,
      reportFolder: directory,
      reportTempFolder: join(directory, 'temp'),
      reportFileName: 'report',
    },
  });
  if (errors.length > 0) throw new Error(`could not read ${types} in ${projectFolder}: ${errors.join('; ')}`);
  return readFileSync(join(directory, 'report.api.md'), 'utf8');
}

/** The types in the declarations of an entry point, also of those from the other packages, that it does not export. */
function findUnexported(projectFolder, types) {
  const errors = invoke(projectFolder, types, {
    apiReport: { enabled: false },
    bundledPackages: published.map(({ manifest }) => manifest.name).filter((name) => name !== 'sluice'),
    forgotten: 'error',
  });
  return errors.map((text) => /^The symbol "(\w+)" needs to be exported/.exec(text)?.[1] ?? text).sort();
}

/** Reads the declarations of an entry point. Returns the errors. */
function invoke(projectFolder, types, { forgotten = 'none', ...more }) {
  const errors = [];
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
    configObject: {
      projectFolder,
      mainEntryPointFilePath: join(projectFolder, types),
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions: COMPILER_OPTIONS } },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: { default: { logLevel: 'none' }, 'ae-forgotten-export': { logLevel: forgotten } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
      ...more,
    },
  });
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === 'error') errors.push(message.text);
      message.handled = true;
    },
  });
  return errors;
}
