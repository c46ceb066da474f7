import { describeContainerService } from '@sluice/client/contract';
import { PRINCIPAL, underContract } from '../service-rig.ts';

describeContainerService('in process, process engine', () =>
  underContract(async (rig) => rig.service.inProcess(PRINCIPAL)),
);
