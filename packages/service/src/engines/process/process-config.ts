import type { MountsBy } from './launcher.ts';

/** Settings of the process engine. All have defaults that suit the embedded service. */
export interface ProcessConfig {
  /**
   * The program that starts containers: `native` is the compiled launcher; `shell` does the same with util-linux and `sh`,
   * more slowly. Default: `native` if it exists and the kernel is new enough (5.12), otherwise `shell`.
   */
  readonly launcher?: 'native' | 'shell';
  /** How mount points are provided. Default: by namespaces; if the machine forbids them, without. */
  readonly mountsBy?: MountsBy;
  /** Path of the compiled launcher. Default: as in docs/engines.md, "Launchers". */
  readonly launcherPath?: string;
  /** Words before the launcher's command line, for example `setpriv` with another user. Default: none. */
  readonly prefix?: readonly string[];
}
