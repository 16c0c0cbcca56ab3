package runlog

import (
	"regexp"
	"slices"
)

// Classes of errors. The first pattern that fits decides; the order puts what is
// certain before what many errors mention.
const (
	classSave         = "save-failed"
	classLock         = "lock"
	classExists       = "exists"
	classThrottle     = "throttle"
	classInconsistent = "inconsistent"
	classCrash        = "provider-crash"
	classTimeout      = "timeout"
	classCredentials  = "credentials"
	classDependency   = "dependency"
	classNotFound     = "not-found"
	classTyping       = "typing"
	classPrevented    = "prevented"
	classStale        = "stale-plan"
	classTooOld       = "provider-too-old"
	classInterrupted  = "interrupted"
	classInstall      = "provider-install"
	classModule       = "module-fetch"
	classBackend      = "backend-init"
	classOther        = "other"
)

func errorClasses() []string {
	out := []string{}
	for _, c := range classPatterns() {
		if !slices.Contains(out, c.class) {
			out = append(out, c.class)
		}
	}
	return append(out, classOther)
}

type classPattern struct {
	class string
	re    *regexp.Regexp
}

// The patterns are for text with its white space collapsed: human output is
// wrapped at 78 columns.
var (
	// status429 is the number as a status: after the words for one, or before its own.
	// A line, a port, a quota or an id may have it as well.
	status429 = `(?:(?i:status ?code|status|http(?:/[\d.]+)?|error(?: code)?|response(?: code)?|returned|received|got)[:=]? ?["'(\[]?|\()429\b(?:[^\w.:-]|[.:] |[.:]?$)`

	reSave         = regexp.MustCompile(`Failed to (save|persist) state|Error saving state|errored\.tfstate`)
	reRelease      = regexp.MustCompile(`Error releasing the state lock`)
	reLock         = regexp.MustCompile(`Error acquiring the state lock`)
	reExists       = regexp.MustCompile(`EntityAlreadyExists|AlreadyOwnedByYou|BucketAlreadyExists|ResourceAlreadyExists|AlreadyExistsException|\.Duplicate\b|[Ee]rror 409.*[aA]lready ?[eE]xists|already exists`)
	reThrottle     = regexp.MustCompile(`\bThrottling(Exception)?\b|RequestLimitExceeded|TooManyRequests|Rate exceeded|SlowDown|rateLimitExceeded|\bquotaExceeded\b|[Rr]ate[- ]limit(?:ed|ing)? (?:exceeded|reached|hit)|(?:[Ee]xceeded|[Rr]eached|[Hh]it) (?:\S+ ){0,4}[Rr]ate[- ]limit|[Rr]ate[- ]limited\b|[Tt]oo [Mm]any [Rr]equests|` + status429)
	reInconsistent = regexp.MustCompile(`Provider produced (inconsistent|invalid)`)
	reCrash        = regexp.MustCompile(`Plugin did not respond|plugin (process )?(crashed|exited)|Request cancelled|Stack trace from the .* plugin`)
	reTimeout      = regexp.MustCompile(`deadline exceeded|[Tt]imeout while waiting|i/o timeout|timed out|connection reset|unexpected EOF`)
	reCredentials  = regexp.MustCompile(`StatusCode: 40[13]|AccessDenied|Forbidden|\bUnauthorized\b|ExpiredToken|invalid auth|requires auth|No valid credential`)
	reDependency   = regexp.MustCompile(`DependencyViolation|has dependent|is in use by|ResourceInUse`)
	reNotFound     = regexp.MustCompile(`couldn't find resource|\bNot ?Found\b|does not exist|NoSuch[A-Z]`)
	reTyping       = regexp.MustCompile(`Unsupported argument|Unsupported attribute|Missing map element|Invalid operand|Invalid value for input variable|Inappropriate value for attribute|all map elements must have the same type|Invalid (for_each|count|index|function) `)
	rePrevented    = regexp.MustCompile(`[Ii]nstance cannot be destroyed`)
	reStale        = regexp.MustCompile(`Saved plan (is stale|does not match)|plan file was created by`)
	reTooOld       = regexp.MustCompile(`Resource instance managed by newer provider version`)
	reInstall      = regexp.MustCompile(`Failed to (resolve provider packages|query available provider packages|install providers?)|Inconsistent dependency lock file|could not connect to registry|doesn't match any of the checksums|Incompatible provider version|locked provider .* does not match`)
	reModule       = regexp.MustCompile(`(Could not|Failed to|Error) download(ing)? modules?|Module not (installed|found)|Unresolvable module version|Module version requirements have changed`)
	reBackend      = regexp.MustCompile(`Backend (initialization required|configuration changed)|Error configuring .*[Bb]ackend|Failed to get existing workspaces|Error refreshing state|Error loading (the )?state|Error inspecting states`)
	reInterrupted  = regexp.MustCompile(`[Ee]xecution halted|[Oo]peration cancell?ed|context canceled`)
)

func classPatterns() []classPattern {
	return []classPattern{
		{classSave, reSave}, {classLock, reRelease}, {classLock, reLock}, {classStale, reStale}, {classTooOld, reTooOld}, {classPrevented, rePrevented}, {classInconsistent, reInconsistent},
		{classExists, reExists}, {classThrottle, reThrottle}, {classInterrupted, reInterrupted}, {classInstall, reInstall}, {classModule, reModule}, {classCrash, reCrash}, {classTimeout, reTimeout},
		{classCredentials, reCredentials}, {classDependency, reDependency}, {classTyping, reTyping}, {classNotFound, reNotFound}, {classBackend, reBackend},
	}
}

// classOf names what an error is about.
func classOf(text string) string {
	for _, p := range classPatterns() {
		if p.re.MatchString(text) {
			return p.class
		}
	}
	return classOther
}

// classWords say what each class asks for.
func classWords() map[string]string {
	return map[string]string{
		classExists:       "the object is there already, and the state does not know it: import it, never delete it to get through",
		classThrottle:     "the API throttles: lower -parallelism and wait; running again at once makes it worse",
		classInconsistent: "the provider contradicts its own plan: the object exists and is tainted, so the next plan replaces it; look at it, and consider untaint",
		classCrash:        "the provider stopped answering: what it was doing may have been done",
		classTimeout:      "no answer in time: what was asked for may exist all the same, so it is unknown, not undone",
		classCredentials:  "the credentials were refused or have expired",
		classDependency:   "something still uses the object",
		classNotFound:     "what was just made may not be visible yet: read it again before calling it drift",
		classTyping:       "a value has another type than the configuration takes, which a plan could not see",
		classPrevented:    "prevent_destroy stopped it: that is no obstacle to take away, it is the guard",
		classInstall:      "the providers could not be installed: hold the lock file against the mirror before you run init again, and never delete it to get past a checksum",
		classModule:       "a module could not be fetched",
		classBackend:      "the backend could not be opened",
		classStale:        "the saved plan no longer fits the state or the tool: nothing was applied",
	}
}
