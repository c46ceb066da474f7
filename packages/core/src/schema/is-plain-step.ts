import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { DURATION, EDGE, IDENTIFIER, IMAGE, MOUNT_POINT, NAME, TEXT, VARIABLE } from './patterns.ts';

/**
 * Whether a step has only the simplest forms, which `stepSchema` certainly accepts; a test keeps the two consistent.
 * The schema takes six microseconds per step and as much again for garbage collection, this function half of one, and a
 * generated pipeline has a hundred thousand such steps. All other steps are left to the schema.
 */
export function isPlainStep(name: string, step: Json | undefined): boolean {
  if (!NAME.test(name) || !isMap(step)) return false;
  for (const key in step) {
    const accepts = Object.hasOwn(ACCEPTS, key) ? own(ACCEPTS, key) : undefined;
    if (accepts === undefined || !accepts(step[key])) return false;
  }
  return true;
}

type Test = (value: Json | undefined) => boolean;

const isText: Test = (value) => typeof value === 'string' && TEXT.test(value);
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);
const isMatching =
  (pattern: RegExp): Test =>
  (value) =>
    isText(value) && pattern.test(value as string);
const isMapOf =
  (key: RegExp, accepts: Test): Test =>
  (value) => {
    if (!isMap(value)) return false;
    for (const name in value) if (!key.test(name) || !accepts(value[name])) return false;
    return true;
  };
const isName = isMatching(NAME);

const ACCEPTS: Readonly<Record<string, Test>> = {
  description: isText,
  image: isMatching(IMAGE),
  command: (value) => isText(value) || isTexts(value),
  script: isText,
  env: isMapOf(VARIABLE, isText),
  inputs: isMapOf(IDENTIFIER, isMatching(EDGE)),
  outputs: isMapOf(IDENTIFIER, isMatching(MOUNT_POINT)),
  needs: (value) => Array.isArray(value) && value.every(isName),
  instanceType: isText,
  timeout: isMatching(DURATION),
  cache: (value) => typeof value === 'boolean',
  priority: (value) => Number.isSafeInteger(value),
};

function isMap(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
