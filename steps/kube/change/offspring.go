package change

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/kube/stuck"
)

// mostOffspring bounds the children in a diff.
const mostOffspring = 30

// offspring names what the garbage collector deletes after the object, and what
// could not be looked for. A protected one among them refuses.
func (s *subject) offspring(ctx context.Context, f floors) ([]string, error) {
	b, err := stuck.Children(ctx, s.c, s.t, s.o, s.marks)
	if err != nil {
		return nil, err
	}
	for _, why := range b.Guarded {
		f.unmet("leave both alone; the person who set the mark can say why; it cannot be waived here",
			"What %s owns goes with it, and one of that is protected: %s.", s.t, why)
	}
	var out []string
	for i, name := range b.Names {
		if i == mostOffspring {
			out = append(out, fmt.Sprintf("- %d more that it owns, in the background", len(b.Names)-i))
			break
		}
		out = append(out, "- "+name+", in the background")
	}
	for i, name := range b.Held {
		if i == mostOffspring {
			break
		}
		out = append(out, "  "+name+" stays until its own finalizers are gone")
	}
	if why := b.Unread(); why != "" {
		out = append(out, notKnown+steps.Clip(why, 300))
	}
	return out, nil
}
