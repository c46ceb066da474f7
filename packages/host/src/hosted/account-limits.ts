import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../errors/api-error.ts';

/** What one account may use of a server for its runs. */
export interface AccountLimits {
  /** Runs that are executed at once; others wait. */
  readonly concurrent: number;
  /** Cells of one run. */
  readonly steps: number;
  /** Bytes of the account's runs on the server. */
  readonly storage: number;
  readonly submissionsPerMinute: number;
}

/** Checks requests of one account against its limits. Each method throws `ApiError` if one is exceeded. */
export interface LimitCheck {
  checkSteps(cells: number): void;
  /** What `checkSteps` accepts. */
  maxSteps(): number;
  /** Why the account's runs must not grow further; undefined if they may. Measured at intervals. */
  findExcess(): Promise<string | undefined>;
  /** Counts a submission. */
  checkRate(): void;
  /** Counts bytes that are about to be stored. */
  checkStorage(bytes: number): Promise<void>;
}

const MINUTE_MS = 60_000;
/** Measuring reads the metadata of every file, so it is done at most this often. */
const MEASURE_MS = 30_000;

/** `limits` is called for each check, since a configuration may change. */
export function createLimitCheck(
  home: string,
  { limits, now = Date.now }: { readonly limits: () => AccountLimits; readonly now?: () => number },
): LimitCheck {
  let submissions: number[] = [];
  let measured = { at: Number.NEGATIVE_INFINITY, bytes: 0 };
  const measure = async () => {
    if (now() - measured.at >= MEASURE_MS) measured = { at: now(), bytes: await measureTree(home) };
  };
  return {
    checkSteps(cells) {
      const maximum = limits().steps;
      if (cells > maximum) throw exceeded(409, { limit: 'steps', maximum, used: 0, wanted: cells });
    },
    checkRate() {
      const maximum = limits().submissionsPerMinute;
      const time = now();
      submissions = submissions.filter((at) => at > time - MINUTE_MS);
      if (submissions.length >= maximum) {
        const amounts = { limit: 'submissionsPerMinute', maximum, used: submissions.length, wanted: 1 } as const;
        throw exceeded(429, amounts).retryAfter(submissions[0]! + MINUTE_MS - time);
      }
      submissions.push(time);
    },
    maxSteps: () => limits().steps,
    async findExcess() {
      await measure();
      const maximum = limits().storage;
      return measured.bytes > maximum
        ? `the runs of the account use ${measured.bytes} bytes on the server, and may use ${maximum}`
        : undefined;
    },
    async checkStorage(bytes) {
      const maximum = limits().storage;
      await measure();
      if (measured.bytes + bytes > maximum) {
        throw exceeded(429, { limit: 'storage', maximum, used: measured.bytes, wanted: bytes });
      }
      measured.bytes += bytes;
    },
  };
}

interface Amounts {
  readonly limit: keyof AccountLimits;
  readonly maximum: number;
  readonly used: number;
  readonly wanted: number;
}

const UNITS = { concurrent: 'runs', steps: 'steps', storage: 'bytes', submissionsPerMinute: 'submissions per minute' };

function exceeded(status: number, { limit, ...amounts }: Amounts): ApiError {
  const { maximum, used, wanted } = amounts;
  const uses = used === 0 ? '' : ` and has ${used}`;
  const message = `could not accept the run: the account may have ${maximum} ${UNITS[limit]}${uses}; this needs ${wanted}`;
  const error = new ApiError(status, 'QUOTA_EXCEEDED', message);
  error.details = { limit: `runs.${limit}`, ...amounts };
  return error;
}

async function measureTree(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
