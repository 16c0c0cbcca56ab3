package runbooks

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/triage"
)

// What a person looked at is named, so that the words are of this incident: a step by
// hand lists under `names` the values that its proof must give, a question lists them by
// answer.

// names reads the values that a proof must name.
func (r *reader) names(s *Step, n *yaml.Node) {
	if n == nil {
		return
	}
	s.names = map[string][]*expr{}
	if s.Kind == triage.ManualStep {
		s.names[""] = r.values(n)
		return
	}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.Fail(n, "as in names: {all: [facts.plan.creates]}", "names of a question is a mapping of an answer to the values that its words must name")
		return
	}
	var answers []string
	for _, a := range s.Answers {
		answers = append(answers, a.Value)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		s.names[r.OneOf(n.Content[i], "names", answers)] = r.values(n.Content[i+1])
	}
}

func (r *reader) values(n *yaml.Node) []*expr {
	var out []*expr
	for _, item := range r.Items(n, "names") {
		if e := r.expr(item, "names", wantValue); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// NamesError says what a proof does not name. Of is how many values it had to name.
type NamesError struct {
	Missing []string
	Of      int
}

func (e *NamesError) Error() string {
	few := e.Missing
	if len(few) > shownNames {
		few = append(slices.Clone(few[:shownNames]), fmt.Sprintf("and %d more", len(e.Missing)-shownNames))
	}
	return "the words do not name " + strings.Join(few, ", ")
}

// Cure says what to write instead.
func (e *NamesError) Cure() string {
	if e.Of > 1 {
		return fmt.Sprintf("Name each, or write %d of %d if each was looked up. If not, choose another answer.", e.Of, e.Of)
	}
	return "Name it as it stands in what was looked at. If that is another, the step is not done."
}

// hollow reports whether words say nothing that another person could look up.
func hollow(words, answer string) bool {
	w := strings.ToLower(strings.Trim(words, " \t.,;:!?-_"))
	switch w {
	case "", "ok", "okay", "k", "yes", "y", "no", "n", "yep", "nope", "sure", "fine", "good", "true", "false", "done", "agreed", "approved", "confirmed", "checked", "n/a", "na", "tbd", "todo", "see above":
		return true
	}
	return w == strings.ToLower(answer)
}

// shownNames is how many missing values an error lists.
const shownNames = 3

// Takes reports whether words settle a step: the proof of a step by hand looks as its
// pattern says, and the words name the values that the step lists. A value that was not
// read is not asked for, and a word that only agrees is no evidence where the step asks
// for it. The error is a [*ProofError], a [*HollowError] or a [*NamesError].
func (r *Runbook) Takes(step, answer, words string, v Vars) error {
	s := r.step(step)
	if s == nil {
		return nil
	}
	if s.Kind == triage.ManualStep {
		if err := s.Accepts(words); err != nil {
			return err
		}
	}
	if s.evidence != nil && answer != triage.Unknown && hollow(words, answer) {
		return &HollowError{Words: words, Evidence: r.trimmed(s.evidence, v)}
	}
	need := r.mustName(s, answer, v)
	var missing []string
	for _, value := range need {
		if !namesValue(words, value) {
			missing = append(missing, value)
		}
	}
	if len(missing) == 0 || len(need) > 1 && countsAll(words, len(need)) {
		return nil
	}
	return &NamesError{Missing: missing, Of: len(need)}
}

// Names are the values that the words must name, those that are known, by answer; of a
// step by hand they stand under "".
func (r *Runbook) Names(step string, v Vars) map[string][]string {
	s := r.step(step)
	if s == nil || len(s.names) == 0 {
		return nil
	}
	out := map[string][]string{}
	for answer := range s.names {
		if values := r.mustName(s, answer, v); len(values) > 0 {
			out[answer] = values
		}
	}
	return out
}

// Naming says in one line what words must name.
func Naming(values []string) string {
	if len(values) == 0 {
		return ""
	}
	some := slices.Clone(values[:min(len(values), shownNames)])
	for i, value := range some {
		if hex := bareDigest(value); digestForm.MatchString(hex) {
			some[i] = hex[:12]
		}
	}
	line := "Name " + strings.Join(some, ", ")
	if n := len(values); n > shownNames {
		line += fmt.Sprintf(" and the other %d", n-shownNames)
	}
	if n := len(values); n > 1 {
		line += fmt.Sprintf(", or write %d of %d", n, n)
	}
	return line + "."
}

func (r *Runbook) mustName(s *Step, answer string, v Vars) []string {
	var out []string
	for _, e := range s.names[answer] {
		got := r.eval(e, v)
		if !got.known() {
			continue
		}
		values, list := stringsOf(got.val)
		if !list {
			values = []string{show(got.val)}
		}
		for _, value := range values {
			if value = strings.TrimSpace(value); value != "" && !slices.Contains(out, value) {
				out = append(out, value)
			}
		}
	}
	return out
}

// digestForm is a value that people write by its first characters, as git's commits.
var digestForm = regexp.MustCompile(`^[0-9a-f]{40,}$`)

// shortDigest is how many characters of a digest name it.
const shortDigest = 8

// bareDigest is a digest without the algorithm that images have before it.
func bareDigest(value string) string { return strings.TrimPrefix(value, "sha256:") }

func namesValue(words, value string) bool {
	words, value = strings.ToLower(words), strings.ToLower(value)
	if hex := bareDigest(value); digestForm.MatchString(hex) {
		return hasWord(words, hex, hex[:shortDigest])
	}
	return hasWord(words, value, value)
}

// hasWord reports whether words has start where a word begins, going on at most as value
// does: a longer name that begins or ends alike is another.
func hasWord(words, value, start string) bool {
	for from := 0; ; {
		i := strings.Index(words[from:], start)
		if i < 0 {
			return false
		}
		at := from + i
		n := len(start)
		for at+n < len(words) && n < len(value) && words[at+n] == value[n] {
			n++
		}
		rest := strings.TrimLeft(words[at+n:], ".,;:!?)")
		if (at == 0 || !inName(words[at-1])) && (rest == "" || len(rest) < len(words[at+n:]) && !inName(rest[0]) || !inName(words[at+n])) {
			return true
		}
		from = at + 1
	}
}

// inName reports whether a byte goes on with a name: of a resource address, an id, a
// path.
func inName(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '/' || c == '[' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80
}

// countsAll reports whether words say that all n were looked up.
func countsAll(words string, n int) bool {
	return regexp.MustCompile(fmt.Sprintf(`(?i)\b(?:%d\s*(?:of|/)\s*%d|all\s+%d)\b`, n, n, n)).MatchString(words)
}

// MustName says by answer which facts the words must name, as the author wrote them.
func (s Step) MustName() []string {
	var out []string
	for _, answer := range slices.Sorted(maps.Keys(s.names)) {
		var of []string
		for _, e := range s.names[answer] {
			of = append(of, e.src)
		}
		line := "It must name " + strings.Join(of, ", ")
		if answer != "" {
			line = "With " + answer + " it must name " + strings.Join(of, ", ")
		}
		out = append(out, line)
	}
	return out
}
