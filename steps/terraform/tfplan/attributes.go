package tfplan

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
)

const (
	maxPaths = 60
	maxDeep  = 64
)

// compare names what an update changes, and what sort of change it is.
func (c *Change) compare(before, after, unknown, hidden, sensitive any) {
	p := &paths{}
	p.walk("", before, after, unknown, hidden, sensitive, false, 0)
	slices.Sort(p.found)
	c.Paths = p.found
	if p.more > 0 {
		c.Paths = append(c.Paths, fmt.Sprintf("and %d more", p.more))
	}
	c.Labels = len(p.found) > 0 && !p.other
	c.Credential = p.secret
	c.Dummy = p.dummy
}

// paths gathers the differing leaves of two values.
type paths struct {
	found  []string
	more   int
	other  bool // something but labels
	secret bool
	dummy  bool
}

// labelWords are the attributes that carry labels in the providers in use.
var labelWords = regexp.MustCompile(`(^|\.)(labels|annotations|tags|tags_all|effective_labels|terraform_labels|effective_annotations)(\.|\[|$)`)

// secretWords are names that hold credentials where no mark says so.
var secretWords = regexp.MustCompile(`(?i)(^|[._\["])(password|passwd|secret|secret_?key|token|api_?key|private_?key|credentials?|access_?key|client_secret|\.?dockerconfigjson)(["\]]|$|_wo$)`)

// dummies look like what is put in place of a credential.
var dummies = regexp.MustCompile(`(?i)^(change[-_ ]?me.*|replace[-_ ]?me.*|place-?holder.*|dummy.*|example.*|todo.*|fixme.*|x{3,}|\*{3,}|<.*>|your[-_ ].*|redacted|secret|password|test)$`)

func (p *paths) walk(at string, before, after, unknown, hidden, sensitive any, isSecret bool, deep int) {
	isSecret = isSecret || hidden == true || sensitive == true
	if unknown == true {
		p.leaf(at+" (known after apply)", at, isSecret, nil)
		return
	}
	if reflect.DeepEqual(before, after) && !holdsUnknown(unknown, 0) {
		return
	}
	b, bObject := before.(map[string]any)
	a, aObject := after.(map[string]any)
	if (bObject || aObject) && (bObject || before == nil) && (aObject || after == nil) && deep < maxDeep {
		u, _ := unknown.(map[string]any)
		h, _ := hidden.(map[string]any)
		s, _ := sensitive.(map[string]any)
		for _, k := range keys(b, a, u) {
			p.walk(join(at, k), b[k], a[k], u[k], h[k], s[k], isSecret, deep+1)
		}
		return
	}
	bl, bList := before.([]any)
	al, aList := after.([]any)
	if bList && aList && len(bl) == len(al) && deep < maxDeep {
		u, _ := unknown.([]any)
		h, _ := hidden.([]any)
		s, _ := sensitive.([]any)
		for i := range bl {
			p.walk(fmt.Sprintf("%s[%d]", at, i), bl[i], al[i], index(u, i), index(h, i), index(s, i), isSecret, deep+1)
		}
		return
	}
	p.leaf(at, at, isSecret || anyTrue(hidden, 0) || anyTrue(sensitive, 0), after)
}

func (p *paths) leaf(say, at string, isSecret bool, after any) {
	if len(p.found) < maxPaths {
		p.found = append(p.found, steps.Clip(say, 300))
	} else {
		p.more++
	}
	if isSecret = isSecret || secretWords.MatchString(at); isSecret {
		p.secret = true
		eachText(after, func(v string) { p.dummy = p.dummy || dummies.MatchString(strings.TrimSpace(v)) })
	}
	p.other = p.other || isSecret || !labelWords.MatchString(at)
}

func join(at, key string) string {
	if plainKey.MatchString(key) {
		if at == "" {
			return key
		}
		return at + "." + key
	}
	return fmt.Sprintf("%s[%q]", at, key)
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func index(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func keys(maps ...map[string]any) []string {
	seen := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			seen[k] = true
		}
	}
	out := make([]string, 0, len(seen))
	for k := range seen {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// holdsUnknown says whether something inside is known only after the apply.
func holdsUnknown(v any, deep int) bool { return anyTrue(v, deep) }

func anyTrue(v any, deep int) bool {
	if deep > maxDeep {
		return true
	}
	switch v := v.(type) {
	case bool:
		return v
	case map[string]any:
		for _, e := range v {
			if anyTrue(e, deep+1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if anyTrue(e, deep+1) {
				return true
			}
		}
	}
	return false
}
