#!/bin/bash
# Starts systemd on a root file system that is this machine's with a layer above it, which is gone with the process. To
# be called by `unshare` in namespaces of its own: nothing but loopback is reachable, and nothing here is changed.
#
#   boot-root.sh DIRECTORY SOURCES    DIRECTORY/guide.sh is run as root once systemd is up
set -euo pipefail
directory=$1 sources=$2
mount --make-rprivate /
layer=$directory/layer
mkdir -p "$layer" && mount -t tmpfs tmpfs "$layer"
mkdir "$layer"/{upper,work,root,sources-upper,sources-work}
root=$layer/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$root"

mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/systemd"
mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
for place in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$place"; done
chmod 1777 "$root/tmp"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root"/dev/{pts,shm}
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for number in 0 1 2; do ln -s "fd/$number" "$root/dev/$(echo stdin stdout stderr | cut -d' ' -f$((number + 1)))"; done
ip link set lo up

# Of this machine's own services none is started.
rm -rf "$root"/etc/systemd/system/*.wants
mkdir -p "$root/opt/sluice" "$root/guide"
mount -t overlay overlay -o "lowerdir=$sources,upperdir=$layer/sources-upper,workdir=$layer/sources-work" "$root/opt/sluice"
cp "$directory/installed-packages" "$root/opt/sluice/.tools/"
mount --bind "$directory" "$root/guide"
echo '127.0.0.1 localhost sluice.example.org' >"$root/etc/hosts"
cat >"$root/etc/systemd/system/guide.service" <<'UNIT'
[Service]
Type=oneshot
Environment=HOME=/root
ExecStart=/bin/bash -c '/bin/bash -euxo pipefail /guide/guide.sh >/guide/output 2>&1; echo $? >/guide/status.new; mv /guide/status.new /guide/status'
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../guide.service "$root/etc/systemd/system/multi-user.target.wants/guide.service"

cd "$root" && mkdir -p before
pivot_root . before && umount -l /before
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=other \
  /lib/systemd/systemd --system --unit=multi-user.target --log-target=null
