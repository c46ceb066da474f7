import type { Container } from '@sluice/client';
import type { Json } from '@sluice/core';
import { writeFile } from '../simulation/memory-files.ts';
import type { Behaviour, SimulatedService } from '../simulation/simulated-service.ts';
import type { ModelRun, Tree } from './model-file.ts';
import { describeTree, drawEnd, runProgram } from './program.ts';

/** Runs the model's program in the simulated service's containers, on the files that they mount. */
export interface Executor {
  /** Containers are of this run from now on. */
  begin(run: ModelRun): void;
  /** Whether a cell had a container in this run. */
  hasRun(step: string, cell: string): boolean;
  execute(container: Container): Behaviour['end'];
}

const RESULTS = '/sluice/results';

export function createExecutor(simulated: () => SimulatedService): Executor {
  let luck = '';
  const ran = new Set<string>();

  function readPlace(place: string): Tree {
    const [volume = '', directory = ''] = place.split(':');
    const found = new Map<string, string>();
    for (const [file, bytes] of simulated().volumes.get(volume)?.files ?? []) {
      if (file !== directory && !file.startsWith(`${directory}/`)) continue;
      found.set(file.slice(directory.length + 1), Buffer.from(bytes).toString());
    }
    return found;
  }

  /** What the container finds beneath `/in`: a mount hides what lies at its place in another. */
  function readInputs(mounts: readonly (readonly [string, string])[]): Tree {
    const found = new Map<string, string>();
    const inputs = mounts.filter(([, at]) => at.startsWith('/in/')).sort(([, a], [, b]) => a.length - b.length);
    for (const [place, at] of inputs) {
      for (const file of [...found.keys()]) if (file.startsWith(`${at}/`)) found.delete(file);
      for (const [file, text] of readPlace(place)) found.set(file === '' ? at : `${at}/${file}`, text);
    }
    return found;
  }

  function readWord(word: string): Json {
    if (!word.startsWith('@')) return word;
    const places = word.startsWith('@[') ? (JSON.parse(word.slice(1)) as (string | null)[]) : [word.slice(1)];
    return ['@', ...places.map((place) => describeTree(place === null ? new Map() : readPlace(place)))];
  }

  function write(place: string, file: string, text: string): void {
    const [volume = '', directory = ''] = place.split(':');
    writeFile(simulated().volumes.get(volume)!, `${directory}/${file}`, Buffer.from(text));
  }

  return {
    begin(run) {
      luck = run.luck;
      ran.clear();
    },
    hasRun: (step, cell) => ran.has(`${step}/${cell}`),
    execute({ command = [], labels = {}, volumeMounts = {} }) {
      const [step = '', cell = '', attempt] = ['step', 'cell', 'attempt'].map((name) => labels[`sluice-${name}`]);
      ran.add(`${step}/${cell}`);
      const mounts = Object.entries(volumeMounts);
      const outputs = mounts.filter(([, at]) => at.startsWith('/out/'));
      const end = drawEnd(luck, { step, cell, attempt: Number(attempt) });
      if (end !== 'Succeeded') {
        for (const [place] of outputs) write(place, 'data', 'a part');
        return end;
      }
      const names = outputs.map(([, at]) => at.slice('/out/'.length));
      const made = runProgram(command.map(readWord), readInputs(mounts), names);
      for (const [place, at] of outputs) {
        for (const [file, text] of made.outputs.get(at.slice('/out/'.length))!) write(place, file, text);
      }
      const results = mounts.find(([, at]) => at === RESULTS);
      for (const [name, value] of Object.entries(made.results)) write(results![0], name, JSON.stringify(value));
      return end;
    },
  };
}
