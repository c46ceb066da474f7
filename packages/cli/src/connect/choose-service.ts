import { fail, ok, type Result } from '@sluice/core';
import { readJobEnvironment, readSbatchVariables } from '@sluice/host-system';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { listUnconfirmed, readConfirmation } from '../home/confirmation.ts';
import { findOwnProfile, findProfile, type ProfilePlace } from '../home/find-profile.ts';
import { followUse } from '../home/follow-use.ts';
import { findHome } from '../home/home.ts';
import { connectionOf, type Profile, readProfile } from '../home/profile.ts';
import { chooseSetting } from './choose-setting.ts';
import { type EmbeddedEngine, LOCAL_ENGINE } from './embedded-engine.ts';

/** The service that a command uses, and the profile that applies to it. */
export interface ChosenService {
  readonly home: string;
  /** Undefined: the embedded service of the home, with this engine. */
  readonly url: string | undefined;
  readonly engine: EmbeddedEngine;
  /** Settings that the user named or confirmed; all of them may be applied. */
  readonly profile: Profile;
  /** Undefined: there is no profile. */
  readonly profilePath: string | undefined;
  /** A warning for the user: a profile was found but is not applied. */
  readonly ignored?: string;
}

/**
 * Chooses the service by `chooseSetting`. A profile that was only found in the home must be confirmed first, because it
 * decides where credentials, secrets and data are sent.
 */
export function chooseService(
  options: GlobalOptions,
  context: Pick<CommandContext, 'env' | 'cwd'>,
): Result<ChosenService, CommandError> {
  const { env } = context;
  const home = findHome(context, options);
  const found = findProfile(options, context);
  if (!found.ok) return found;
  const place = found.value;
  const read = readProfileAt(place);
  if (!read.ok) return read;
  const profile = read.value;
  const fault = place && describeUnconfirmed(place, { profile, home, env });
  if (fault === undefined) {
    const used = place === undefined ? ok(undefined) : followUse({ profile, path: place.path }, env);
    if (!used.ok) return used;
    const applied = used.value?.profile ?? profile;
    const url = chooseUrl({ flags: options, env, profile: applied });
    return ok({
      home,
      url,
      engine: chooseEngine(options, { profile: applied, env }),
      profile: applied,
      profilePath: used.value?.path,
    });
  }
  const named = chooseUrl({ flags: options, env, profile: {} });
  if (named === undefined) return fail({ exitCode: EXIT_CODE.rejected, message: `could not use ${fault}` });
  const own = findOwnProfile(env);
  const instead = readProfileAt(own);
  if (!instead.ok) return instead;
  const used = { profile: instead.value, profilePath: own?.path };
  return ok({ home, url: named, engine: LOCAL_ENGINE, ...used, ignored: `ignoring ${fault}` });
}

/** The address of a service. An engine that a flag, or the profile of `--profile`, names, takes precedence over the variable. */
function chooseUrl(given: Parameters<typeof chooseSetting>[1]): string | undefined {
  const { flags, profile } = given;
  if (flags.engine !== undefined) return undefined;
  if (flags.profile !== undefined && profile.engine !== undefined) return flags.service;
  return chooseSetting('service', given);
}

/**
 * On the only node of a job of Slurm, `local` has its cores. Otherwise, and for a command that the job starts again, its nodes
 * are used. With the engine `slurm`, defaults of `sbatch` in the environment are those of its options, too.
 */
function chooseEngine(
  { engine, resubmit = false, isRecorded }: GlobalOptions,
  { profile, env }: { readonly profile: Profile; readonly env: NodeJS.ProcessEnv },
): EmbeddedEngine {
  const job = readJobEnvironment(env);
  const usesJob = isRecorded !== true && job !== undefined && (job.nodes > 1 || !job.isOnNode || resubmit);
  const name = engine ?? profile.engine ?? (usesJob ? 'slurm-job' : LOCAL_ENGINE.name);
  const options = name === profile.engine ? (profile.options ?? {}) : {};
  if (name === 'slurm') return { name, options: { ...readSbatchVariables(env), ...options } };
  return { name, options: name === 'slurm-job' && job !== undefined ? { ...options, job: job.jobId } : options };
}

function readProfileAt(place: ProfilePlace | undefined): Result<Profile, CommandError> {
  return place === undefined ? ok({}) : readProfile(place.path);
}

/** Why a profile that was found, not named, may not be applied; undefined if it may, or if it names neither service nor credentials. */
export function describeUnconfirmed(
  { path, isFound }: Pick<ProfilePlace, 'path' | 'isFound'>,
  { profile, home, env }: { profile: Profile; home: string; env: NodeJS.ProcessEnv },
): string | undefined {
  if (!isFound) return undefined;
  const connection = connectionOf(profile);
  if (Object.keys(connection).length === 0) return undefined;
  const confirmed = readConfirmation(home, env)?.connection;
  const changed = listUnconfirmed(connection, confirmed);
  if (changed.length === 0) return undefined;
  const isNew = confirmed === undefined || Object.keys(confirmed).length === 0;
  const what = isNew ? 'which you have not confirmed' : `whose ${changed.join(', ')} changed since you confirmed it`;
  return `the profile ${path}, ${what}: ${describeConsequence(profile)}; if you trust it, confirm it once with: sluice trust`;
}

function describeConsequence({ use, service, authUrl, otlp, engine }: Profile): string {
  if (use !== undefined) return `credentials, secrets and data would be sent to the service of your profile ${use}`;
  const places = [service, authUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).href]));
  if (engine !== undefined) return `containers would run with the engine ${engine} and its options`;
  if (places.length === 0 && otlp !== undefined) return `traces would be sent to ${new URL(otlp).href}`;
  if (places.length === 0) return 'it decides which credentials, account and certificates are used';
  return `credentials, secrets and data would be sent to ${places.join(' and ')}`;
}
