package process

import (
	"fmt"
	"io"
	"strings"

	"handrail/steps"
)

// Field is the public form of a parameter or a fact.
type Field struct {
	Name     string     `json:"name"`
	Type     steps.Type `json:"type"`
	Doc      string     `json:"doc"`
	Values   []string   `json:"values,omitempty"`
	Default  string     `json:"default,omitempty"`
	Required bool       `json:"required,omitempty"`
	Pattern  string     `json:"pattern,omitempty"`
	Literal  bool       `json:"literal,omitempty"`
	Lines    bool       `json:"lines,omitempty"`
	Ages     bool       `json:"ages,omitempty"`
	Words    bool       `json:"words,omitempty"`
}

// Fields is the public form of a list.
func Fields(from []steps.Field) []Field {
	out := []Field{}
	for _, f := range from {
		out = append(out, Field{f.Name, f.Type, f.Doc, f.Values, f.Default, f.Required, f.Pattern, f.Literal, f.Lines, f.Ages, f.Words})
	}
	return out
}

// ShowFields prints parameters or facts under a title.
func ShowFields(w io.Writer, title string, list []steps.Field) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, f := range list {
		notes := []string{string(f.Type)}
		if len(f.Values) > 0 {
			notes = append(notes, strings.Join(f.Values, "|"))
		}
		if f.Required {
			notes = append(notes, "required")
		}
		if f.Default != "" {
			notes = append(notes, "default "+f.Default)
		}
		fmt.Fprintf(w, "  %s (%s)\n", f.Name, Safe(strings.Join(notes, ", ")))
		Lines(w, "      ", f.Doc)
	}
}
