import type { InstanceType } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { OpenJournal } from '@sluice/home';
import type { MoveListener, RunFacts, Scheduler } from '@sluice/run';
import type { WorkspaceFiles } from '../data/prepare-volumes.ts';
import type { NumberedOptions } from '../session/number-events.ts';
import type { RunnerOptions } from '../session/run-options.ts';

/** A run whose journal is open and that is provisioned. */
export interface ExecuteOptions {
  readonly options: NumberedOptions<RunnerOptions>;
  readonly directory: string;
  readonly plan: Plan;
  readonly opened: OpenJournal;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
  readonly moves: MoveListener;
  readonly instanceTypes: readonly InstanceType[];
  readonly workspace: WorkspaceFiles;
  readonly resumed: boolean;
  readonly cancelBy?: string | undefined;
}
