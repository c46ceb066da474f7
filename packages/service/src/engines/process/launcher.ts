import type { PlannedMount } from './mount-plan.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** One container as a launcher takes it: nothing left to decide. No string holds NUL. */
export interface LaunchRequest {
  /** Decimal number, unique for this launcher. */
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

/** What a launcher tells. For one container in order; `gone` is the last word on it. */
export type LauncherEvent =
  | { readonly type: 'ready'; readonly memory: string; readonly cores: string }
  /** Its process has made the claim and starts it: nothing of this container ran before. */
  | { readonly type: 'claimed'; readonly id: string; readonly pid: number }
  /** The container has a claim already, of an earlier launch; nothing was started. */
  | { readonly type: 'exists'; readonly id: string }
  | { readonly type: 'started'; readonly id: string; readonly startedAt: number }
  | { readonly type: 'ended'; readonly id: string; readonly record: string }
  /** Refused before a claim was made. */
  | { readonly type: 'refused'; readonly id: string; readonly reason: string }
  /** The machine could not start it now: no process, no memory. */
  | { readonly type: 'fault'; readonly id: string; readonly reason: string }
  | { readonly type: 'adopted'; readonly id: string }
  /** Nothing to adopt or to stop under this id. */
  | { readonly type: 'unknown'; readonly id: string }
  /** Its first process is no more, and with it every process of the container. */
  | { readonly type: 'gone'; readonly id: string };

/**
 * How mount points come about. `namespaces`: mounted. `translation`: the launcher traces the container and translates
 * the paths of its system calls. `rewriting`: the host's paths stand for them in arguments, environment and scripts. With
 * the latter two nothing is isolated.
 */
export type MountsBy = 'namespaces' | 'translation' | 'rewriting';

/** Starts containers that outlive it. The native and the shell launcher keep the same records and tell the same events. */
export interface Launcher {
  readonly kind: 'native' | 'shell';
  readonly mountsBy: MountsBy;
  readonly memory: string;
  readonly cores: string;
  spawn(request: LaunchRequest): void;
  /** Watches a container that another launcher started: `adopted` or `unknown` follows. */
  adopt(id: string, claim: ProcessIdentity, directory: string): void;
  stop(id: string, graceMs: number): void;
  /** Without asking. */
  kill(id: string): void;
  /** Ends the launcher; its containers run on. */
  close(): Promise<void>;
}

/** How a launcher reports to its engine. */
export interface LauncherListener {
  event(event: LauncherEvent): void;
  /** It ended without `close`. */
  lost(reason: string): void;
}
