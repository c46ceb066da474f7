/** Digests of images as they were when the run began, by cluster and then by the image as the step names it. */
export type ImageDigests = Readonly<Record<string, Readonly<Record<string, string>>>>;
