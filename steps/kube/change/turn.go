package change

import (
	"context"
	"slices"
	"strings"
	"time"

	"handrail/steps"
)

// notKnown begins a line of a diff for what could not be looked for.
const notKnown = "- perhaps more, in the background: not known: "

const (
	turnReads = 4               // how often an object is read at its turn, at most
	turnPause = 1 * time.Second // between two of these reads
)

// readAtTurn previews an object of a batch directly before its request. A type that comes or goes
// somewhere in the cluster cannot be listed for a moment: where nothing but that differs
// from what was shown, the object is read again.
func readAtTurn(ctx context.Context, shown steps.Preview, preview func() (steps.Preview, error)) (steps.Preview, error) {
	for n := 1; ; n++ {
		fresh, err := preview()
		if err != nil || n == turnReads || slices.Equal(fresh.Diff, shown.Diff) || !slices.Equal(looked(fresh.Diff), looked(shown.Diff)) {
			return fresh, err
		}
		wait := time.NewTimer(turnPause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return fresh, nil
		}
	}
}

// looked is a diff without what could not be looked for.
func looked(diff []string) []string {
	return slices.DeleteFunc(slices.Clone(diff), func(line string) bool { return strings.HasPrefix(line, notKnown) })
}

// strayedFrom says why what was read at the turn of an object is not what was shown of it;
// it is "" where nothing differs.
func strayedFrom(fresh, shown steps.Preview) string {
	switch {
	case len(fresh.Unmet) > 0:
		return fresh.Unmet[0].Why
	case fresh.Request != shown.Request:
		return "its request would be another one than was shown"
	case !slices.EqualFunc(fresh.Owners, shown.Owners, func(a, b steps.Owner) bool { return a.Name == b.Name && a.Paused == b.Paused }):
		return "who would undo it is not who was shown"
	case !slices.Equal(fresh.Diff, shown.Diff):
		return "the rehearsal came out otherwise than was shown: " + steps.Clip(strings.Join(fresh.Diff, ", "), 300)
	}
	return ""
}
