package redact

import (
	"math/rand/v2"
	"testing"
)

// TestCutForms ends every syntax at each of its bytes, as a crash or a full buffer does: nothing panics, and what comes out is not
// redacted again.
func TestCutForms(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(13, 13))
	r := testRedactor()
	check := func(name, text string) {
		for end := range text {
			in := text[:end]
			out := r.Text(in)
			if again := r.Text(out); again != out {
				t.Errorf("%s: second pass changes\n%q to\n%q", name, out, again)
				return
			}
		}
	}
	for n, w := range writings {
		s := settings[n*7%len(settings)]
		v, _ := plantValue(rnd, s.value)
		if text, ok := w.write(s.name, v); ok {
			check(w.name+", "+s.name, text)
		}
	}
	for _, k := range ownForms {
		text, _ := plantForm(rnd, k.text)
		check(k.name, text)
	}
	for _, k := range kinds {
		text, _ := plant(rnd, k.text)
		check(k.name, text)
	}
}
