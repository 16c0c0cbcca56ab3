package report

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestOwnTemplate(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	src := `<h1>{{.Title}}</h1>{{range .Timeline}}<p title="{{.Text}}">{{.At.Format "15:04"}}</p>{{end}}`
	if err := WriteTemplate(&b, whole(t, func(s string) string { return s + `"<b>` }, -1), "team.tmpl", src); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "<h1>Plan cannot get the lock&#34;&lt;b&gt;</h1>") || strings.Contains(got, "<b>") {
		t.Errorf("the page is %q, want the title escaped", got)
	}
}

func TestBadTemplateNamesItsLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, src, line, want string }{
		{"cannot be parsed", "<p>\n{{if}}</p>", "2", "missing value for if"},
		{"a function that is none", "\n\n{{readFile \"/etc/passwd\"}}", "3", `function "readFile" not defined`},
		{"a field that is none", "a\n{{.Titel}}", "2", "Titel"},
		{"text where no text can go", "<script>\nvar x = {{if .Drill}}\"{{else}}'{{end}}\n</script>", "2", "{{if}} branches end in different contexts"},
		{"a template that is none", "\n{{template \"x\"}}", "2", "x"},
		{"a template that never ends", "{{define \"x\"}}{{template \"x\"}}{{end}}\n{{template \"x\"}}", "1", "exceeded maximum template depth"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := WriteTemplate(io.Discard, whole(t, itself, -1), "team.tmpl", tc.src)
			var bad *TemplateError
			if !errors.As(err, &bad) || bad.Line != tc.line || bad.Name != "team.tmpl" || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("WriteTemplate() = %v, want line %s and %q", err, tc.line, tc.want)
			}
		})
	}
}

func TestTemplateIsBounded(t *testing.T) {
	t.Parallel()
	src := `{{define "x"}}` + strings.Repeat("0123456789", 1000) + `{{end}}{{range 1000000000}}{{template "x"}}{{end}}`
	err := WriteTemplate(io.Discard, Document{}, "endless", src)
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Fatalf("WriteTemplate() = %v, want the bound", err)
	}
}

// A template can call the methods of what it is given, so the document has none of its own.
func TestDocumentIsDataOnly(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
			t.Errorf("the document holds a %s", typ)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(typ.Elem())
		case reflect.Struct:
			if typ.PkgPath() == "time" {
				return
			}
			if n := reflect.PointerTo(typ).NumMethod(); n > 0 {
				t.Errorf("%s has %d methods", typ, n)
			}
			for i := range typ.NumField() {
				walk(typ.Field(i).Type)
			}
		}
	}
	walk(reflect.TypeFor[Document]())
	if len(seen) < 15 {
		t.Errorf("only %d types were seen: the test looks for the wrong thing", len(seen))
	}
}

func TestPageLoadsNothing(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteHTML(&b, whole(t, itself, -1)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page has no policy")
	}
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", "src=", "http:", "javascript:"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}
