/** The first words of a fault that the end of the allocation caused: a client knows by them that the container is not to blame. */
export const ALLOCATION_ENDED = 'allocation ended';
