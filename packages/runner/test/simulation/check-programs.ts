import { createHash } from 'node:crypto';
import type { Container } from '@sluice/client';
import type { Plan } from '@sluice/core';
import type { JournalEvidence } from './journal-evidence.ts';
import { listText, meantCells } from './listed-parts.ts';
import { writeFile } from './memory-files.ts';
import type { SimulatedService } from './simulated-service.ts';
import type { StepScript } from './step-script.ts';

/** What a program does when it starts, and at its end if it succeeds. */
export interface Program {
  begin(container: Container): void;
  work(container: Container): void;
}

/** Knows what each program read and wrote, and what no run may make of it. */
export interface ProgramChecker {
  /** Writes a hash of everything that it was given; with `spoils`, it writes to what it was given to read. */
  program(spoils?: boolean): Program;
  /** Looks at what a container is given. */
  onCreated(
    id: string,
    made: { readonly container: Container; readonly step: number; readonly now: JournalEvidence },
  ): void;
  /** Looks at what is newly published: none of it may be made of changed inputs. */
  onEvidence(now: JournalEvidence): void;
  /** Whether a program wrote to a file that it was given to read. */
  isSpoiled(volume: string, file: string): boolean;
}

export interface ProgramCheckerOptions {
  readonly plan: Plan;
  readonly simulated: () => SimulatedService;
  /** What was decided on before is asked for again by a later runner, whatever has changed: only its publishing is rejected. */
  readonly isResumed?: boolean;
}

/** A file that a container is given at `/in`. */
interface GivenFile {
  readonly volume: string;
  readonly file: string;
  /** As the program sees it. */
  readonly at: string;
  readonly text: string;
  readonly isPrivate: boolean;
}

/** Creates a `ProgramChecker`. */
export function createProgramChecker(
  { plan, simulated, isResumed = false }: ProgramCheckerOptions,
  claim: (holds: boolean, message: () => string) => void,
): ProgramChecker {
  /** What each program wrote and read, by `step/cell/attempt` with names. */
  const written = new Map<string, string>();
  const readFirst = new Map<string, ReadonlySet<string>>();
  const readLast = new Map<string, ReadonlySet<string>>();
  /** What it wrote to its private copies, by file. */
  const ownCopies = new Map<string, ReadonlyMap<string, string>>();
  /** Who wrote to a file that it was given to read, by volume and file, with numbers as in the journal. */
  const spoilers = new Map<string, Set<string>>();
  const guilty = new Set<string>();
  const judged = new Set<string>();

  function begin(container: Container, spoils: boolean): void {
    const name = nameOf(container);
    const given = readInputs(container, simulated());
    readFirst.set(name, linesOf(given));
    const own = new Map<string, string>();
    for (const one of given) {
      if (!one.isPrivate && !spoils) continue;
      // As long as before: only its time and its content tell that it is another.
      const text = `${one.text.slice(1)}!`;
      writeFile(simulated().volumes.get(one.volume)!, one.file, Buffer.from(text));
      if (one.isPrivate) own.set(one.file, text);
      else {
        const key = `${one.volume}:${one.file}`;
        spoilers.set(key, (spoilers.get(key) ?? new Set()).add(numbersOf(container)));
        guilty.add(name);
      }
    }
    ownCopies.set(name, own);
  }

  function work(container: Container): void {
    const name = nameOf(container);
    const given = readInputs(container, simulated());
    readLast.set(name, linesOf(given.filter(({ isPrivate }) => !isPrivate)));
    const found = new Map(given.map(({ file, text }) => [file, text]));
    for (const [file, text] of ownCopies.get(name) ?? []) {
      claim(found.get(file) === text, () => `${name} found ${file} changed, which is its private copy`);
    }
    const text = digest(container, readFirst.get(name) ?? new Set());
    written.set(name, text);
    writeOutput(container, simulated(), text);
  }

  /** What the durable winners among the producers of a cell wrote, as the cell sees it. */
  function wantedOf(step: number, reader: string, now: JournalEvidence) {
    return Object.values(plan.steps[step]!.step.inputs).flatMap(({ from, path, writable }) => {
      const producer = plan.steps.find((planned) => 'step' in from && planned.step.name === from.step)!;
      return meantCells(plan.steps[step]!, reader, producer).cells.flatMap(({ key, cell, name }) => {
        const [winner] = now.winners.get(`${producer.index}/${cell}`) ?? [];
        const text = winner && written.get(`${producer.step.name}/${key}/${winner}`);
        return text ? [{ at: [path, name, 'data'].filter(Boolean).join('/'), text, isPrivate: writable === true }] : [];
      });
    });
  }

  /**
   * Whether the runner may not yet have known of any change of the file when it decided on the container: an attempt's
   * inputs are compared after its end, and until then its slots may have gone to the next one.
   */
  function mayBeSpoiled(id: string, { volume, file }: GivenFile, { records, cellOf }: JournalEvidence): boolean {
    const wrote = spoilers.get(`${volume}:${file}`);
    if (!wrote || isResumed) return wrote !== undefined;
    const intent = records.findIndex((record) => record.kind === 'intent' && record.id === id);
    return !records.slice(0, intent).some((record) => {
      if (record.kind !== 'event') return false;
      const { event } = record;
      const isCompared = event.type === 'published' || (event.type === 'ended' && event.outcome.result !== 'succeeded');
      return isCompared && wrote.has(`${event.step}/${cellOf(event.step, event.cell)}/${event.attempt}`);
    });
  }

  /** The cell's numbers in the plan and the attempt, as the journal has them. */
  function numbersOf({ labels = {} }: Container): string {
    const step = plan.steps.findIndex((planned) => planned.step.name === labels['sluice-step']);
    const cell = plan.steps[step]?.cells?.findIndex(({ key }) => key === labels['sluice-cell']) ?? -1;
    return `${step}/${cell}/${labels['sluice-attempt']}`;
  }

  function checkPublished(
    step: number,
    { cell, attempt }: { cell: string; attempt: number },
    now: JournalEvidence,
  ): void {
    const name = `${plan.steps[step]!.step.name}/${cell}/${attempt}`;
    claim(!guilty.has(name), () => `${name} was published, although it changed what it was given to read`);
    const [first, last] = [readFirst.get(name), readLast.get(name)];
    for (const { at, text, isPrivate } of wantedOf(step, cell, now)) {
      const isRead = !first || (first.has(`${at}=${text}`) && (isPrivate || !last || last.has(`${at}=${text}`)));
      claim(isRead, () => `${name} was published, although ${at} was not what its producer wrote`);
    }
  }

  return {
    program: (spoils = false) => ({ begin: (container) => begin(container, spoils), work }),
    onCreated(id, { container, step, now }) {
      const given = new Map(readInputs(container, simulated()).map((one) => [one.at, one]));
      const wanted = wantedOf(step, container.labels?.['sluice-cell'] ?? '', now);
      for (const at of given.keys()) {
        claim(
          wanted.some((one) => one.at === at),
          () => `${id} finds ${at}, which nobody published for it`,
        );
      }
      for (const { at, text } of wanted) {
        const found = given.get(at);
        const isRight = found?.text === text || (found && !found.isPrivate && mayBeSpoiled(id, found, now));
        claim(
          isRight === true,
          () => `${id} mounts ${found?.file ?? 'nothing'} at ${at}, which is not what was published`,
        );
      }
    },
    onEvidence(now) {
      for (const [cell, attempts] of now.winners) {
        for (const attempt of attempts) {
          if (judged.has(`${cell}/${attempt}`)) continue;
          judged.add(`${cell}/${attempt}`);
          const [step = 0, number = 0] = cell.split('/').map(Number);
          checkPublished(step, { cell: plan.steps[step]!.cells?.[number]?.key ?? '', attempt }, now);
        }
      }
    },
    isSpoiled: (volume, file) => spoilers.has(`${volume}:${file}`),
  };
}

/** A program that finds out whether what it is given was made as the plan says. */
export function createLaterProgram(
  { plan, simulated }: ProgramCheckerOptions,
  claim: (holds: boolean, message: () => string) => void,
): Pick<Program, 'work'> {
  return {
    work(container) {
      const text = digest(container, linesOf(readInputs(container, simulated())));
      const wanted = expectedOutput(
        plan,
        container.labels?.['sluice-step'] ?? '',
        container.labels?.['sluice-cell'] ?? '',
      );
      claim(wanted === undefined || text === wanted, () => `${container.id} reads what an earlier run has changed`);
      writeOutput(container, simulated(), text);
    },
  };
}

/** The output of a cell that has nothing to read. */
export const SKIPPED = 'skipped';

/** What a cell's output must be; undefined where a failed dependency makes that a matter of luck. */
export function expectedOutput(plan: Plan, name: string, cell: string): string | undefined {
  const planned = plan.steps.find(({ step }) => step.name === name)!;
  const lines: string[] = [];
  for (const { on, data } of planned.dependencies) {
    // Without axes, whatever is skipped skips the whole step.
    if (!data && plan.axes === undefined) continue;
    const producer = plan.steps[on]!;
    if (producer.step.continueOnError) return undefined;
    const meant = meantCells(planned, cell, producer).cells;
    const made = meant.map(({ key }) => expectedOutput(plan, producer.step.name, key));
    if (made.includes(undefined)) return undefined;
    if (made.every((text) => text === SKIPPED)) return SKIPPED;
    const { path } =
      Object.values(planned.step.inputs).find(({ from }) => 'step' in from && from.step === producer.step.name) ?? {};
    if (path === undefined) continue;
    for (const [index, { name: at }] of meant.entries()) {
      if (made[index] !== SKIPPED) lines.push(`${path}${at === '' ? '' : `/${at}`}/data=${made[index]}`);
    }
  }
  return digestLines(name, cell, lines);
}

function readInputs(container: Container, { volumes }: SimulatedService): GivenFile[] {
  const given: GivenFile[] = [];
  for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
    if (!at.startsWith('/in/')) continue;
    const [volume = '', path = ''] = key.split(':');
    for (const [file, bytes] of volumes.get(volume)?.files ?? []) {
      if (!file.startsWith(`${path}/`) || !file.endsWith('/data')) continue;
      const isPrivate = /^runs\/[^/]+\/private\//.test(path);
      given.push({ volume, file, at: at + file.slice(path.length), text: Buffer.from(bytes).toString(), isPrivate });
    }
  }
  return given;
}

function writeOutput(container: Container, { volumes }: SimulatedService, text: string): void {
  for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
    const [volume = '', path = ''] = key.split(':');
    if (at === '/out') writeFile(volumes.get(volume)!, `${path}/data`, Buffer.from(text));
  }
}

/** Writes the result of a step that lists parts. */
export function writeList(script: StepScript, container: Container, { volumes }: SimulatedService): void {
  const text = listText(script, container.labels?.['sluice-cell'] ?? '');
  for (const [key, at] of Object.entries(container.volumeMounts ?? {})) {
    const [volume = '', path = ''] = key.split(':');
    if (at === '/sluice/results') writeFile(volumes.get(volume)!, `${path}/parts`, Buffer.from(text));
  }
}

function linesOf(given: readonly GivenFile[]): ReadonlySet<string> {
  return new Set(given.map(({ at, text }) => `${at}=${text}`));
}

function nameOf({ labels = {} }: Container): string {
  return `${labels['sluice-step']}/${labels['sluice-cell']}/${labels['sluice-attempt']}`;
}

function digest({ labels = {} }: Container, lines: ReadonlySet<string>): string {
  return digestLines(labels['sluice-step'] ?? '', labels['sluice-cell'] ?? '', [...lines]);
}

function digestLines(step: string, cell: string, lines: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([step, cell, [...lines].sort()]))
    .digest('hex')
    .slice(0, 16);
}
