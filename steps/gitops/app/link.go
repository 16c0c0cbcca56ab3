package app

import "regexp"

// Link is one link of the delivery path.
type Link string

// The links, in the order in which they are passed.
const (
	LinkNone       Link = "none"       // nothing fails
	LinkSpec       Link = "spec"       // the application itself may not be so
	LinkSource     Link = "source"     // the repository, registry or revision cannot be had
	LinkRender     Link = "render"     // manifests cannot be made of it
	LinkDependency Link = "dependency" // another application, a kind or a namespace is missing
	LinkSecret     Link = "secret"     // a secret cannot be decrypted or found
	LinkAdmission  Link = "admission"  // the API server refuses by policy
	LinkApply      Link = "apply"      // the API server refuses the object, or the right to write it
	LinkHook       Link = "hook"       // a hook or a test fails or does not end
	LinkPrune      Link = "prune"      // what is no longer wanted does not go
	LinkHealth     Link = "health"     // it is applied and does not get well
	LinkUnknown    Link = "unknown"    // something fails, and no rule tells what
)

// Links are all of them.
func Links() []string {
	return []string{string(LinkNone), string(LinkSpec), string(LinkSource), string(LinkRender), string(LinkDependency), string(LinkSecret),
		string(LinkAdmission), string(LinkApply), string(LinkHook), string(LinkPrune), string(LinkHealth), string(LinkUnknown)}
}

// beforeApply reports whether nothing was sent to the API server where a link fails.
func (l Link) beforeApply() bool {
	switch l {
	case LinkSpec, LinkSource, LinkRender, LinkSecret:
		return true
	}
	return false
}

// A rule tells a link by the text of a controller. The first one that matches counts: a
// text quotes those of the links below it, so the deepest cause comes first.
type rule struct {
	link Link
	text *regexp.Regexp
}

// rules of texts, with where each comes from.
var rules = []rule{
	// kustomize-controller, SOPS.
	{LinkSecret, regexp.MustCompile(`(?i)decryption failed for|error decrypting|cannot get \w+ data ?key|cannot get \w+ decryption Secret|is SOPS encrypted|sops data integrity|no identity matched any of the recipients`)},
	// API server: admission webhooks, policies, Pod Security, quota.
	{LinkAdmission, regexp.MustCompile(`(?i)admission webhook ".+" denied|failed calling webhook|ValidatingAdmissionPolicy '.+' .*denied|denied request:|violates PodSecurity|exceeded quota:`)},
	// repo-server and source-controller: Git, Helm repositories, registries.
	{LinkSource, regexp.MustCompile(`(?i)failed to list refs|unable to resolve '.*' to a commit|unable to (clone|fetch|connect)|failed to (checkout|fetch|clone|pull)|authentication required|authorization failed|repository not (found|accessible)|couldn't find remote ref|reference not found|ssh: handshake failed|unknown revision|GetArtifact|no artifact available|Source artifact not found|chart pull|failed to download chart|artifact .*not found`)},
	// Kinds, namespaces and applications that are not there yet.
	{LinkDependency, regexp.MustCompile(`(?i)no matches for kind|could not find the requested resource|could not find (version ".+" of )?\S+ for requested resource|namespaces? "[^"]+" not found|dependency '[^']+'|dependencies do not meet|is not installed|ensure CRDs are installed`)},
	// Hooks and waves.
	{LinkHook, regexp.MustCompile(`(?i)waiting for completion of hook|hook .*(failed|timed out)|(pre|post)-(install|upgrade|rollback|delete) hooks? failed`)},
	{LinkPrune, regexp.MustCompile(`(?i)waiting for (deletion|pruning)|prune failed|has finalizers`)},
	{LinkHealth, regexp.MustCompile(`(?i)waiting for healthy state|health check failed|timeout waiting for|client rate limiter Wait returned an error.*deadline|progress deadline|resources? not ready`)},
	{LinkRender, regexp.MustCompile(`(?i)failed to (generate|unmarshal) manifest|Manifest generation error|kustomize build|kustomization path not found|accumulating resources|error converting YAML|execution error at|executable file not found|failed to (parse|render)|template: `)},
	{LinkApply, regexp.MustCompile(`(?i)dry-run failed|is forbidden:|is invalid:|Apply failed|server-side apply failed|failed to apply|is immutable|immutable field|not permitted in project|conflict with "`)},
}

// linkOf tells a link by a text; otherwise is what it is where no rule knows it.
func linkOf(text string, otherwise Link) Link {
	for _, r := range rules {
		if r.text.MatchString(text) {
			return r.link
		}
	}
	return otherwise
}
