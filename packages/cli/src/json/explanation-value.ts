import { renderTimes, type StepExplanation } from '@sluice/run';
import type { JsonValue } from './json-values.ts';

/** Converts an explanation to the JSON value that `sluice why --json` prints. */
export function explanationValue(
  explained: StepExplanation,
  service: JsonValue<'explanation'>['service'] | undefined,
): JsonValue<'explanation'> {
  const { wait, warnings, ...rest } = explained;
  return {
    ...rest,
    ...(wait && { wait: renderTimes(wait) }),
    attempts: explained.attempts.map(renderTimes),
    ...(warnings && { warnings: warnings.map(renderTimes) }),
    story: explained.story.map(renderTimes),
    ...(service && { service }),
  };
}
