import type { ContainerService, ContainerSpec, Scope } from '@sluice/client';

/** What a container of the suite shall do, in words that any engine, also a fake one, can act out. */
export interface ContainerPlan {
  /** Written to stdout piece by piece, at once but not in one write. */
  readonly output?: readonly string[];
  /** Copies a file before anything else; only asked for where `runsCommands`. */
  readonly copy?: { readonly from: string; readonly to: string };
  /** Exit code, or to stay until it is stopped. */
  readonly end: number | 'never';
}

/** A running service with one account that the suite may use as it likes. */
export interface ServiceUnderTest {
  readonly service: ContainerService;
  /** Both concrete. */
  readonly scope: Scope;
  /** A small one; at least four containers of it must run at once. */
  readonly instanceType: string;
  /** The spec that makes a container follow `plan`; `shellSpec` where a POSIX shell runs. */
  spec(plan: ContainerPlan): ContainerSpec;
  /** Whether commands really run, so that mounts can be seen from inside. */
  readonly runsCommands: boolean;
  /** An account that exists and is not the caller's; its tests are left out where absent. */
  readonly foreignScope?: Scope;
  /** Moves the service's clock; tests of retention are left out where absent. */
  readonly advance?: (ms: number) => Promise<void>;
  close(): Promise<void>;
}

/** Gives the service to the tests of one suite, which opens it before the first and closes it after the last. */
export type UnderTest = () => ServiceUnderTest;
