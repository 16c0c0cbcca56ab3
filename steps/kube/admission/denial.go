package admission

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Sort is what a text says stopped a request.
type Sort string

// The sorts of denials. Down is none: the webhook was never asked, so nothing was
// decided about the object.
const (
	ByPolicy     Sort = "policy"  // a ValidatingAdmissionPolicy, a Gatekeeper constraint, a Kyverno policy
	ByWebhook    Sort = "webhook" // a webhook whose engine is not known here
	ByLevel      Sort = "podsecurity"
	ByConstraint Sort = "constraint" // of a row of a trace alone: a text that names one is ByPolicy
	ByQuota      Sort = "quota"
	ByLimitRange Sort = "limitrange"
	ByRBAC       Sort = "rbac"
	Down         Sort = "webhook-down"
	// NotRehearsed is none either: the webhook has side effects, so that the server
	// does not ask it for a dry run.
	NotRehearsed Sort = "no-dry-run"
)

// Denial is what the text of an API server says of a request that it refused.
type Denial struct {
	Sort    Sort
	Engine  string // validatingadmissionpolicy, gatekeeper, kyverno; "" for others
	Webhook string // name of the entry, as the server quotes it
	Policy  string // policy or constraint, the first of several
	Binding string
	Rule    string   // rule of a policy, or the expression that failed
	Others  []string // more policies that the same text names
	Level   string   // of Pod Security, with its version: restricted:latest
	Reasons []string // what is wrong, one reason each
	Said    string   // the words of what refused
	// Undecided says that the policy refused since it could not be evaluated: its
	// parameters are missing or an expression failed, which is the policy's fault.
	Undecided bool
	Cause     string // why a webhook was not asked, one of the causes below
}

// The causes for which a webhook does not answer.
const (
	NoEndpoints = "no endpoints"
	NoService   = "no service"
	Refused     = "connection refused"
	TimedOut    = "timeout"
	Certificate = "certificate"
	WrongPath   = "not found"
	OtherCause  = "no answer"
)

// Verdict reports whether something judged the object: an outage judges nothing, nor
// does a policy that could not be evaluated.
func (d Denial) Verdict() bool {
	return d.Sort != "" && d.Sort != Down && d.Sort != NotRehearsed && !d.Undecided
}

// Source names what refused, "" where the text does not say.
func (d Denial) Source() string {
	switch {
	case d.Engine == vap && d.Binding != "":
		return "validatingadmissionpolicy/" + d.Policy + " by " + d.Binding
	case d.Engine == vap:
		return "validatingadmissionpolicy/" + d.Policy
	case d.Engine == gatekeeper:
		return "gatekeeper constraint " + d.Policy
	case d.Engine == kyverno:
		return "kyverno policy " + d.Policy
	case d.Webhook != "":
		return "webhook " + d.Webhook
	case d.Sort == ByLevel:
		return "Pod Security " + d.Level
	case d.Sort == ByQuota && d.Policy != "":
		return "resourcequota/" + d.Policy
	case d.Sort == ByLimitRange:
		return "a LimitRange"
	case d.Sort == ByRBAC:
		return "RBAC"
	}
	return ""
}

const (
	vap        = "validatingadmissionpolicy"
	gatekeeper = "gatekeeper"
	kyverno    = "kyverno"
	// mostReasons bounds the reasons and names of one text.
	mostReasons = 32
	// longest bounds a name in a text: no object has a longer one.
	longest = 253
)

var (
	downText   = regexp.MustCompile(`failed calling webhook \\?"([^"\\\s]+)\\?": ?((?s).*)`)
	policyText = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'(?: with binding '([^']+)')? denied request: ((?s).*)`)
	hookText   = regexp.MustCompile(`admission webhook \\?"([^"\\]+)\\?" denied the request(?: without explanation)?:? ?((?s).*)`)
	dryText    = regexp.MustCompile(`admission webhook \\?"([^"\\]+)\\?" does not support dry run`)
	levelText  = regexp.MustCompile(`violates PodSecurity \\?"([a-z]+(?::[a-z0-9.]+)?)\\?": ((?s).*)`)
	quotaText  = regexp.MustCompile(`(?:exceeded quota: ([a-z0-9][a-z0-9.-]*), ((?s)requested: .*)|failed quota: ([a-z0-9][a-z0-9.-]*): ((?s)must specify .*))`)
	limitText  = regexp.MustCompile(`((?:maximum|minimum) [a-z0-9./-]+ usage per (?:Container|Pod|PersistentVolumeClaim) is (?s).*|[a-z]+ max limit to request ratio per (?:Container|Pod|PersistentVolumeClaim) is (?s).*)`)
	rbacText   = regexp.MustCompile(`(User "[^"]+" cannot [a-z]+ resource "[^"]+" in API group "[^"]*"[^\n]*)`)

	failedExpression = regexp.MustCompile(`^failed expression: ((?s).*)`)
	brokenExpression = regexp.MustCompile(`^expression '((?s).*)' resulted in error: `)

	constraint  = regexp.MustCompile(`(?m)(?:^|\\n|; |, )\s*\[([A-Za-z0-9][A-Za-z0-9.-]*)\] ?`)
	blockedText = regexp.MustCompile(`following policies:?[\s\\n]+([a-z0-9][a-z0-9./-]*):[\s\\n]+([A-Za-z0-9][A-Za-z0-9._-]*): ?((?s).*)`)
	blocked     = regexp.MustCompile(`following policies:?[\s\\n]+([a-z0-9][a-z0-9./-]*):`)
	failedCEL   = regexp.MustCompile(`^Policy ([a-z0-9][a-z0-9.-]*) (?:failed|error): ?((?s).*)`)
)

// ReadDenial traces the text of a refusal to what refused. The zero Denial is for a
// text that names nothing of the kind.
func ReadDenial(text string) Denial {
	if m := downText.FindStringSubmatch(text); m != nil {
		return Denial{Sort: Down, Webhook: clipped(m[1]), Said: m[2], Cause: causeOf(m[2])}
	}
	if m := policyText.FindStringSubmatch(text); m != nil {
		return ofPolicy(m)
	}
	if m := hookText.FindStringSubmatch(text); m != nil {
		return ofWebhook(m[1], m[2])
	}
	if m := dryText.FindStringSubmatch(text); m != nil {
		return Denial{Sort: NotRehearsed, Webhook: clipped(m[1]), Said: m[0]}
	}
	if m := levelText.FindStringSubmatch(text); m != nil {
		return Denial{Sort: ByLevel, Level: m[1], Said: m[2], Reasons: reasons(m[2])}
	}
	if m := quotaText.FindStringSubmatch(text); m != nil {
		said := cmp.Or(m[2], m[4])
		return Denial{Sort: ByQuota, Policy: clipped(cmp.Or(m[1], m[3])), Said: said, Reasons: []string{said}}
	}
	if m := limitText.FindStringSubmatch(text); m != nil {
		return Denial{Sort: ByLimitRange, Said: m[1], Reasons: []string{m[1]}}
	}
	if m := rbacText.FindStringSubmatch(text); m != nil {
		return Denial{Sort: ByRBAC, Said: m[1], Reasons: []string{m[1]}}
	}
	return Denial{}
}

func ofPolicy(m []string) Denial {
	d := Denial{Sort: ByPolicy, Engine: vap, Policy: clipped(m[1]), Binding: clipped(m[2]), Said: m[3]}
	switch {
	case strings.HasPrefix(m[3], "failed to configure "), strings.HasPrefix(m[3], "failed to "):
		d.Undecided = true
	case brokenExpression.MatchString(m[3]):
		d.Undecided, d.Rule = true, brokenExpression.FindStringSubmatch(m[3])[1]
	case failedExpression.MatchString(m[3]):
		d.Rule = strings.TrimSpace(failedExpression.FindStringSubmatch(m[3])[1])
	}
	d.Reasons = []string{m[3]}
	return d
}

func ofWebhook(name, said string) Denial {
	d := Denial{Sort: ByWebhook, Webhook: clipped(name), Said: said}
	if m := blockedText.FindStringSubmatch(said); m != nil {
		d.Sort, d.Engine, d.Policy, d.Rule, d.Reasons = ByPolicy, kyverno, clipped(m[1]), clipped(m[2]), []string{m[3]}
		return d
	}
	if m := blocked.FindStringSubmatch(said); m != nil {
		d.Sort, d.Engine, d.Policy, d.Reasons = ByPolicy, kyverno, clipped(m[1]), []string{said}
		return d
	}
	if m := failedCEL.FindStringSubmatch(said); m != nil && strings.Contains(name, "kyverno") {
		d.Sort, d.Engine, d.Policy, d.Reasons = ByPolicy, kyverno, clipped(m[1]), []string{m[2]}
		return d
	}
	if found := constraint.FindAllStringSubmatchIndex(said, mostReasons); found != nil && strings.HasSuffix(name, "gatekeeper.sh") {
		d.Sort, d.Engine = ByPolicy, gatekeeper
		for i, at := range found {
			end := len(said)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			if c := clipped(said[at[2]:at[3]]); d.Policy == "" {
				d.Policy = c
			} else if c != d.Policy && !slices.Contains(d.Others, c) {
				d.Others = append(d.Others, c)
			}
			d.Reasons = append(d.Reasons, strings.TrimSpace(said[at[1]:end]))
		}
		return d
	}
	d.Reasons = []string{said}
	return d
}

// causeOf sorts the words with which the API server says why it could not ask a
// webhook. The order matters: a deadline may come with an address in it.
func causeOf(said string) string {
	for _, c := range []struct{ words, cause string }{
		{"no endpoints available", NoEndpoints},
		{"x509:", Certificate}, {"tls: ", Certificate},
		{"connection refused", Refused},
		{"context deadline exceeded", TimedOut}, {"Client.Timeout exceeded", TimedOut}, {"i/o timeout", TimedOut}, {"timeout awaiting", TimedOut}, {"net/http: request canceled", TimedOut},
		{"the server could not find the requested resource", WrongPath},
	} {
		if strings.Contains(said, c.words) {
			return c.cause
		}
	}
	if absentService.MatchString(said) {
		return NoService
	}
	return OtherCause
}

var absentService = regexp.MustCompile(`service \\?"[^"]+" not found`)

// reasons splits what Pod Security lists: a comma between brackets is no border.
func reasons(said string) []string {
	said, _, _ = strings.Cut(said, "\n")
	var out []string
	depth, from := 0, 0
	for i, r := range said {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 && len(out) < mostReasons-1 {
				out = append(out, strings.TrimSpace(said[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(said[from:]))
}

func clipped(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), longest)], "")
}
