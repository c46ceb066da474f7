import { describeContainerService } from '@sluice/client/contract';
import { reachByHttp, reachBySocket, underContract } from '../service-rig.ts';

describeContainerService('over HTTP on loopback', () => underContract(reachByHttp));
describeContainerService('over a unix socket', () => underContract(reachBySocket));
