import type { MountsBy } from './launcher.ts';

/** Settings of the process engine. All have defaults that suit the embedded service. */
export interface ProcessConfig {
  /**
   * Which program starts containers: `native` is the compiled launcher, `shell` does the same with util-linux and `sh`,
   * slower. Default: `native` where it is there and the kernel is new enough (5.12), else `shell`.
   */
  readonly launcher?: 'native' | 'shell';
  /** How mount points are provided. Default: by namespaces, and without them where the machine forbids namespaces. */
  readonly mountsBy?: MountsBy;
  /** Path of the compiled launcher. Default: as in docs/engines.md, "Launchers". */
  readonly launcherPath?: string;
  /** Words put before the launcher's command line, for example `setpriv` with another user. Default: none. */
  readonly prefix?: readonly string[];
}
