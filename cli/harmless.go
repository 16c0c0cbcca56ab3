package cli

import (
	"bytes"
	"io"
	"strings"

	"handrail/evidence/visible"
)

// harmless stands before whatever is said and is not data: errors, hints, progress,
// and the words of cobra. What a terminal would act upon comes out as an escape,
// wherever it comes from and whether or not the place that says it thought of that.
type harmless struct{ w io.Writer }

// overwrite begins a line of progress that takes the place of the one before.
const overwrite = "\r\x1b[K"

func (h harmless) Write(b []byte) (int, error) {
	if _, err := h.w.Write(defused(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// defused is a message as a terminal may have it. Each write is a message of its own.
func defused(b []byte) []byte {
	rest, progress := bytes.CutPrefix(b, []byte(overwrite))
	var out strings.Builder
	if progress {
		out.WriteString(overwrite)
	}
	for i, part := range strings.Split(string(rest), "\t") { // a completion is parted from its description by one
		if i > 0 {
			out.WriteByte('\t')
		}
		out.WriteString(visible.String(part).String())
	}
	return []byte(out.String())
}
