package index

import (
	"regexp"
	"strings"
)

// What a text tells without a name of its own: a link to a pull request, the account in the
// name of a role, the webhook that denied a request. Proofs, answers, findings and
// annotations bring most of them.

// telling is a form that gives a key. hint is a piece that every text of it has.
type telling struct {
	key  Key
	hint string
	form *regexp.Regexp // its one group is the value
}

var tellings = [...]telling{
	{PullRequest, "/pull/", regexp.MustCompile(`/pull/(\d+)`)},
	{PullRequest, "/merge_requests/", regexp.MustCompile(`/merge_requests/(\d+)`)},
	{PullRequest, "/pull-requests/", regexp.MustCompile(`/pull-requests/(\d+)`)},
	{PullRequest, "refs/merge-requests/", regexp.MustCompile(`refs/merge-requests/(\d+)/`)},
	{PullRequest, "pr", regexp.MustCompile(`\bpr\s*#(\d+)`)},
	{Run, "/actions/runs/", regexp.MustCompile(`/actions/runs/(\d+)`)},
	{Run, "/-/pipelines/", regexp.MustCompile(`/-/pipelines/(\d+)`)},
	{Run, "/-/jobs/", regexp.MustCompile(`/-/jobs/(\d+)`)},
	{Account, "arn:aws", regexp.MustCompile(`arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(\d{12}):`)},
	{Account, "/subscriptions/", regexp.MustCompile(`/subscriptions/([0-9a-f]{8}-[0-9a-f-]{27})`)},
	{Account, ".iam.gserviceaccount.com", regexp.MustCompile(`@([a-z][a-z0-9-]{4,28}[a-z0-9])\.iam\.gserviceaccount\.com`)},
	{Policy, "admission webhook", regexp.MustCompile(`admission webhook \\?"([^"\\\s]{1,253})`)},
	{Policy, "validatingadmissionpolicy", regexp.MustCompile(`validatingadmissionpolicy '([^'\s]{1,253})'`)},
	{Exception, "exception", regexp.MustCompile(`\bexception(?: id)?[ :#]+([a-z][a-z0-9]*-\d+)\b`)},
	{Exception, "policyexception", regexp.MustCompile(`\bpolicyexceptions?(?:\.[a-z0-9.-]+)?[/ ]([a-z0-9][a-z0-9./-]{0,252})`)},
}

// longestTold is how long a text may be that is looked into: longer ones are output, which
// the lines of artifacts hold.
const longestTold = 4096

// told lists what a text tells, each once.
func told(text string) []struct {
	key   Key
	value string
} {
	if len(text) > longestTold {
		return nil
	}
	var out []struct {
		key   Key
		value string
	}
	folded := fold(text)
	for _, t := range tellings {
		if !strings.Contains(folded, t.hint) {
			continue
		}
		for _, m := range t.form.FindAllStringSubmatchIndex(folded, 8) {
			out = append(out, struct {
				key   Key
				value string
			}{t.key, strings.TrimRight(text[m[2]:m[3]], "./")})
		}
	}
	return out
}

// itemKey is the key of an item of evidence that the proof of a step by hand names.
func itemKey(code string) Key {
	return map[string]Key{
		"E1": Commit, "E2": PullRequest, "E3": Run, "E5": Policy, "E6": Actor, "E7": Actor, "E10": Environment, "E13": Resource,
	}[code]
}

// scoped are names that mean something of their own in one place: what a kind of step is
// given, or a parameter of one runbook.
var scoped = map[string]Key{
	"kube/may account":          Actor,    // a service account, a user or a group of the cluster
	"hardening-cascade policy":  Resource, // a NetworkPolicy
	"hardening-cascade hook":    Resource, // a Job
	"init-cascade job":          NoKey,    // a file
	"reverting-fixes binding":   Resource,
	"hardening-cascade binding": Resource,
	"hardening-cascade role":    Resource,
	"hardening-cascade quota":   Resource,
	"init-cascade job name":     Resource,
}

// noted is the key of a label or an annotation by what stands behind its domain.
func noted(path, last string) Key {
	if !strings.Contains(path, "annotations") && !strings.Contains(path, "labels") {
		return NoKey
	}
	_, name, ok := strings.Cut(last, "/")
	if !ok {
		return NoKey
	}
	switch k := keyOf[plainName(name)]; k {
	case Commit, PullRequest, Run, Account, Policy, Exception, Environment:
		return k
	default:
		return NoKey
	}
}

// plainName is a stored name as keyNames spells them.
func plainName(name string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(fold(name))
}
