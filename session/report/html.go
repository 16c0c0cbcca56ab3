package report

import (
	_ "embed" // the page
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
)

//go:embed page.html.tmpl
var builtin string

// PageMax bounds what a template may write.
const PageMax = 64 << 20

// WriteHTML writes one self-contained page: no script, nothing loaded from anywhere. Every text goes through
// html/template, which escapes it for the place it stands in.
func WriteHTML(w io.Writer, d Document) error {
	if d.Review != nil {
		return WriteTemplate(w, d, "review.html.tmpl", builtinReview)
	}
	return WriteTemplate(w, d, "page.html.tmpl", builtin)
}

//go:embed review.html.tmpl
var builtinReview string

// WriteTemplate writes a document through the caller's html/template. The template sees the Document as `.` and has
// the functions of the template language and no others, so it can neither read files nor reach a network. What is wrong
// with it is a *TemplateError that names its line.
func WriteTemplate(w io.Writer, d Document, name, source string) error {
	t, err := template.New("report").Option("missingkey=error").Parse(source)
	if err != nil {
		return templateError(name, err)
	}
	bound := &bounded{w: w, left: PageMax}
	if err := t.Execute(bound, d); err != nil {
		if bound.err != nil {
			return bound.err
		}
		return templateError(name, err)
	}
	return nil
}

// TemplateError says what is wrong with a template, and where.
type TemplateError struct {
	Name string
	Line string // "" where the language does not say
	Err  error
}

func (e *TemplateError) Error() string {
	if e.Line == "" {
		return fmt.Sprintf("template %q: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("template %q, line %s: %v", e.Name, e.Line, e.Err)
}

func (e *TemplateError) Unwrap() error { return e.Err }

// position is where the template packages put the line: before a message of theirs.
var position = regexp.MustCompile(`^(?:html/)?(?:template: )?(?:report:|template: report:)([0-9]+)(?::[0-9]+)?: (?s:(.*))$`)

func templateError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "html/template:")
	if m := position.FindStringSubmatch(text); m != nil {
		return &TemplateError{Name: name, Line: m[1], Err: errors.New(m[2])}
	}
	return &TemplateError{Name: name, Err: err}
}

// bounded is a writer that takes only so much.
type bounded struct {
	w    io.Writer
	left int
	err  error
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) > b.left {
		b.err = fmt.Errorf("the template writes more than %d MiB", PageMax>>20)
		return 0, b.err
	}
	b.left -= len(p)
	n, err := b.w.Write(p)
	if err != nil {
		b.err = err
	}
	return n, err
}
