import { readRun } from '@sluice/home';
import { adoptRun } from '../../src/run/adopt-run.ts';
import { approveRun } from '../../src/run/approve-run.ts';
import { requestCancel } from '../../src/run/cancel-run.ts';
import { createRunFiles } from '../../src/run/create-run-files.ts';
import { provisionOrder } from '../../src/run/provision-order.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { suspendRun } from '../../src/run/suspend-run.ts';
import type { RunnerUnderTest } from './live-run.ts';

/** The functions of the runner itself, without a planted bug. */
export const REAL_RUNNER: RunnerUnderTest = {
  ...{ startRun, createRunFiles, provisionOrder, resumeRun, readRun, adoptRun },
  ...{ approveRun, suspendRun, requestCancel },
};
