/* Opens the source of a mount: a volume, or a file or directory that no link leads out of it. */
#define _GNU_SOURCE
#include "mount-source.h"
#include "container-record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int open_mount_source(const struct mount_request *mount) {
  int root = open(mount->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) reject_for(errno, "could not open the volume at '%s': %s", mount->root, strerror(errno));
  int source = root;
  if (mount->sub_path[0] != '\0') {
    source = sys_open_beneath(root, mount->sub_path, O_PATH);
    if (source < 0 && errno == EXDEV) reject("could not mount '%s': it leads out of its volume", mount->sub_path);
    if (source < 0) reject_for(errno, "could not mount '%s' of a volume: %s", mount->sub_path, strerror(errno));
  }
  struct stat status;
  if (fstat(source, &status) != 0) reject("could not look at '%s': %s", mount->sub_path, strerror(errno));
  if (mount->is_file ? !S_ISREG(status.st_mode) : !S_ISDIR(status.st_mode))
    reject("could not mount '%s' at '%s': it is not a %s", mount->sub_path, mount->target, mount->is_file ? "file" : "directory");
  if (source != root) close(root);
  return source;
}
