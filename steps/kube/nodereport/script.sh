#!/bin/sh
# Reads, on a node, what may write to the cluster or to the node unasked, and
# prints it. It changes nothing: it lists, reads and hashes, and writes no file.
# Run it as root, or what is not yours stays unread:
#
#   handrail step script kube/node-report > node-report.sh
#   ssh NODE 'sudo sh -s' < node-report.sh > NODE.report
#
# The end of what it prints says how long it is, so that a part that is lost on
# the way is noticed.
set -u
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
unset IFS CDPATH ENV
NL='
'

# have PROGRAM: whether it is there.
have() { command -v "$1" >/dev/null 2>&1; }

# plain: one line of printable text without the sign between fields.
plain() { tr '\011\012\015' '   ' | tr -c ' -~' '?' | tr '|' '!' | cut -c 1-400; }

# item SECTION NAME DETAIL HASH
item() {
	printf 'item|%s|%s|%s|%s\n' "$1" "$(printf %s "$2" | plain)" "$(printf %s "$3" | plain)" "$4"
}

# unread SECTION WHY: something there could not be looked at.
unread() { printf 'unread|%s|%s\n' "$1" "$(printf %s "$2" | plain)"; }

# section NAME: it was looked through to its end.
section() { printf 'done|%s\n' "$1"; }

if have sha256sum; then
	sum() { sha256sum | cut -c 1-16; }
else
	sum() { cksum | tr -d ' ' | cut -c 1-16; }
fi

# of FILE...: the hash of what is in them, unread where one cannot be read.
of() {
	for f in "$@"; do
		if [ ! -r "$f" ]; then
			echo unread
			return
		fi
	done
	cat -- "$@" 2>/dev/null </dev/null | sum
}

# changed FILE: when it was written last.
changed() { stat -c '%y %U %a' -- "$1" 2>/dev/null | cut -c 1-60; }

# lines FILE: what in it is no comment.
lines() { grep -v -e '^[[:space:]]*#' -e '^[[:space:]]*$' -- "$1" 2>/dev/null | head -n 20 | tr '\n' ';'; }

# file SECTION KIND FILE: one file as an item, or what is in a folder.
file() {
	if [ -f "$3" ]; then
		h=$(of "$3")
		[ "$h" = unread ] && unread "$1" "$3 cannot be read"
		item "$1" "$2 $3" "$(changed "$3") $(lines "$3")" "$h"
	elif [ -d "$3" ]; then
		if [ ! -r "$3" ] || [ ! -x "$3" ]; then
			unread "$1" "$3 cannot be listed"
			return
		fi
		# A name with a line break would be two, so it is told and not read.
		for f in "$3"/* "$3"/.[!.]*; do
			case $f in
			*"$NL"*) unread "$1" "$3 has a name with a line break" ;;
			*) [ -f "$f" ] && file "$1" "$2" "$f" ;;
			esac
		done
	elif [ -e "$3" ] || [ -L "$3" ]; then
		unread "$1" "$3 is no file"
	fi
	return 0
}

# value UNIT KEY
value() { systemctl show -p "$2" --value -- "$1" 2>/dev/null; }

# unit SECTION KIND UNIT: a unit with its files, their hash and what it runs.
unit() {
	files="$(value "$3" FragmentPath) $(value "$3" DropInPaths)"
	# shellcheck disable=SC2086 # the paths of units have no spaces
	set -- "$1" "$2" "$3" $files
	s=$1 k=$2 u=$3
	shift 3
	started=$(value "$u" Unit)
	if [ "$k" = timer ] && [ -n "$started" ]; then
		for f in $(value "$started" FragmentPath) $(value "$started" DropInPaths); do
			set -- "$@" "$f"
		done
		runs=$(value "$started" ExecStart)
	else
		runs=$(value "$u" ExecStart)
	fi
	h=transient
	[ $# -gt 0 ] && h=$(of "$@")
	when=$(value "$u" TimersCalendar)$(value "$u" TimersMonotonic)
	# What a unit did last changes from hour to hour and is no part of it.
	runs=$(printf %s "$runs" | sed 's/ ; ignore_errors=.*//')
	item "$s" "$k $u" "$(value "$u" ActiveState) $when $runs $*" "$h"
}

timers() {
	if [ ! -d /run/systemd/system ]; then
		section timers
		return
	fi
	if ! have systemctl; then
		unread timers 'systemd runs here, and systemctl is not there'
		return
	fi
	if ! all=$(systemctl list-units --type=timer --all --plain --no-legend --no-pager 2>/dev/null); then
		unread timers 'systemctl does not answer'
		return
	fi
	for u in $(printf '%s\n' "$all" | tr -d '*' | sed 's/^ *//' | cut -d ' ' -f 1); do
		unit timers timer "$u"
	done
	for home in /root /home/*; do
		file timers user-timer "$home/.config/systemd/user"
	done
	section timers
}

cron() {
	for f in /etc/crontab /etc/anacrontab /etc/cron.d /etc/cron.hourly /etc/cron.daily /etc/cron.weekly /etc/cron.monthly \
		/var/spool/cron /var/spool/cron/crontabs /var/spool/cron/tabs /var/spool/cron/atjobs /var/spool/at /etc/periodic; do
		file cron file "$f"
	done
	section cron
}

# flags PID: parent and flags of a process, from what follows its name, which may
# hold anything.
flags() {
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	rest=${stat##*) }
	# shellcheck disable=SC2086 # numbers
	set -- $rest
	[ $# -gt 7 ] || return 1
	case $2$7 in *[!0-9]*) return 1 ;; esac
	parent=$2
	kernel=$(($7 & 2097152))
}

processes() {
	if [ ! -r /proc/self/stat ]; then
		unread processes '/proc is not there'
		return
	fi
	hidden=0
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		parent='' kernel=0
		flags "$pid" || continue # it has ended
		name=$(cat "$dir/comm" 2>/dev/null) || continue
		exe=$(readlink "$dir/exe" 2>/dev/null)
		said=$(tr '\000' ' ' <"$dir/cmdline" 2>/dev/null | cut -c 1-200)
		if [ -z "$exe" ] && [ "$kernel" = 0 ] && [ "$(id -u)" != 0 ]; then
			hidden=$((hidden + 1))
		fi
		# A thread of the kernel has the kernel's mark, no program and no command
		# line, and its parent is 2. A name in brackets on anything else is a mask.
		masked=
		case $said in '['*) masked=yes ;; esac
		case $name in '['* | kworker* | ksoftirqd* | kthreadd | migration/* | rcu_* | flush-* | mm_percpu_wq* | kswapd* | kblockd* | jbd2/* | scsi_* | irq/* | watchdogd*) masked=yes ;; esac
		if [ "$masked" = yes ] && { [ "$kernel" = 0 ] || [ -n "$exe" ] || { [ "$parent" != 2 ] && [ "$parent" != 0 ]; }; }; then
			item spoofed "$said $name" "pid $pid parent $parent exe $exe" "$([ -r "$dir/exe" ] && of "$dir/exe")"
		fi
		[ "$kernel" = 0 ] || continue
		why=
		case $exe in
		*' (deleted)') why="$why its program was deleted;" ;;
		/tmp/* | /var/tmp/* | /dev/shm/* | /run/user/*) why="$why it runs from a place for temporary files;" ;;
		*/.*) why="$why it runs from a hidden folder;" ;;
		esac
		case $said in *kubeconfig* | *admin.conf*) why="$why a kubeconfig in its arguments;" ;; esac
		case $(ls -l "$dir/fd" 2>/dev/null) in
		*kubeconfig* | */admin.conf* | */super-admin.conf* | */.kube/*) why="$why a kubeconfig is open;" ;;
		esac
		if tr '\000' '\n' <"$dir/environ" 2>/dev/null | grep -q '^KUBECONFIG='; then
			why="$why KUBECONFIG in its environment;"
		fi
		[ -n "$why" ] && item processes "$exe $name" "pid $pid$why" "$([ -r "$dir/exe" ] && of "$dir/exe")"
	done 2>/dev/null
	[ "$hidden" = 0 ] || unread processes "the programs of $hidden processes of other users"
	section processes
	section spoofed
}

# attributes PATH...: what cannot be changed even by root.
attributes() {
	lsattr -d -- "$@" 2>&1 | while read -r marks path; do
		case "$marks $path" in
		lsattr:*'No such file'* | lsattr:*upported* | lsattr:*nappropriate*) ;; # not there, or no such attributes there
		lsattr:*) unread immutable "$path" ;;
		*) case $marks in *i* | *a*) item immutable "$path" "$marks" "$(of "$path")" ;; esac ;;
		esac
	done
}

immutable() {
	if ! have lsattr; then
		unread immutable 'lsattr is not there'
		return
	fi
	attributes /etc/crontab /etc/cron.d /etc/cron.d/* /etc/cron.hourly/* /etc/cron.daily/* /var/spool/cron /var/spool/cron/* /var/spool/cron/crontabs/* \
		/etc/systemd/system /etc/systemd/system/* /etc/systemd/system/*/* /etc/kubernetes /etc/kubernetes/* /etc/kubernetes/manifests/* \
		/etc/ld.so.preload /etc/rc.local /usr/local/bin/* /usr/local/sbin/* /opt/* /opt/.[!.]*
	section immutable
}

supervised() {
	if [ -d /run/systemd/system ]; then
		if have systemctl && all=$(systemctl list-units --type=service --all --plain --no-legend --no-pager 2>/dev/null); then
			for u in $(printf '%s\n' "$all" | tr -d '*' | sed 's/^ *//' | cut -d ' ' -f 1); do
				case $(value "$u" FragmentPath)$(value "$u" DropInPaths) in
				/usr/lib/systemd/system/*' '* | *' /'*) unit supervised service "$u" ;;
				/usr/lib/systemd/system/* | /lib/systemd/system/*) ;; # as a package brought it
				'') ;;                                                # named by another unit, and not there
				*) unit supervised service "$u" ;;
				esac
			done
		else
			unread supervised 'systemctl does not answer'
		fi
	fi
	for f in /etc/supervisord.conf /etc/supervisor /etc/supervisor/conf.d /etc/supervisord.d /etc/inittab /etc/rc.local /etc/ld.so.preload \
		/etc/udev/rules.d /etc/profile.d; do
		file supervised file "$f"
	done
	for d in /etc/service/* /etc/sv/* /etc/s6-overlay/s6-rc.d/* /var/service/*; do
		file supervised run "$d/run"
	done
	section supervised
}

static_pods() {
	dirs='/etc/kubernetes/manifests /var/lib/rancher/k3s/agent/pod-manifests /var/lib/rancher/rke2/agent/pod-manifests'
	for c in /var/lib/kubelet/config.yaml /etc/kubernetes/kubelet.conf /etc/kubernetes/kubelet/kubelet-config.json; do
		[ -r "$c" ] || continue
		dirs="$dirs $(sed -n 's/^[" ]*staticPodPath[" ]*: *"*\([^", ]*\).*/\1/p' "$c" | head -n 1)"
	done
	# shellcheck disable=SC2086 # the paths have no spaces
	for d in $(printf '%s\n' $dirs | sort -u); do
		file static_pods manifest "$d"
	done
	section static_pods
}

containers() {
	for p in docker podman; do
		have "$p" || continue
		# A client without its server runs nothing.
		[ "$p" = docker ] && [ ! -S /var/run/docker.sock ] && [ ! -S /run/docker.sock ] && continue
		# Those of Kubernetes bear the label of their Pod.
		if all=$("$p" ps --all --no-trunc --format '{{.Names}} {{.Image}} pod={{.Label "io.kubernetes.pod.name"}}' 2>&1); then
			printf '%s\n' "$all" | while read -r n i pod; do
				[ -n "$n" ] && [ "$pod" = pod= ] && item containers "$p $n" "$i" "$(printf %s "$i" | sum)"
			done
		else
			unread containers "$p does not answer: $all"
		fi
	done
	if have ctr && spaces=$(ctr namespaces list -q 2>/dev/null); then
		for n in $spaces; do
			[ "$n" = k8s.io ] && continue
			for c in $(ctr -n "$n" containers list -q 2>/dev/null); do
				item containers "ctr $n/$c" "outside Kubernetes" "$(printf %s "$n/$c" | sum)"
			done
		done
	elif have ctr; then
		unread containers 'containerd does not answer'
	fi
	section containers
}

report() {
	echo 'handrail-node-report|1'
	printf 'node|%s\n' "$(printf %s "$(uname -n)" | plain)"
	printf 'at|%s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
	printf 'user|%s\n' "$(id -u)"
	timers
	cron
	processes
	immutable
	supervised
	static_pods
	containers
}

# The whole is held in memory and printed with its length. Nothing reads what the
# shell reads: this may be it.
all=$(report </dev/null)
printf '%s\n' "$all"
printf 'end|%s|%s\n' "$(printf '%s\n' "$all" | wc -l | tr -d ' ')" "$(printf '%s\n' "$all" | cksum | cut -d ' ' -f 1)"
