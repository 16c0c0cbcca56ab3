package process

import (
	"bytes"
	"io"
	"strings"

	"handrail/evidence/visible"
)

// Harmless stands before whatever is said and is not data: errors, hints, progress,
// and the words of cobra. What a terminal would act upon comes out as an escape,
// wherever it comes from and whether or not the place that says it thought of that.
type Harmless struct{ W io.Writer }

// Overwrite begins a line of progress that takes the place of the one before.
const Overwrite = "\r\x1b[K"

func (h Harmless) Write(b []byte) (int, error) {
	if _, err := h.W.Write(Defused(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Defused is a message as a terminal may have it. Each write is a message of its own.
func Defused(b []byte) []byte {
	rest, progress := bytes.CutPrefix(b, []byte(Overwrite))
	var out strings.Builder
	if progress {
		out.WriteString(Overwrite)
	}
	for i, part := range strings.Split(string(rest), "\t") { // a completion is parted from its description by one
		if i > 0 {
			out.WriteByte('\t')
		}
		out.WriteString(visible.String(part).String())
	}
	return []byte(out.String())
}
