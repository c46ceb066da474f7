import { describeUnconfirmed } from '../connect/choose-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import type { ProfileSource } from '../home/find-profile.ts';
import { followUse } from '../home/follow-use.ts';
import { findHome } from '../home/home.ts';
import { type KnownProfile, listKnownProfiles, readKnown } from '../home/known-profiles.ts';
import type { JsonValue } from '../json/json-values.ts';
import { renderValue } from '../json/render-value.ts';
import { hideLogin } from '../text/hide-login.ts';
import { renderTable } from '../text/render-table.ts';
import { shortPath } from '../text/short-path.ts';

/** Why a profile applies, for people. */
export const SELECTED_BY: Readonly<Record<ProfileSource, string>> = {
  flag: '--profile names it',
  variable: 'SLUICE_PROFILE names it',
  home: 'it is the profile of the home',
  default: 'it is your default',
};

type Value = JsonValue<'profileEntry'>;

/** `sluice profile list`: the profiles of the user and of the home, and which of them applies. */
export async function listProfilesCommand(context: CommandContext, options: GlobalOptions): Promise<number> {
  const { terminal, env, cwd } = context;
  const known = listKnownProfiles(context, options);
  if (!known.ok) return reject(known.error, { context, options });
  const values = known.value.map((one) => describeProfile(one, { home: findHome(context, options), env }));
  if (options.json === true) {
    for (const value of values) terminal.out(renderValue('profileEntry', value));
    return EXIT_CODE.ok;
  }
  const rows = values.map((value) => [
    value.profile ?? shortPath(value.file, cwd),
    value.service ?? '-',
    renderAccount(value) ?? '-',
    value.problem ?? (value.selectedBy === undefined ? '' : `applies: ${SELECTED_BY[value.selectedBy]}`),
  ]);
  if (rows.length > 0) terminal.out(renderTable([['PROFILE', 'SERVICE', 'ACCOUNT', ''], ...rows]));
  if (values.every(({ selectedBy }) => selectedBy === undefined)) terminal.err('no profile applies here');
  if (env.SLUICE_SERVICE && options.profile === undefined) {
    terminal.err(`SLUICE_SERVICE selects ${hideLogin(env.SLUICE_SERVICE)}, whatever the profile says`);
  }
  return EXIT_CODE.ok;
}

/** `CLUSTER/ACCOUNT`, as far as it is known. */
function renderAccount({ clusterId, accountId }: Value): string | undefined {
  const parts = [clusterId, accountId].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('/');
}

function describeProfile(
  { name, file, place }: KnownProfile,
  { home, env }: { readonly home: string; readonly env: NodeJS.ProcessEnv },
): Value {
  const value = {
    ...(name !== undefined && { profile: name }),
    file,
    ...(place !== undefined && { selectedBy: place.selectedBy }),
  };
  const written = readKnown(file);
  if (!written.ok) return { ...value, problem: wholeMessage(written.error) };
  const used = followUse({ profile: written.value, path: file }, env);
  if (!used.ok) return { ...value, problem: wholeMessage(used.error) };
  const { service, cluster, account, email } = used.value.profile;
  const { use } = written.value;
  const fault = place && describeUnconfirmed(place, { profile: written.value, home, env });
  return {
    ...value,
    ...(use !== undefined && { use }),
    ...(service !== undefined && { service: hideLogin(service) }),
    ...(cluster !== undefined && { clusterId: cluster }),
    ...(account !== undefined && { accountId: account }),
    ...(email !== undefined && { email }),
    ...(fault !== undefined && { problem: `could not use ${fault}` }),
  };
}
