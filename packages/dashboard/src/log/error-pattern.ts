/** What the first error of a log looks like in most programs. */
export const ERROR_PATTERN: RegExp =
  /\b(error|errors|exception|traceback|fatal|panic|failed|failure|segmentation fault|killed)\b/i;
