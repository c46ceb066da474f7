const SENSITIVE =
  /(?:pass(?:word|wd|phrase)?|token|secret|credentials?|auth|authorization|headers|cookie|webhook|e-?mail|login|username|(?:api|access|private|secret)[-_]?key|_key)$/i;

/** Whether a value of this name is probably a credential: a variable, a parameter, or a key of a file. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE.test(name);
}
