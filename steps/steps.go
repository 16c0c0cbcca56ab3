// Package steps is the contract between the loop and the world: what a step
// kind declares, what a probe returns, and how a gate is previewed, confirmed
// and spent.
//
// A probe reads and returns an [Observation]; an error from it means that it
// could not find out, and every fact it declares is then unknown. A gate is the
// only thing that can change anything: its [Gate.Preview] says what would be
// done, [Confirm] turns a fresh preview and a typed phrase into an [Approval],
// and [Gate.Act] does exactly what [Approval.Spend] returns.
//
// Steps know nothing of the loop, the bundle or the terminal.
package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Kind is one row of the table of step kinds: what a runbook may name in `uses`
// or `gate`. Exactly one of Reads and Changes is set.
type Kind struct {
	Name    string // world/what, as terraform/lock
	Doc     string // one or two sentences for `handrail step show`
	Class   Class
	Params  []Field
	Facts   []Field
	Drawing *Drawing // which facts are drawn together, nil for none
	Touches []string // what it reads, runs or changes, one phrase each
	// Rights are what it asks of a cluster with these parameters. nil for a kind
	// that asks none, or is not asked as the operator: a backend has its own.
	Rights  func(Params) []Right
	Script  string // what an operator runs where handrail cannot look, "" for none
	Reads   func(Env) Prober
	Changes func(Env) Gater
	// Takes says how long a probe with these parameters may run, where that is
	// not the usual minute: one that watches for a window. nil for the usual.
	Takes func(Params) time.Duration
	// Outputs is how a step of this kind declares facts of its own; nil where it
	// cannot.
	Outputs *Outputs
	// Tells is what one step of this kind reads or runs, in words, for the person who
	// is asked to trust its runbook; nil for its parameters and what the kind touches.
	Tells func(With) string
	// Covers are the items of evidence that a person names elsewhere (E1 commit, E2 pull request, E3 run, E5 policy, E6
	// approver) and that a probe of this kind reads.
	Covers []string
	// Layers are what keeps a probe of this kind from writing; nil for those of its class.
	Layers []string
	// Again is how long after an act of this gate, once it is done, its target is
	// read again, in case it is undone; 0 for not at all. Its Gater is then
	// a Rereader.
	Again time.Duration
}

// Catalog finds kinds by name.
type Catalog interface {
	Lookup(name string) (Kind, bool)
	Kinds() []Kind // in order of name
}

// Prober is what a probe kind runs.
type Prober interface {
	// Probe reads and returns what it saw. It honours ctx at once. An error
	// means that it could not find out; the caller then records every declared
	// fact as unknown with the error's text as the reason. A nil error with a
	// missing fact is treated the same for that fact; one that the kind does not
	// declare is dropped, and a gap says so.
	Probe(ctx context.Context, in Params, out Sink) (Observation, error)
}

// Gater is what a gate kind runs.
type Gater interface {
	// Preview reads the target and says what Act would do. It is both the
	// preview and the re-read: it runs again just before the act, and the two
	// digests must be equal. It changes nothing.
	Preview(ctx context.Context, in Params, out Sink) (Preview, error)
	// Act spends the approval and does what it shows, nothing else. An error
	// means that the outcome could not be learnt: it is recorded as unknown.
	Act(ctx context.Context, a *Approval, out Sink) (Outcome, error)
}

// Finder is a Gater that can tell, after a crash, what an act came to whose end
// was not recorded.
type Finder interface {
	// Find reads the target and compares it with before, the target and what was
	// shown beside it when the act began. Done means that the act took effect,
	// failed that the target is as it was. An error leaves the outcome unknown.
	Find(ctx context.Context, before []KV, in Params, out Sink) (Outcome, error)
}

// Rereader is a Gater that can tell whether an act that was done was undone.
type Rereader interface {
	// Again reads the target and compares it with before, as Find does. Done means
	// that what the act did still stands, failed that it was undone; another
	// result, or an error, that it cannot be told.
	Again(ctx context.Context, before []KV, in Params, out Sink) (Outcome, error)
}

// ErrDenied is wrapped by a probe that was refused for want of permission.
var ErrDenied = errors.New("permission denied")

// Sink takes what a step wants kept. Everything written to it is redacted
// before it reaches the disk or the screen.
type Sink interface {
	// Artifact opens a raw artifact that becomes a blob of the bundle when it is
	// closed. role names it inside the observation ("lock", "log"); media picks
	// the structural redaction.
	Artifact(role, media string) io.WriteCloser
	// Line shows one line of progress; it is not kept.
	Line(text string)
	// Secret names a value that must not be stored or shown from now on.
	Secret(value string)
}

// SecretsOnly is a Sink that keeps nothing and tells its function of secrets; nil
// is one that keeps nothing at all.
type SecretsOnly func(string)

// Artifact implements Sink.
func (SecretsOnly) Artifact(string, string) io.WriteCloser { return discard{io.Discard} }

// Line implements Sink.
func (SecretsOnly) Line(string) {}

// Secret implements Sink.
func (s SecretsOnly) Secret(v string) {
	if s != nil {
		s(v)
	}
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// SchemaSink is a Sink that can be told which attributes the schemas of
// providers call sensitive, by type of resource: names with dots between them. It
// holds for what is kept after it.
type SchemaSink interface {
	Sensitive(paths map[string][]string)
}

// RedactingSink is a Sink that can tell what it would keep of an artifact.
type RedactingSink interface {
	// Redacted returns raw as an artifact of media would hold it.
	Redacted(media string, raw []byte) ([]byte, error)
}

// Observation is what a probe saw.
type Observation struct {
	Summary  string           // one line, what a person on the call wants to hear
	Command  string           // the equivalent command a person could type
	Facts    map[string]Value // by the names the kind declares
	Findings []Finding        // worth a human's eye, in order
	Gaps     []string         // what could not be checked, and why
}

// Findingf is a finding in the words of a format.
func Findingf(level Level, format string, args ...any) Finding {
	return Finding{Level: level, Say: fmt.Sprintf(format, args...)}
}

// Say adds a finding.
func (o *Observation) Say(level Level, format string, args ...any) {
	o.Findings = append(o.Findings, Findingf(level, format, args...))
}

// Media types that the redactor knows by structure.
const (
	MediaText       = "text/plain"
	MediaJSON       = "application/json"
	MediaKubernetes = "application/vnd.k8s+json"
	MediaState      = "application/vnd.tfstate+json"
	MediaPlan       = "application/vnd.tfplan+json"
	MediaKubeconfig = "application/vnd.kubeconfig+yaml"
)
