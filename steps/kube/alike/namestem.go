package alike

import (
	"regexp"
	"strings"
)

// generated matches what controllers append to a name: the five letters of
// generateName, the hash of a template, the minute of a CronJob, the revision
// and phase of a hook, and a plain number.
var generated = regexp.MustCompile(`-(?:[bcdfghjklmnpqrstvwxz2456789]{5}|[bcdfghjklmnpqrstvwxz2456789]{8,10}|[0-9]+|[0-9a-f]{7}-(?:presync|sync|postsync|syncfail|predelete|postdelete)(?:-[0-9]+)?)$`)

// nameStem is a name without what was generated.
func nameStem(name string) string {
	for {
		at := generated.FindStringIndex(name)
		if at == nil || at[0] == 0 {
			return name
		}
		name = name[:at[0]]
	}
}

// sameStem reports whether two names could be taken for one another: one stem,
// one that goes on where the other ends, or two leading words in common.
func sameStem(a, b string) bool {
	a, b = nameStem(a), nameStem(b)
	if a == b || strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-") {
		return true
	}
	x, y := strings.Split(a, "-"), strings.Split(b, "-")
	return len(x) > 1 && len(y) > 1 && x[0] == y[0] && x[1] == y[1]
}
