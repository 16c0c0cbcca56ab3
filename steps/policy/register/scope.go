package register

import "strings"

// parts are those of RESOURCE/NAMESPACE/NAME, without an empty one.
func parts(s string) (out []string) {
	for p := range strings.SplitSeq(s, "/") {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// bounds says whether a scope leaves anything out: one of stars alone does not, and a * inside of a name means nothing.
func bounds(scope string) bool {
	if strings.Trim(scope, "*./[] ") == "" {
		return false
	}
	for _, p := range parts(scope) {
		if p == "*" {
			continue
		}
		for _, end := range []string{".*", "[*]"} {
			p = strings.TrimSuffix(p, end)
		}
		if strings.Contains(p, "*") {
			return false
		}
	}
	return true
}

// covers says whether one scope holds an object. Where all but the word for the resource agrees, it may be another word for the
// same, which is unknown.
func covers(scope, object string) Truth {
	if !bounds(scope) {
		return unknown("its scope bounds nothing")
	}
	if scope == object || begins(scope, object) {
		return yes(true)
	}
	want, have := parts(scope), parts(object)
	if len(want) != len(have) || len(want) < 2 {
		return yes(false)
	}
	for i := range want {
		if i > 0 && want[i] != "*" && want[i] != have[i] {
			return yes(false)
		}
	}
	plain, _, _ := strings.Cut(have[0], ".")
	switch kind := strings.ToLower(want[0]); {
	case kind == "*" || kind == have[0] || kind+"s" == plain || kind+"es" == plain:
		return yes(true)
	case !strings.Contains(kind, ".") && strings.HasPrefix(have[0], kind+"."):
		return yes(true)
	}
	return unknown("its scope names the resource in another word than " + have[0])
}

// begins says whether an object begins as a scope does that ends in a * after a dot or a bracket. One after a slash is a part.
func begins(scope, object string) bool {
	if before, ok := strings.CutSuffix(scope, "[*]"); ok {
		rest, is := strings.CutPrefix(object, before+"[")
		return is && strings.HasSuffix(rest, "]") && !strings.ContainsAny(strings.Trim(rest, `]"`), `[]"`)
	}
	before, ok := strings.CutSuffix(scope, ".*")
	rest, is := strings.CutPrefix(object, before+".")
	return ok && is && rest != "" && !strings.Contains(before, "*") && !strings.Contains(rest, "..")
}
