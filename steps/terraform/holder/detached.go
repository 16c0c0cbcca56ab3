package holder

import (
	"slices"
	"strings"
)

// maxAncestors bounds a walk up a table that changes while it is read.
const maxAncestors = 64

// detached reports whether what started a process is gone. Its parent is init, or
// another process that takes orphans in: then it is outside the group of p, whose
// leader is gone. A parent of the same group started it; it is detached with that
// one, if the parent itself works on the ground. A process without a parent came
// from outside of this namespace (kubectl exec), and lost none. The first process
// of a container may have started p itself: then that is not sure.
func (g *ground) detached(p Process) (lost, surely bool) {
	for range maxAncestors {
		parent, ok := g.t.all[p.ppid]
		orphaned := g.lostLeader(p) != "" || p.group == p.PID && parent.reaps()
		switch {
		case p.ppid == 0:
			return false, false
		case !ok || parent.ended() || orphaned && parent.group != p.group:
			return true, true
		case p.ppid == 1:
			return true, parent.reaps()
		case parent.group != p.group || !g.works(parent):
			return false, false
		}
		p = parent
	}
	return false, false
}

// sitters are programs that people leave running in a directory.
var sitters = []string{
	"tmux", "tmux: server", "screen", "SCREEN", "zellij", "dtach", "abduco", "mosh-server", "script",
	"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "hx", "code", "code-server", "less", "more", "tail", "man", "watch", "watchman",
	"ssh-agent", "gpg-agent", "dbus-daemon", "terraform-ls", "tofu-ls", "gopls", "git", "gitstatusd",
}

// shells sit where they are given no script.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox"}

// sitter reports whether a process is of a sort that merely sits in a directory.
func sitter(p Process) bool {
	name, _, _ := strings.Cut(p.called(), " ")
	if slices.Contains(sitters, name) || slices.Contains(sitters, p.exe) {
		return true
	}
	if !slices.Contains(shells, name) {
		return false
	}
	for _, a := range p.argv[1:] {
		if !strings.HasPrefix(a, "-") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
			return false
		}
	}
	return true
}
