/** What one engine can do on this machine. */
export interface EngineProbe {
  readonly engine: string;
  readonly works: boolean;
  /** What was found, or why the engine cannot work. */
  readonly found: string;
  /** Limits that were found, one a line. */
  readonly limits?: readonly string[];
  /** What to do where it does not work. */
  readonly advice?: string;
}
