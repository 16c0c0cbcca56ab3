package own

import "fmt"

// sandbox is what the kernel of this machine can keep a program from.
type sandbox struct {
	landlock int  // version of its interface, 0 for none
	calls    bool // seccomp, on a machine whose calls are known here
	signals  bool // it can be kept from ending other programs
	why      string
}

// leastLandlock is the first version that keeps files from being cut off; the first two
// let a program empty any file that its user may write.
const leastLandlock = 3

// whole reports whether a program can be kept from writing.
func (s sandbox) whole() bool { return s.landlock >= leastLandlock && s.calls }

// noNetwork reports whether a program can be kept off the network.
func (s sandbox) noNetwork() bool { return s.calls }

// words say what a program was kept from.
func (s sandbox) words(alone bool) string {
	if !s.whole() {
		return "none: " + s.why
	}
	out := fmt.Sprintf("Landlock %d and seccomp: no write but to a private directory, no change of owners, modes or attributes, no sockets of other programs", s.landlock)
	if s.signals {
		out += ", no signals to them"
	}
	if alone {
		out += ", no network"
	}
	return out
}

// Confinement says for a person what keeps programs of own/exec from writing on this
// machine, or that nothing does.
func Confinement() string { return kernel().forTrust() }

// Confines reports whether the kernel of this machine keeps programs of own/exec from writing.
func Confines() bool { return kernel().whole() }

func (s sandbox) forTrust() string {
	if !s.whole() {
		return "nothing on this machine but your trust: " + s.why
	}
	return "the kernel of this machine, by " + s.words(false)
}

// confined is what one program is kept to.
type confined struct {
	in    sandbox
	alone bool     // off the network
	read  []string // what it may read
	write string   // where it may write
}
