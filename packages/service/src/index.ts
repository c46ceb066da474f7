export { openUserDirectory, type User, type UserDirectory } from './accounts/user-directory.ts';
export { type Clock, systemClock } from './clock.ts';
export type { ConfigEdit, ConfigFields, EditResult } from './config/edit-config.ts';
export { editConfigFile } from './config/edit-config-file.ts';
export { EMBEDDED_SCOPE, embeddedConfig } from './config/embedded-config.ts';
export { type ConfigProblem, type ConfigResult, parseServiceConfig } from './config/parse-service-config.ts';
export type { ReloadReport } from './config/reload-config.ts';
export { type ServiceConfig, type ServiceConfigInput, serviceConfigSchema } from './config/service-config.ts';
export { createServiceLog } from './create-service-log.ts';
export { type EngineProbe, probeEngines } from './engines/probe-engines.ts';
export { authorityPath } from './proxy/open-port-proxy.ts';
export {
  createService,
  type EngineFactory,
  type ListenAddress,
  type ListenOptions,
  type Principal,
  type Service,
  type ServiceOptions,
} from './service.ts';
export { StoreInUseError } from './store/store-lock.ts';
