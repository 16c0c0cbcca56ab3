package tui

import (
	"fmt"
	"strings"

	"handrail/evidence/visible"
)

// text is text that cannot act on a terminal. Constants are texts; everything
// else becomes one through shown, block, inline or say and nowhere else.
type text = visible.Text

// block makes outside text of several lines harmless.
func block(s string) text { return visible.String(s) }

// shown makes outside text harmless and puts it on one line.
func shown(s string) text { return visible.Line(strings.TrimSpace(s)) }

// inline makes a part of a line harmless and keeps its outer spaces, which a
// person who types must see.
func inline(s string) text { return visible.Line(s) }

// say formats a line; what is filled in may come from outside.
func say(format string, args ...any) text { return visible.Line(fmt.Sprintf(format, args...)) }
