import { listAxisFiles } from '@sluice/runner';

/** `listAxisFiles` in a module of its own, which is loaded only for the few pipelines that have such axes. */
export const listFilesOf: typeof listAxisFiles = listAxisFiles;
