/** Digests of images when the run began, by cluster and then by the image's name in the step. */
export type ImageDigests = Readonly<Record<string, Readonly<Record<string, string>>>>;
