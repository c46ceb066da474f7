import type { Check } from './check-context.ts';

const KEYS = ['cluster', 'anyOf', 'ordered'] as const;

/** A choice of clusters is made in one way: of several the others would silently mean nothing. */
export const checkPlacement: Check = ({ raw, report, steps }) => {
  const places = [
    { placement: raw.placement, path: ['placement'] },
    { placement: raw.defaults?.placement, path: ['defaults', 'placement'] },
    ...[...steps.values()].map(({ raw: { placement }, path }) => ({ placement, path: [...path, 'placement'] })),
  ];
  for (const { placement, path } of places) {
    const [first, second] = KEYS.filter((key) => placement?.[key] !== undefined);
    if (first === undefined || second === undefined) continue;
    const message = `\`placement\` has both \`${first}\` and \`${second}\``;
    report({ code: 'conflicting-keys', message, path: [...path, second], on: 'key' });
  }
};
