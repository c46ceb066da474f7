import type { PlannedMount } from './mount-plan.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** One container with everything resolved. No string contains NUL. */
export interface LaunchRequest {
  /** Decimal number, unique within this launcher. */
  readonly id: string;
  readonly key: string;
  readonly directory: string;
  readonly logPath: string;
  /** 0: none. */
  readonly logLimitBytes: number;
  readonly workingDirectory: string;
  readonly milliCores: number;
  readonly memoryBytes: number;
  readonly mounts: readonly PlannedMount[];
  readonly argv: readonly string[];
  /** `NAME=value` */
  readonly env: readonly string[];
}

/** What a launcher reports. Events of one container are in order; `gone` is the last one. */
export type LauncherEvent =
  | { readonly type: 'ready'; readonly memory: string; readonly cores: string }
  /** Its process holds the claim and starts it; no instruction of this container ran before. */
  | { readonly type: 'claimed'; readonly id: string; readonly pid: number }
  /** The container already has a claim, of an earlier launch; nothing was started. */
  | { readonly type: 'exists'; readonly id: string }
  | { readonly type: 'started'; readonly id: string; readonly startedAt: number }
  | { readonly type: 'ended'; readonly id: string; readonly record: string }
  /** Rejected before a claim was made. */
  | { readonly type: 'rejected'; readonly id: string; readonly reason: string }
  /** The machine could not start it now: out of processes or memory. */
  | { readonly type: 'fault'; readonly id: string; readonly reason: string }
  | { readonly type: 'adopted'; readonly id: string }
  /** Nothing to adopt or to stop under this id. */
  | { readonly type: 'unknown'; readonly id: string }
  /** Its first process has ended, and with it every process of the container. */
  | { readonly type: 'gone'; readonly id: string };

/**
 * How mount points are provided. `namespaces`: mounted. `translation`: the launcher traces the container and translates the
 * paths in its system calls. `rewriting`: mount points are replaced by host paths in arguments, environment and scripts. The
 * latter two isolate nothing. `command`: by the command itself, which runs without mounts, like any program of the user.
 */
export type MountsBy = 'namespaces' | 'translation' | 'rewriting' | 'command';

/**
 * Starts containers that outlive it. The native and the shell launcher write the same records and report the same events.
 */
export interface Launcher {
  readonly kind: 'native' | 'shell';
  readonly mountsBy: MountsBy;
  readonly memory: string;
  readonly cores: string;
  spawn(request: LaunchRequest): void;
  /** Watches a container that another launcher started; reports `adopted` or `unknown`. */
  adopt(id: string, claim: ProcessIdentity, directory: string): void;
  stop(id: string, graceMs: number): void;
  /** Kills without SIGTERM and grace period. */
  kill(id: string): void;
  /** Ends the launcher; its containers continue. */
  close(): Promise<void>;
}

/** Receives the reports of a launcher. */
export interface LauncherListener {
  event(event: LauncherEvent): void;
  /** The launcher ended without `close`. */
  lost(reason: string): void;
}
