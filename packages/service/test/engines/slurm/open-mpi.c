/* Adds up a number of each task by Open MPI. Declares what it uses, because only the library is installed. */
#include <stdio.h>

extern char ompi_mpi_comm_world[], ompi_mpi_int[], ompi_mpi_op_sum[];
int MPI_Init(int *, char ***);
int MPI_Comm_rank(void *, int *);
int MPI_Comm_size(void *, int *);
int MPI_Allreduce(const void *, void *, int, void *, void *, void *);
int MPI_Finalize(void);

int main(int argc, char **argv) {
  int rank, size, sum = 0;
  if (MPI_Init(&argc, &argv) != 0) return 2;
  MPI_Comm_rank(ompi_mpi_comm_world, &rank);
  MPI_Comm_size(ompi_mpi_comm_world, &size);
  int own = 10 * rank;
  if (MPI_Allreduce(&own, &sum, 1, ompi_mpi_int, ompi_mpi_op_sum, ompi_mpi_comm_world) != 0) return 3;
  printf("%d of %d: %d\n", rank, size, sum);
  return MPI_Finalize();
}
