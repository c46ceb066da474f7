import { EngineError } from './engine.ts';

/** The grammar of the reference implementation (distribution/reference), except for IPv6 hosts. */
const HOST_NAME = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const HOST = `${HOST_NAME}(?:\\.${HOST_NAME})*(?::[0-9]+)?`;
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,}';
const IMAGE_NAME = new RegExp(`^(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*(?::${TAG})?(?:@${DIGEST})?$`);

/** Throws `EngineError` `REJECTED` for an invalid image name. */
export function checkImageName(image: string): void {
  if (IMAGE_NAME.test(image)) return;
  const why =
    'it is no reference to an image, as registry.example.org/team/name:tag or name@sha256:… are; names are lower-case';
  throw new EngineError('REJECTED', `could not use '${image}' as the name of an image: ${why}`);
}

/** Like `checkImageName`, for Podman's own command, which also accepts other sources such as `docker-archive:/path`. */
export function checkPodmanImage(image: string): void {
  if (!/^[a-z][a-z-]*:\//.test(image)) checkImageName(image);
}
