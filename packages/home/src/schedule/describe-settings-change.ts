import type { RunSettings } from '@sluice/run';

/** The difference of two settings in words, as `x from "test" to "prod"`; undefined if there is none. */
export function describeSettingsChange(before: RunSettings, after: RunSettings): string | undefined {
  const [from, to] = [before, after].map(({ params, labels = {}, ...options }) => {
    const named = Object.entries(params).map(([name, value]) => [`parameter ${name}`, value] as const);
    const labeled = Object.entries(labels).map(([name, value]) => [`label ${name}`, value] as const);
    return new Map<string, unknown>([...named, ...labeled, ...Object.entries(options)]);
  }) as [Map<string, unknown>, Map<string, unknown>];
  const names = [...new Set([...from.keys(), ...to.keys()])].filter((name) => from.get(name) !== to.get(name));
  if (names.length === 0) return undefined;
  const show = (value: unknown) => (value === undefined ? 'its default' : JSON.stringify(value));
  return names.map((name) => `${name} from ${show(from.get(name))} to ${show(to.get(name))}`).join(', ');
}
