import type { Diagnostic } from '@sluice/core';
import type { LoadedPlan } from './load-plan.ts';

/** A diagnostic for each `notify` with a command, which a server does not run. */
export function findNotifyCommands({ plan, locate }: Pick<LoadedPlan, 'plan' | 'locate'>): readonly Diagnostic[] {
  return plan.pipeline.notify.flatMap(({ command }, index) => {
    if (command === undefined) return [];
    const range = locate(['notify', String(index), 'command']);
    return {
      code: 'notify-command',
      severity: 'error',
      message: 'a run on a server cannot run a command of this machine for a notification',
      ...(range && { range }),
      hint: 'use `webhook`, or run the pipeline with --here',
    };
  });
}
