#!/usr/bin/env bash
# A real Slurm on this machine alone, for the cluster tests. Debian, root, loopback only, no systemd.
#
#   one_node_slurm.sh start FOLDER   install what is missing, configure, start; waits until the node is idle
#   one_node_slurm.sh stop FOLDER    cancel all jobs, stop the daemons, remove the configuration
#
# It refuses to run where there is a Slurm configuration that it did not make itself, or where a daemon that it needs
# runs already. munge's key is used, or made; a line in /etc/hosts for this machine's name stays. Accounting
# (MariaDB on a socket, slurmdbd) runs too: after an outage of the controller, squeue alone would lose jobs.
set -euo pipefail

COMMAND=${1:?start or stop}
FOLDER=$(realpath -m "${2:?a folder for state, logs and process ids}")
STATE=$FOLDER/state LOGS=$FOLDER/logs PIDS=$FOLDER/pids
HOST=$(hostname -s)
MARK="# Made by tests/cluster/one_node_slurm.sh"
SOCKET=/run/mysqld/mysqld.sock
PACKAGES="munge slurmctld slurmd slurm-client slurmdbd mariadb-server"
unset SLURM_CONF # a job's steps drop it, so the configuration has to be in /etc/slurm

die() { echo "one_node_slurm.sh: $*" >&2; exit 1; }

pid_of() { # daemon: prints its process id if it is ours and alive
  local pid
  [ -e "$PIDS/$1.pid" ] || return 1
  pid=$(tr -dc 0-9 <"$PIDS/$1.pid")
  [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && echo "$pid"
}

wait_for() { # seconds, what, command...
  local tries=$(($1 * 10)) what=$2
  shift 2
  until timeout 10 "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || die "$what did not come up; see $LOGS"
    sleep 0.1
  done
}

stop_daemon() {
  local pid
  pid=$(pid_of "$1") || return 0
  kill -TERM "$pid"
  for _ in $(seq 100); do [ -d "/proc/$pid" ] || break; sleep 0.1; done
  if [ -d "/proc/$pid" ]; then kill -KILL "$pid"; fi
  rm -f "$PIDS/$1.pid"
}

stop() {
  if pid_of slurmctld >/dev/null; then
    timeout 10 scancel --user root || true
    for _ in $(seq 50); do [ -z "$(timeout 10 squeue -h)" ] && break; sleep 0.1; done
  fi
  for daemon in slurmd slurmctld slurmdbd mariadbd munged; do stop_daemon $daemon; done
  for file in slurm.conf slurmdbd.conf cgroup.conf gres.conf; do
    if ours "/etc/slurm/$file"; then rm -f "/etc/slurm/$file"; fi
  done
}

ours() { [ "$(head -n 1 "$1" 2>/dev/null)" = "$MARK" ]; }

refuse_what_is_not_ours() {
  [ "$(id -u)" = 0 ] || die "found user $(id -un), expected root"
  [ -e /etc/debian_version ] || die "found no Debian; packages are installed with apt-get"
  command -v pgrep >/dev/null || die "found no pgrep (on Debian: apt-get install procps)"
  for file in slurm.conf slurmdbd.conf cgroup.conf gres.conf; do
    if [ -e "/etc/slurm/$file" ]; then
      ours "/etc/slurm/$file" || die "found /etc/slurm/$file, which is not ours: left alone"
    fi
  done
  for daemon in munged slurmctld slurmd slurmdbd mariadbd; do
    if pgrep -x $daemon >/dev/null && ! pid_of $daemon >/dev/null; then
      die "found a running $daemon that is not ours: left alone"
    fi
  done
}

install_packages() {
  local missing=""
  for package in $PACKAGES; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if [ ! -e /usr/sbin/policy-rc.d ]; then # the packages shall not start anything themselves
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  export DEBIAN_FRONTEND=noninteractive
  timeout 300 apt-get update -q >"$LOGS/apt.log" 2>&1 || die "apt-get update failed; see $LOGS/apt.log"
  # shellcheck disable=SC2086
  timeout 900 apt-get install -y -q --no-install-recommends $missing >>"$LOGS/apt.log" 2>&1 ||
    die "apt-get install failed; see $LOGS/apt.log"
}

name_this_host() { # the daemons must find this host by its name on the loopback
  case "$(getent ahostsv4 "$HOST" | awk 'NR==1{print $1}')" in
    127.*) ;;
    *) { echo "127.0.0.1 $HOST"; cat /etc/hosts; } >"$STATE/hosts" && cat "$STATE/hosts" >/etc/hosts ;;
  esac
}

configure() {
  local memory cpus
  cpus=$(($(nproc) > 4 ? $(nproc) : 4)) # jobs that mostly wait may share a core
  memory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.85)}' /proc/meminfo)
  install -d -m 755 /etc/slurm
  install -m 644 /dev/stdin /etc/slurm/cgroup.conf <<CONF
$MARK
CgroupPlugin=autodetect
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
CONF
  install -m 644 /dev/stdin /etc/slurm/gres.conf <<CONF
$MARK
# In name only: jobs can ask for them, and find none.
AutoDetect=off
NodeName=$HOST Name=gpu File=/dev/null
NodeName=$HOST Name=gpu File=/dev/zero
CONF
  install -m 644 /dev/stdin /etc/slurm/slurm.conf <<CONF
$MARK
ClusterName=onenode
SlurmctldHost=$HOST(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
CredType=cred/munge
SlurmUser=slurm
SlurmdUser=root
MailProg=/bin/true
StateSaveLocation=$STATE/slurmctld
SlurmdSpoolDir=$STATE/slurmd
SlurmctldPidFile=$PIDS/slurmctld.pid
SlurmdPidFile=$PIDS/slurmd.pid
SlurmctldLogFile=$LOGS/slurmctld.log
SlurmdLogFile=$LOGS/slurmd.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=5
EnforcePartLimits=ALL
MinJobAge=3600
KillWait=5
ReturnToService=2
SlurmdParameters=config_overrides
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=$HOST
AccountingStorageTRES=gres/gpu
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=5
GresTypes=gpu
NodeName=$HOST NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory Gres=gpu:2 State=UNKNOWN
PartitionName=debug Nodes=$HOST Default=YES MaxTime=1-00:00:00 DefaultTime=00:30:00 State=UP
PartitionName=gpu Nodes=$HOST MaxTime=1-00:00:00 DefaultTime=00:30:00 State=UP
CONF
  install -o slurm -g slurm -m 600 /dev/stdin /etc/slurm/slurmdbd.conf <<CONF
$MARK
AuthType=auth/munge
DbdHost=$HOST
DbdAddr=127.0.0.1
CommunicationParameters=NoInAddrAny
SlurmUser=slurm
PidFile=$PIDS/slurmdbd.pid
LogFile=$LOGS/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
CONF
}

start_munge() {
  install -d -o munge -g munge -m 755 /run/munge
  install -d -o munge -g munge -m 700 /var/lib/munge /var/log/munge /etc/munge
  [ -s /etc/munge/munge.key ] || runuser -u munge -- mungekey --create --keyfile /etc/munge/munge.key
  pid_of munged >/dev/null && return 0
  rm -f /run/munge/munge.socket.2* /run/munge/munged.pid
  runuser -u munge -- /usr/sbin/munged >>"$LOGS/munged.log" 2>&1
  wait_for 10 munged test -s /run/munge/munged.pid
  cp /run/munge/munged.pid "$PIDS/munged.pid"
  wait_for 10 "munge's credentials" sh -c 'munge -n | unmunge'
}

start_accounting() {
  install -d -o mysql -g mysql -m 755 /run/mysqld
  if ! pid_of mariadbd >/dev/null; then
    if [ ! -d "$STATE/mysql/mysql" ]; then
      install -d -o mysql -g mysql -m 700 "$STATE/mysql"
      timeout 120 mariadb-install-db --no-defaults --user=mysql --datadir="$STATE/mysql" --skip-test-db \
        --auth-root-authentication-method=socket >"$LOGS/mariadb-install.log" 2>&1 || die "no data base; see $LOGS"
    fi
    touch "$LOGS/mariadbd.log"
    chown mysql "$LOGS/mariadbd.log"
    setsid /usr/sbin/mariadbd --no-defaults --user=mysql --datadir="$STATE/mysql" --skip-networking \
      --socket=$SOCKET --log-error="$LOGS/mariadbd.log" --innodb-log-file-size=64M \
      --innodb-lock-wait-timeout=900 </dev/null >>"$LOGS/mariadbd.log" 2>&1 &
    echo $! >"$PIDS/mariadbd.pid"
  fi
  wait_for 60 mariadbd mariadb --no-defaults -S $SOCKET -e 'select 1'
  mariadb --no-defaults -S $SOCKET -e "CREATE DATABASE IF NOT EXISTS slurm_acct_db;
    CREATE USER IF NOT EXISTS 'slurm'@'localhost' IDENTIFIED VIA unix_socket;
    GRANT ALL ON slurm_acct_db.* TO 'slurm'@'localhost';"
  pid_of slurmdbd >/dev/null || runuser -u slurm -- /usr/sbin/slurmdbd
  wait_for 60 slurmdbd sacctmgr -n show cluster
  [ -n "$(sacctmgr -nP show cluster onenode format=cluster)" ] || sacctmgr -iQ add cluster onenode >/dev/null
  [ -n "$(sacctmgr -nP show account tests format=account)" ] || sacctmgr -iQ add account tests >/dev/null
  [ -n "$(sacctmgr -nP show assoc user=root account=tests format=user)" ] ||
    sacctmgr -iQ add user root account=tests defaultaccount=tests >/dev/null
}

start_slurm() {
  install -d -o slurm -g slurm -m 755 "$STATE/slurmctld"
  install -d -m 755 "$STATE/slurmd"
  pid_of slurmctld >/dev/null || runuser -u slurm -- /usr/sbin/slurmctld
  wait_for 30 slurmctld sh -c 'scontrol ping | grep -q UP'
  pid_of slurmd >/dev/null || /usr/sbin/slurmd
  wait_for 60 "the node" sh -c "sinfo -h -o %T | grep -qxE 'idle|mixed|allocated'"
}

refuse_what_is_not_ours
case "$COMMAND" in
  start)
    mkdir -p "$LOGS" "$PIDS" "$STATE"
    chmod 755 "$FOLDER" "$STATE"
    install_packages
    chown slurm:slurm "$LOGS" "$PIDS" # slurmctld and slurmdbd run as this user
    name_this_host
    configure
    start_munge
    start_accounting
    start_slurm
    sinfo -o '%P %T %c CPUs %m MB'
    ;;
  stop) stop ;;
  *) die "found '$COMMAND', expected start or stop" ;;
esac
