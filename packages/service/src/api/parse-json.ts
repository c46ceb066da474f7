import { RequestError } from '../protocol/request-error.ts';

/** Deeper nesting does not occur in this protocol and could overflow the stack of recursive code. */
const MAX_DEPTH = 32;
/** More than the largest valid request has. Each name costs its checks, so a body full of names would delay other requests. */
const MAX_NAMES = 15_000;
const DECODER = new TextDecoder('utf-8', { fatal: true });

/** Parses a JSON body in UTF-8, with bounded depth and number of names. An empty body is undefined. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const text = DECODER.decode(bytes);
    checkSize(text);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestError('BODY_INVALID', `could not read the body because it is not JSON: ${why}`);
  }
}

/** Counts brackets and colons outside strings, before any recursive code runs on the text. */
function checkSize(text: string): void {
  let depth = 0;
  let names = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === 0x5c) i++;
      else if (c === 0x22) inString = false;
    } else if (c === 0x22) inString = true;
    else if (c === 0x5b || c === 0x7b) {
      depth++;
      if (depth > MAX_DEPTH) {
        throw new RequestError('BODY_INVALID', `could not read the body because it is nested deeper than ${MAX_DEPTH}`);
      }
    } else if (c === 0x5d || c === 0x7d) depth--;
    else if (c === 0x3a) {
      names++;
      if (names > MAX_NAMES) {
        throw new RequestError('BODY_INVALID', `could not read the body because it has more than ${MAX_NAMES} names`);
      }
    }
  }
}
