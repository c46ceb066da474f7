/* Passes a number from each task to all others through the server of PMI, as libraries for MPI do to connect them. */
#include <slurm/pmi2.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int spawned, size, rank, application, sum = 0;
  char key[32], value[32];
  if (PMI2_Init(&spawned, &size, &rank, &application) != PMI2_SUCCESS) return 2;
  snprintf(key, sizeof key, "of-%d", rank);
  snprintf(value, sizeof value, "%d", 10 * rank);
  if (PMI2_KVS_Put(key, value) != PMI2_SUCCESS || PMI2_KVS_Fence() != PMI2_SUCCESS) return 3;
  for (int other = 0; other < size; other++) {
    int length;
    snprintf(key, sizeof key, "of-%d", other);
    if (PMI2_KVS_Get(NULL, PMI2_ID_NULL, key, value, sizeof value, &length) != PMI2_SUCCESS) return 4;
    sum += atoi(value);
  }
  printf("%d of %d: %d\n", rank, size, sum);
  return PMI2_Finalize() == PMI2_SUCCESS ? 0 : 5;
}
