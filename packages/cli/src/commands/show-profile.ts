import { ok } from '@sluice/core';
import { describeUnconfirmed } from '../connect/choose-service.ts';
import { VARIABLES } from '../connect/choose-setting.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { reject } from '../context/reject.ts';
import { findProfile, type ProfilePlace } from '../home/find-profile.ts';
import { followUse, type ReadProfile } from '../home/follow-use.ts';
import { findHome } from '../home/home.ts';
import { type Profile, readProfile } from '../home/profile.ts';
import type { JsonValue } from '../json/json-values.ts';
import { renderValue } from '../json/render-value.ts';
import { hideLogin } from '../text/hide-login.ts';
import { renderTable } from '../text/render-table.ts';
import { shortPath } from '../text/short-path.ts';
import { SELECTED_BY } from './list-profiles.ts';

type Setting = JsonValue<'profileSettings'>['settings'][number];

/** Variables with credentials, which replace those of every profile. */
const LOGIN = { email: 'SLUICE_EMAIL', token: 'SLUICE_TOKEN', password: 'SLUICE_PASSWORD' } as const;
/** Settings whose values are never shown. */
const SECRET: ReadonlySet<string> = new Set(['token', 'password']);

/** `sluice profile show`: the settings of one profile, by default of the one that applies, and where each comes from. */
export async function showProfile(
  name: string | undefined,
  context: CommandContext,
  options: GlobalOptions,
): Promise<number> {
  const { terminal, env, cwd } = context;
  const flags = { ...options, ...(name !== undefined && { profile: name }) };
  const found = findProfile(flags, context);
  if (!found.ok) return reject(found.error, { context, options });
  const place = found.value;
  const written = place === undefined ? ok({} as Profile) : readProfile(place.path);
  if (!written.ok) return reject(written.error, { context, options });
  const used = place === undefined ? ok(undefined) : followUse({ profile: written.value, path: place.path }, env);
  if (!used.ok) return reject(used.error, { context, options });
  const settings = listSettings(used.value, { isNamed: name !== undefined, env });
  const unconfirmed = place && describeProblem(place, written.value, { home: findHome(context, options), env });
  if (options.json === true) {
    const at = place === undefined ? {} : { file: place.path, selectedBy: place.selectedBy };
    const problem = unconfirmed === undefined ? {} : { problem: unconfirmed };
    terminal.out(renderValue('profileSettings', { ...at, settings, ...problem }));
    return EXIT_CODE.ok;
  }
  const head =
    place === undefined ? 'no profile applies here' : `${shortPath(place.path, cwd)}: ${SELECTED_BY[place.selectedBy]}`;
  terminal.out(`${head}\n`);
  const rows = settings.map(({ setting, value, source }) => [setting, value ?? '(hidden)', shortPath(source, cwd)]);
  if (rows.length > 0) terminal.out(renderTable([['SETTING', 'VALUE', 'FROM'], ...rows]));
  if (unconfirmed !== undefined) printWarning(terminal, unconfirmed);
  return EXIT_CODE.ok;
}

function describeProblem(
  place: ProfilePlace,
  profile: Profile,
  { home, env }: { readonly home: string; readonly env: NodeJS.ProcessEnv },
): string | undefined {
  const fault = describeUnconfirmed(place, { profile, home, env });
  return fault && `could not use ${fault}`;
}

/** What variables set comes first, then the others in the order of the profile. */
function listSettings(
  read: ReadProfile | undefined,
  { isNamed, env }: { readonly isNamed: boolean; readonly env: NodeJS.ProcessEnv },
): readonly Setting[] {
  const { limits, options = {}, use: _, ...profile } = read?.profile ?? {};
  const source = read?.path ?? '';
  // As `chooseSetting`: a profile that is named takes precedence over these variables.
  const selecting = Object.entries(VARIABLES).filter(([key]) => !isNamed || !Object.hasOwn(profile, key));
  const variables = [...selecting, ...Object.entries(LOGIN)].flatMap(([setting, variable]): Setting[] => {
    const value = env[variable];
    if (!value) return [];
    return [{ setting, ...(SECRET.has(setting) ? {} : { value: hideLogin(value) }), source: variable }];
  });
  const isReplaced = new Set(variables.map(({ setting }) => setting));
  const own = Object.entries(profile).flatMap(([setting, value]) =>
    value === undefined || isReplaced.has(setting) ? [] : [{ setting, value: hideLogin(value), source }],
  );
  const ofEngine = Object.entries(options).map(([name, value]) => ({
    setting: `options.${name}`,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    source,
  }));
  return [...variables, ...own, ...ofEngine, ...listLimits(limits, source)];
}

function listLimits(limits: Profile['limits'], source: string): readonly Setting[] {
  const { clusters = {}, instanceTypes = {}, mounts, lostAfterMs } = limits ?? {};
  const entries: readonly (readonly [string, string | undefined])[] = [
    ...Object.entries(clusters).map(([name, most]) => [`limits.clusters.${name}`, String(most)] as const),
    ...Object.entries(instanceTypes).map(([name, most]) => [`limits.instanceTypes.${name}`, String(most)] as const),
    ['limits.mounts', mounts === undefined ? undefined : String(mounts)],
    ['limits.lostAfter', lostAfterMs === undefined ? undefined : `${lostAfterMs / 1000}s`],
  ];
  return entries.flatMap(([setting, value]) => (value === undefined ? [] : [{ setting, value, source }]));
}
