import { existsSync } from 'node:fs';
import os from 'node:os';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fail, ok, type Result } from '@sluice/core';
import { runDirectory } from '@sluice/home';
import { type BundleSources, collectBundle } from '../bundle/collect-bundle.ts';
import { describeProfile } from '../bundle/describe-profile.ts';
import { packTar } from '../bundle/pack-tar.ts';
import { EXISTS, writeNewFile } from '../bundle/write-new-file.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { type CommandError, wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { checkHome } from '../home/check-home.ts';
import { findProfile } from '../home/find-profile.ts';
import { findHome } from '../home/home.ts';
import { readProfile } from '../home/profile.ts';
import type { JsonValue } from '../json/json-values.ts';
import { renderValue } from '../json/render-value.ts';
import { renderBytes } from '../render/render-event.ts';
import { selectRun } from '../runs/select-run.ts';
import { renderTable } from '../text/render-table.ts';

/** `run` is the prefix of the ID of the run in the bundle (default: the newest run). */
export interface BundleOptions extends GlobalOptions {
  readonly bundle: string;
  readonly run?: string;
}

/** What is known already: the output of the doctor, and the version of this program. */
interface Known {
  readonly found: JsonValue<'doctor'>;
  readonly version: string;
}

/** `sluice doctor --bundle FILE`: writes an archive for a bug report, without secrets. */
export async function writeBundle(known: Known, context: CommandContext, options: BundleOptions): Promise<number> {
  const { terminal, cwd } = context;
  const file = resolve(cwd, options.bundle);
  const rejectFile = (reason: string) => {
    const message = `could not write the bundle ${options.bundle}: ${reason}`;
    return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
  };
  if (existsSync(file)) return rejectFile(EXISTS);
  const sources = await findSources(known, context, options);
  if (!sources.ok) return reject(sources.error, { context, options });
  const { files, leftOut } = collectBundle(sources.value);
  const bytes = gzipSync(packTar(files, Date.now()));
  const written = writeNewFile(file, bytes);
  if (!written.ok) return rejectFile(written.error);
  const contents = files.map(({ name, bytes: { length } }) => ({ name, bytes: length }));
  if (options.json === true) {
    terminal.out(renderValue('bundle', { file, bytes: bytes.length, contents, leftOut }));
    return EXIT_CODE.ok;
  }
  terminal.out(`wrote ${options.bundle}: ${renderBytes(bytes.length)}\n\ncontains\n`);
  terminal.out(renderTable(contents.map(({ name, bytes: size }) => [`  ${name}`, renderBytes(size)])));
  terminal.out('\nleft out\n');
  terminal.out(renderTable(leftOut.map(({ name, reason }) => [`  ${name}`, reason])));
  terminal.out('\nKnown secrets are replaced by [secret]. Read the files before you send them.\n');
  return EXIT_CODE.ok;
}

async function findSources(
  { found, version }: Known,
  context: CommandContext,
  options: BundleOptions,
): Promise<Result<BundleSources, CommandError>> {
  const checked = checkHome(context, options);
  const home = checked.ok ? findHome(context, options) : undefined;
  const run = home === undefined ? undefined : await selectRun(home, { prefix: options.run, options });
  // A run that the user names must be in the bundle.
  if (options.run !== undefined && !checked.ok) return checked;
  if (options.run !== undefined && run !== undefined && !run.ok) return run;
  const profile = readApplied(context, options);
  return ok({
    env: context.env,
    home,
    homeProblem: checked.ok ? undefined : wholeMessage(checked.error),
    runDirectory: home !== undefined && run?.ok ? runDirectory(home, run.value.runId) : undefined,
    runProblem: run !== undefined && !run.ok ? wholeMessage(run.error) : undefined,
    described: {
      versions: describeVersions(version),
      doctor: found,
      environment: { variables: listVariables(context.env) },
      profile: profile.ok
        ? ((profile.value && describeProfile(profile.value)) ?? 'none')
        : { problem: profile.error.message },
    },
    credentialFiles: profile.ok && profile.value !== undefined ? listCredentials(profile.value) : [],
  });
}

function describeVersions(sluice: string): object {
  const { platform, arch, version, versions } = process;
  const processors = os.availableParallelism();
  return { sluice, node: version, v8: versions.v8, platform, arch, kernel: os.release(), processors };
}

/** The names of the variables that Sluice reads; their values may be secret. */
function listVariables(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^(?:SLUICE_|OTEL_|DOCKER_HOST$|NODE_OPTIONS$|CI$|GITHUB_ACTIONS$|XDG_)/.test(name))
    .sort();
}

function readApplied(context: CommandContext, options: BundleOptions) {
  const place = findProfile(options, context);
  if (!place.ok) return place;
  if (place.value === undefined) return ok(undefined);
  if (place.value.isFound && !checkHome(context, options).ok) {
    return fail({ exitCode: EXIT_CODE.rejected, message: 'its home is not confirmed' });
  }
  return readProfile(place.value.path);
}

function listCredentials({
  tokenFile,
  passwordFile,
}: {
  tokenFile?: string | undefined;
  passwordFile?: string | undefined;
}) {
  return [tokenFile, passwordFile].filter((file) => file !== undefined);
}
