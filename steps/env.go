package steps

import "time"

// Env is what a step kind may know of the machine and the operator. It is a
// value: tests set every part of it.
type Env struct {
	Dir     string   // the directory that relative paths start from
	Environ []string // KEY=value, the environment of the operator; children get a chosen part of it
	Home    string
	User    string // of the operating system
	Host    string // of this machine, as tofu writes it in Who
	Proc    string // where the process table is mounted; "" means /proc
	Now     func() time.Time
	Version string // of handrail, for User-Agent headers; "" is fine
	Self    string // the program of handrail, which starts itself for what was written by others; "" where it may not

	// Runbook is the digest of the runbook whose step runs, "" where none does.
	Runbook string
	// TrustedRunbook says whether the operator trusts the runbook of a digest for what
	// it runs, reads and sends by itself; nil trusts none.
	TrustedRunbook func(digest string) error
	// Known says whether the operator ever trusted dir, or one above it, to be read
	// below; nil trusts none. What runs there asks Trusted.
	Known func(dir string) error
	// ReadOnly says by what the incident is read-only, "" where it is not.
	ReadOnly string

	Incident string // id of the incident that a step runs in, "" outside of one
	// Private is a directory of handrail's own for what may hold secrets and
	// cannot be redacted, made by who uses it and gone when the incident closes;
	// "" where there is none.
	Private string

	Kubeconfig string // --kubeconfig, "" for the usual rules
	Context    string // --context, or the one that was current when the incident began; "" for the current one
	Other      bool   // Context is not the incident's own
	Namespace  string // --namespace
	// Kubectl are the other flags of kubectl that the operator gave, each as
	// --name=value. They may hold a token.
	Kubectl []string

	// Tool finds the program that stands for tofu or terraform: the path given by
	// flag, then the one of that name, then the other one, on PATH. The error says
	// where it looked.
	Tool func(name string) (string, error)
	// Trusted says whether the operator trusts dir for programs that run there
	// (heavy probes). The error says how to trust it.
	Trusted func(dir string) error
	// Protected returns the team's own markers of what no gate may change, beside
	// those that are built in. The error refuses every gate; nil means none.
	Protected func() ([]Marker, error)
	// Passed returns what the operator hands on to the tofu and its providers beside what each
	// gets. With an error nothing more is handed on; nil means nothing.
	Passed func() ([]Passed, error)
	// Pin holds each context to the cluster that it led to when the incident first
	// used it; nil outside of an incident.
	Pin Pin
	// Audit returns the next Audit-ID for a request to an API server, "" for none.
	Audit func() string
}

// Passed is a variable that the operator hands on to a program, because a provider wants it.
type Passed struct {
	Name  string
	Shown bool // its value is no secret
}

// SignInFirst is what a credential plugin is told that would ask on the terminal
// while a probe waits for it: the screen or the dialogue reads the keyboard. It
// is the same text everywhere, since client-go shares what a plugin answered
// only between configurations that are equal to the letter.
const SignInFirst = "handrail reads the keyboard now: leave (nothing is lost), sign in with `handrail doctor` or kubectl, then `handrail resume`"

// Getenv returns the last value of key in e.Environ.
func (e Env) Getenv(key string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if kv := e.Environ[i]; len(kv) > len(key) && kv[len(key)] == '=' && kv[:len(key)] == key {
			return kv[len(key)+1:]
		}
	}
	return ""
}
