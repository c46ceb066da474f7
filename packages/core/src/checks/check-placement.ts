import type { Path } from '../parse/source-document.ts';
import type { RawPipeline } from '../schema/pipeline-schema.ts';
import type { Check } from './check-context.ts';

const KEYS = ['cluster', 'anyOf', 'ordered'] as const;

/** A placement has exactly one of its keys; the others would be silently ignored. */
export const checkPlacement: Check = ({ raw, report, steps }) => {
  const one = (placement: RawPipeline['placement'], path: Path): void => {
    if (placement === undefined) return;
    const [first, second] = KEYS.filter((key) => placement[key] !== undefined);
    if (first === undefined || second === undefined) return;
    const message = `\`placement\` has both \`${first}\` and \`${second}\``;
    report({ code: 'conflicting-keys', message, path: [...path, 'placement', second], on: 'key' });
  };
  one(raw.placement, []);
  one(raw.defaults?.placement, ['defaults']);
  for (const step of steps.values()) one(step.raw.placement, step.path);
};
