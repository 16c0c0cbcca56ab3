package redact

// What the tests have that make bundles, which this package knows nothing of.
var (
	Plant       = plant
	AllSlices12 = allSlices12
	LeakOf      = leakOf
	BigState    = bigState
)

// KindTexts are the texts of kinds.
func KindTexts() (out []string) {
	for _, k := range kinds {
		out = append(out, k.text)
	}
	return out
}

// Wraps are the shapes in which a secret reaches a capture.
func Wraps() (out []func(string) string) {
	for _, c := range contexts {
		out = append(out, c.wrap)
	}
	return out
}

// CleanLines are lines of clean text.
func CleanLines(seed uint64, size int) string {
	c := newCleanText(seed)
	var out []byte
	for len(out) < size {
		out = append(append(out, c.line()...), '\n')
	}
	return string(out)
}
