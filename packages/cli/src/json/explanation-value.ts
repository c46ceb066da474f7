import { approvalValue, explanationValue as renderExplanation, renderTimes, type StepExplanation } from '@sluice/run';
import type { JsonValue } from './json-values.ts';

/** Converts an explanation to the JSON value that `sluice why --json` prints. */
export function explanationValue(
  explained: StepExplanation,
  service: JsonValue<'explanation'>['service'] | undefined,
): JsonValue<'explanation'> {
  const { wait: _, warnings, approval, ...rest } = explained;
  return {
    ...rest,
    ...renderExplanation(explained),
    ...(warnings && { warnings: warnings.map(renderTimes) }),
    ...(approval && { approval: approvalValue(approval) }),
    ...(service && { service }),
  };
}
