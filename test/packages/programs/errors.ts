import assert from 'node:assert/strict';
import {
  type Diagnostic,
  isSluiceError,
  readRun,
  type SluiceErrorCode,
  safeLoadPipeline,
  safeParsePipeline,
} from 'sluice';

const parsed = safeParsePipeline({ file: 'p.yaml', text: 'version: 1\nname: p\nsteps: { a: { comand: [x] } }\n' });
assert(!parsed.ok);
const code: SluiceErrorCode = parsed.error.code;
assert.equal(code, 'INVALID_PIPELINE');
const diagnostics: readonly Diagnostic[] = parsed.error.diagnostics;
assert.match(diagnostics[0]?.message ?? '', /comand/);
const loaded = await safeLoadPipeline('missing.yaml');
assert(!loaded.ok && loaded.error.code === 'SYSTEM');
await assert.rejects(readRun('none'), (error) => isSluiceError(error, 'RUN_NOT_FOUND'));
