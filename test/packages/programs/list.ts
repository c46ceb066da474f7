import assert from 'node:assert/strict';
import { execute, explainStep, listRuns, pipeline, type RunSummary, readRun, reportRun } from 'sluice';

const p = pipeline('listed');
p.step('a', { command: ['false'] });
const { runId } = await execute(p);
const runs: readonly RunSummary[] = await listRuns();
assert.deepEqual(
  runs.map((one) => [one.runId, one.pipeline, one.status]),
  [[runId, 'listed', 'failed']],
);
const { steps, failures } = await readRun(runId);
assert.deepEqual([steps[0]?.step, failures[0]?.step], ['a', 'a']);
assert.equal((await explainStep(runId, 'a')).status, 'failed');
assert.match((await reportRun(runId, { to: 'report' })).page, /report\.html$/);
