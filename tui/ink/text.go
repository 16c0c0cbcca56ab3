package ink

import (
	"fmt"
	"strings"

	"handrail/evidence/visible"
)

// Text is text that cannot act on a terminal. Constants are texts; everything
// else becomes one through shown, block, inline or say and nowhere else.
type Text = visible.Text

// Block makes outside text of several lines harmless.
func Block(s string) Text { return visible.String(s) }

// Shown makes outside text harmless and puts it on one line.
func Shown(s string) Text { return visible.Line(strings.TrimSpace(s)) }

// Inline makes a part of a line harmless and keeps its outer spaces, which a
// person who types must see.
func Inline(s string) Text { return visible.Line(s) }

// Say formats a line; what is filled in may come from outside.
func Say(format string, args ...any) Text { return visible.Line(fmt.Sprintf(format, args...)) }
