package runbooks

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A person who has no error text tells what they see. Their words are held to the
// symptoms of the runbooks, each word weighed by how few runbooks use it, so that
// "plan" and "apply" say little and "colleague" says much.
const (
	toldShare = 0.55 // of the weight of a symptom, from which on it is told
	knownPart = 0.7  // of the weight of a story, from which on a runbook knows it
	toldWords = 3    // of a symptom or a runbook that a text must have
	toldMost  = 250  // words, beyond which a text is no story
)

// told ranks the runbooks of which a text in words tells a symptom.
func told(lib []*Runbook, text string) []Hit {
	if !prose(text) {
		return nil
	}
	hits := resembling(lib, text)
	if i := slices.IndexFunc(hits, func(h Hit) bool { return h.Score < Floor }); i >= 0 {
		hits = hits[:i]
	}
	return hits
}

// resembling ranks the runbooks by the symptom that is most like a text in words;
// one that is told scores Floor or more.
func resembling(lib []*Runbook, text string) []Hit {
	if !prose(text) {
		return nil
	}
	weight := weights(lib)
	best := map[string]scored{}
	for _, sentence := range sentences.Split(cleaned(text), -1) {
		for _, s := range likeness(lib, weight, strings.TrimSpace(sentence)) {
			if o, ok := best[s.Runbook]; !ok || closer(s, o) < 0 {
				best[s.Runbook] = s
			}
		}
	}
	list := slices.SortedFunc(maps.Values(best), closer)
	var hits []Hit
	for _, s := range list {
		hits = append(hits, s.Hit)
	}
	return hits
}

// sentences end a thought: what is told of one symptom stands in one of them.
var sentences = regexp.MustCompile(`[.!?](?:\s+|$)|\n\s*\n`)

// scored is a hit with how much of its best symptom a sentence has, and how much of
// all the words of its runbook.
type scored struct {
	Hit
	share, all float64
}

func closer(a, b scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.share*b.all, a.share*a.all), cmp.Compare(a.Runbook, b.Runbook))
}

// likeness holds one sentence to the symptoms of the runbooks.
func likeness(lib []*Runbook, weight map[string]float64, sentence string) []scored {
	has, story := map[string]bool{}, 0.0
	for _, w := range stems(sentence) {
		has[w] = true
		if weight[w] > 0 {
			story += weight[w]
		} else {
			story += math.Log(1 + float64(len(lib))) // a word that no runbook uses
		}
	}
	var list []scored
	for _, b := range lib {
		best := scored{Hit: Hit{Runbook: b.ID, Title: b.Title, Line: strings.Join(strings.Fields(sentence), " "), Groups: map[string]string{}}}
		seen := map[string]bool{}
		for _, symptom := range b.symptoms() {
			var whole, got float64
			words := 0
			for _, w := range stems(symptom) {
				whole += weight[w]
				if !has[w] {
					continue
				}
				got += weight[w]
				words++
				if !seen[w] {
					seen[w] = true
					best.all += weight[w]
				}
			}
			if words < 2 || got/whole <= best.share {
				continue
			}
			best.share, best.Score = got/whole, 1
			if best.share >= toldShare && words >= toldWords {
				best.Score = Floor
			}
			best.Say = "It reads like: " + symptom + "."
		}
		if best.Score > 0 && len(seen) >= toldWords && best.all >= knownPart*story {
			best.Score = Floor
		}
		if best.Score > 0 {
			list = append(list, best)
		}
	}
	return list
}

// weights says of each word how much it tells: the fewer runbooks use it in their
// symptoms, the more.
func weights(lib []*Runbook) map[string]float64 {
	uses := map[string]int{}
	for _, b := range lib {
		mine := map[string]bool{}
		for _, s := range b.symptoms() {
			for _, w := range stems(s) {
				mine[w] = true
			}
		}
		for w := range mine {
			uses[w]++
		}
	}
	out := map[string]float64{}
	for w, n := range uses {
		out[w] = math.Log(1 + float64(len(lib))/float64(n))
	}
	return out
}

// prose reports whether a text is told in words: nearly all of it is letters, and
// there are as many words as a person types.
func prose(text string) bool {
	words := len(strings.Fields(text))
	if words < 4 || words > toldMost || output.MatchString(text) {
		return false
	}
	letters, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsSpace(r) && !strings.ContainsRune(".,;:!?'’\"()-", r):
			others++
		}
	}
	return letters > 0 && others*20 <= letters
}

// output are the marks of what a program printed.
var output = regexp.MustCompile("(?i)\\b(?:error|warning|fatal|panic|exception)\\b ?[:(]|[│`{}<>=|]|(?m:^\\s*(?:[$>*]|#+) )")

var (
	idle = strings.Fields(`a about after again all also an and any are as at be been because before being but by can could did do does for from get gets
		got had has have he her his i if in into is it its just me my no not now of off on one or our out she should so some still than that the
		their them then there these they this those to too up us very was we were what when where which who why will with without would you your`)
	kin = map[string]string{"told": "say", "tells": "say", "tell": "say", "says": "say", "said": "say", "saying": "say", "held": "hold", "ran": "run",
		"made": "make", "gone": "go", "went": "go", "broken": "break", "broke": "break", "lost": "lose", "undone": "undo", "began": "begin", "begun": "begin",
		"coworker": "colleague", "teammate": "colleague", "wants": "want", "wanted": "want", "recreate": "create", "db": "database"}
)

// stems are the words of a text that tell something, each once and without its
// ending.
func stems(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) < 2 || slices.Contains(idle, w) {
			continue
		}
		if k := kin[w]; k != "" {
			w = k
		}
		if w = stem(w); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		cut, has := strings.CutSuffix(w, end)
		if !has || len(cut) < 3 || strings.HasSuffix(w, "ss") {
			continue
		}
		w = cut
		if n := len(w); n > 3 && w[n-1] == w[n-2] && end != "s" && end != "es" && w[n-1] != 's' && w[n-1] != 'l' {
			w = w[:n-1] // running, stopped
		}
		break
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}
