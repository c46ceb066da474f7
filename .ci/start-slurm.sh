#!/usr/bin/env bash
# Usage: start-slurm.sh [NUMBER]   (of the cluster; default 1)
# Installs Slurm, Munge, Charliecloud and Podman from Debian's packages where they are missing, starts one controller and
# three nodes on this machine, without systemd. Makes a user who has the test image of .ci/start-docker.sh (which must
# have run before) in a Podman of the user's own, and a second one, whom the tests let attack the jobs of others.
# Clusters with other numbers share only the users, so that tests that kill daemons can run beside others.
# Idempotent. Prints the environment that the engine tests read.
set -euo pipefail

number=${1:-1}
state=${SLUICE_TEST_STATE:-/tmp/sluice-slurm}
[ "$number" = 1 ] || state=$state-$number
ports=$((16717 + 100 * number))
docker=${SLUICE_TEST_DOCKER_SOCKET:-/tmp/sluice-docker/docker.sock}
user=sluice-hpc
other=sluice-other

missing() { ! command -v "$1" >/dev/null; }
if missing slurmctld || missing munged || missing slurmd || missing ch-run || missing busybox ||
  missing podman || missing newuidmap || [ ! -r /etc/profile.d/modules.sh ] ||
  ! python3 -c 'import venv' 2>/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends slurm-wlm munge charliecloud busybox-static \
    podman uidmap environment-modules python3-venv >&2
fi

mkdir -p "$state"/{ctld,log,run}
host=$(hostname -s)
conf=$state/slurm.conf
cat >"$conf" <<CONF
ClusterName=sluice
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$state/run/munge.socket
CryptoType=crypto/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=2,batch_sched_delay=0,sched_min_interval=50000
GresTypes=gpu
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$state/ctld
SlurmctldPort=$ports
SlurmctldPidFile=$state/run/slurmctld.pid
SlurmdPidFile=$state/run/slurmd-%n.pid
SlurmdSpoolDir=$state/spool-%n
SlurmctldLogFile=$state/log/slurmctld.log
SlurmdLogFile=$state/log/slurmd-%n.log
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=2
MinJobAge=30
MaxJobCount=20000
InactiveLimit=0
JobCompType=jobcomp/filetxt
JobCompLoc=$state/log/jobs.txt
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((ports + 4)) CPUs=4 RealMemory=4000 Gres=gpu:2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((ports + 5)) CPUs=4 RealMemory=4000
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((ports + 6)) CPUs=4 RealMemory=4000
PartitionName=main Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=second Nodes=n1,n2,n3 MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=urgent Nodes=n1,n2,n3 MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
CONF
# Devices that do nothing in the place of graphics cards: Slurm hands them out as it does the real ones.
for card in 0 1; do [ -c "$state/gpu$card" ] || mknod "$state/gpu$card" c 1 3; done
echo "NodeName=n1 Name=gpu File=$state/gpu[0-1]" >"$state/gres.conf"
# Each node has a configuration of its own, with a directory of its own for the plugin of PMIx: all are one machine.
cat >"$state/start-node" <<'START'
#!/bin/sh
# Starts the daemon of a node: `start-node n1`.
state=${0%/*} conf=${0%/*}/conf-$1
mkdir -p "$state/spool-$1" "$state/pmix-$1" "$conf"
ln -sf ../slurm.conf ../gres.conf "$conf/"
echo "PMIxCliTmpDirBase=$state/pmix-$1" >"$conf/mpi.conf"
exec slurmd -N "$1" -f "$conf/slurm.conf"
START
chmod +x "$state/start-node"
export SLURM_CONF=$conf

# Whether the process of a pid file is the program that wrote it: numbers are used again.
alive() { [ -s "$1" ] && [ "$(cat "/proc/$(cat "$1")/comm" 2>/dev/null)" = "$2" ]; }

if ! alive "$state/run/munged.pid" munged; then
  # Munge insists on directories and a key that only its own user can write.
  [ -s "$state/munge.key" ] || dd if=/dev/urandom of="$state/munge.key" bs=1024 count=1 status=none
  chmod 400 "$state/munge.key"
  rm -f "$state/run/munge.socket"*
  munged --force --socket="$state/run/munge.socket" --key-file="$state/munge.key" --pid-file="$state/run/munged.pid" \
    --seed-file="$state/run/munge.seed" --log-file="$state/log/munged.log" >&2
fi
alive "$state/run/slurmctld.pid" slurmctld || slurmctld -c >&2
for node in n1 n2 n3; do
  alive "$state/run/slurmd-$node.pid" slurmd || "$state/start-node" "$node" >&2
done

for _ in $(seq 60); do
  [ "$(sinfo -h -t idle,mix,alloc -o '%D' 2>/dev/null | sort -n | tail -1)" = 3 ] && break
  sleep 0.5
done
if [ "$(sinfo -h -t idle,mix,alloc -o '%D' | sort -n | tail -1)" != 3 ]; then
  echo "Slurm's three nodes did not come up:" >&2
  sinfo >&2 || true
  tail -20 "$state"/log/*.log >&2
  exit 1
fi

# Debian's useradd gives the subordinate users that a Podman without root needs.
id "$user" >/dev/null 2>&1 || useradd --create-home "$user"
id "$other" >/dev/null 2>&1 || useradd --create-home "$other"
as_user() { (cd / && setpriv --reuid="$user" --regid="$user" --init-groups env -i PATH="$PATH" HOME="/home/$user" "$@"); }
if ! as_user podman image exists sluice-test:1 2>/dev/null; then
  # Its state may be of before the machine was last started.
  as_user podman system migrate >&2 || true
  curl -sf --unix-socket "$docker" http://localhost/images/sluice-test:1/get | as_user podman load -q >&2
fi

echo "SLURM_CONF=$conf"
echo "SLUICE_TEST_SLURM=1"
echo "SLUICE_TEST_SLURM_STATE=$state"
echo "SLUICE_TEST_SLURM_USER=$user"
echo "SLUICE_TEST_SLURM_OTHER=$other"
