export { type Backoff, backoffDelay } from './backoff-delay.ts';
export type {
  CallOptions,
  ChangeHint,
  ContainerService,
  Containers,
  Discovery,
  LogCut,
  LogFile,
  PageOptions,
  Ref,
  ResolveOptions,
  Scope,
  Volumes,
} from './container-service.ts';
export { describeIssue } from './describe-issue.ts';
export type { Api, ApiCall } from './http/api.ts';
export { type Clock, systemClock } from './http/clock.ts';
export { createHttpConnection, createHttpService, type HttpConnection } from './http/http-service.ts';
export type {
  Credentials,
  HttpServiceAddress,
  HttpServiceOptions,
  Login,
  ServiceReply,
  ServiceWait,
  Timeouts,
} from './http/http-service-options.ts';
export { obtainToken } from './http/obtain-token.ts';
export { createLogReading, type KnownLog, type LogReading } from './log-reading.ts';
export {
  bytesToName,
  decodeName,
  encodeName,
  isByteName,
  nameOnDisk,
  nameToBytes,
  printableName,
} from './name-bytes.ts';
export { own } from './own.ts';
export { isServiceError, ServiceError, type ServiceErrorCode } from './service-error.ts';
export type { FileEntry, VolumeFiles } from './volume-files.ts';
export { createWebDavFiles, type WebDavFilesOptions } from './webdav/webdav-files.ts';
export { type Account, accountListSchema, accountSchema } from './wire/account.ts';
export {
  CONTAINER_PHASES,
  type Container,
  type ContainerListItem,
  type ContainerSpec,
  containerListItemSchema,
  containerPageSchema,
  containerSchema,
  isTerminalPhase,
  type KnownContainerPhase,
  type Port,
  portSchema,
} from './wire/container.ts';
export { type ErrorBody, errorBodySchema } from './wire/error-body.ts';
export { identifierSchema } from './wire/identifier.ts';
export { type ResolvedImage, resolvedImageSchema } from './wire/image.ts';
export {
  FEATURES,
  type Feature,
  type InstanceType,
  instanceTypeListSchema,
  instanceTypeSchema,
} from './wire/instance-type.ts';
export {
  JOB_FEATURES,
  JOB_LABEL,
  type JobRequest,
  jobRequestSchema,
  LONGEST_JOB_MS,
  PULL_POLICIES,
  ULIMITS,
} from './wire/job-request.ts';
export { renderLogCut } from './wire/log-cut.ts';
export { QUEUE_LABEL } from './wire/queue-label.ts';
export { SECRET_ENVS_LABEL } from './wire/secret-envs.ts';
export {
  type KnownVolumePhase,
  VOLUME_PHASES,
  type Volume,
  type VolumeService,
  volumePageSchema,
  volumeSchema,
  volumeServiceSchema,
} from './wire/volume.ts';
export { WRITABLE_MOUNTS_LABEL } from './wire/writable-mounts.ts';
