import { z } from 'zod';

const MAX_PARAMS = 1_000;
/** The longest argument of a command on Linux. */
const MAX_VALUE = 131_072;
const path = z.string().min(1).max(4_096);

/** The schema of `ScheduleSettings`. Paths are absolute; a profile may be a name. */
export const scheduleSettings = z.strictObject({
  /** Values by name, as after `-p`. */
  params: z
    .record(z.string().min(1).max(256), z.string().max(MAX_VALUE))
    .refine((params) => Object.keys(params).length <= MAX_PARAMS, `at most ${MAX_PARAMS} parameters`),
  root: path.exactOptional(),
  ignoreImages: z.literal(true).exactOptional(),
  profile: path.exactOptional(),
  service: path.exactOptional(),
  account: path.exactOptional(),
  cluster: path.exactOptional(),
  cpu: z.number().int().min(1).exactOptional(),
});

/**
 * The parameters of all runs of a schedule, and the options that select their service and files. They belong to the
 * schedule: no run changes them.
 */
export type ScheduleSettings = z.infer<typeof scheduleSettings>;

/** The difference of two settings in words, as `x from "test" to "prod"`; undefined if there is none. */
export function describeSettingsChange(before: ScheduleSettings, after: ScheduleSettings): string | undefined {
  const [from, to] = [before, after].map(({ params, ...options }) => {
    const named = Object.entries(params).map(([name, value]) => [`parameter ${name}`, value] as const);
    return new Map<string, unknown>([...named, ...Object.entries(options)]);
  }) as [Map<string, unknown>, Map<string, unknown>];
  const names = [...new Set([...from.keys(), ...to.keys()])].filter((name) => from.get(name) !== to.get(name));
  if (names.length === 0) return undefined;
  const show = (value: unknown) => (value === undefined ? 'its default' : JSON.stringify(value));
  return names.map((name) => `${name} from ${show(from.get(name))} to ${show(to.get(name))}`).join(', ');
}
