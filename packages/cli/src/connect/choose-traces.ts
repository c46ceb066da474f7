import { fail, ok, type Result } from '@sluice/core';
import { createTraceSink, type TraceSink } from '@sluice/runner';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import type { Profile } from '../home/profile.ts';

/** A collector of traces, or nothing. */
export interface ChosenTraces {
  readonly traces?: TraceSink;
}

/**
 * The collector that receives the runs as traces: that of the profile of `--profile`, else of SLUICE_OTLP, else of the profile
 * from elsewhere, else of OTEL_EXPORTER_OTLP_ENDPOINT. An empty variable counts as not set.
 */
export async function chooseTraces({
  flags = {},
  env,
  profile = {},
}: {
  readonly flags?: GlobalOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly profile?: Profile;
}): Promise<Result<ChosenTraces, CommandError>> {
  const named = flags.profile === undefined ? undefined : profile.otlp;
  const url = named ?? (env.SLUICE_OTLP || profile.otlp || env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined);
  if (url === undefined) return ok({});
  const fault = findFault(url);
  if (fault !== undefined) return fail({ exitCode: EXIT_CODE.rejected, message: `could not send traces: ${fault}` });
  return ok({ traces: createTraceSink(url, { headers: readHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? '') }) });
}

function findFault(url: string): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    return `the address ${url} does not start with https:// or http://`;
  }
  const { username, password } = new URL(url);
  if (username === '' && password === '') return undefined;
  return 'the address contains a password; use a header of OTEL_EXPORTER_OTLP_HEADERS instead';
}

/** `NAME=VALUE,NAME=VALUE`, percent-encoded, as OpenTelemetry defines it. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair));
  return Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1]!, decode(pair[2]!)]])));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
