package adopt

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// plain is text that YAML 1.1 and 1.2 read as text without quotes: it begins with a letter, a slash or the dashes of a flag, or is a version or an amount.
var plain = regexp.MustCompile(`^(?:(?:--)?[A-Za-z/][\w./@%+=-]*(?:[ :][\w./@%+=-]+)*|\d+\.\d+\.\d+[\w.-]*|[1-9]\d*(?:\.\d+)?(?:m|k|[KMGTPE]i|[MGTP]|ms|s|h|%))$`)

// words are those that YAML 1.1 reads as something else.
var words = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf)$`)

func isPlain(s string) bool { return plain.MatchString(s) && !words.MatchString(s) }

// form is one way to write a value: what stands in its place, and lines below it.
type form struct{ inline, below string }

// around is what a value is written into.
type around struct {
	style  yaml.Style // of what stood there
	flow   bool       // between brackets
	json   bool       // the file is JSON
	indent string     // for lines below, "" where there may be none
	eol    string
}

// forms are the ways to write a scalar, the one closest to what stood there first.
func forms(v any, a around) []form {
	s, is := v.(string)
	if !is {
		return []form{{inline: jsonOf(v)}}
	}
	double := form{inline: quoted(s)}
	if a.json {
		return []form{double}
	}
	var out []form
	if below, head, ok := literal(s, a); ok {
		out = append(out, form{head, below})
	}
	single := !strings.ContainsAny(s, "\n\r\t") && s != "" || a.style&yaml.SingleQuotedStyle != 0 && s == ""
	switch {
	case strings.ContainsAny(s, "\n\r\t"):
	case a.style&yaml.DoubleQuotedStyle != 0:
		return append(out, double)
	case a.style&yaml.SingleQuotedStyle != 0:
	case isPlain(s):
		out = append(out, form{inline: s})
	default:
		return append(out, double)
	}
	if single {
		out = append(out, form{inline: "'" + strings.ReplaceAll(s, "'", "''") + "'"})
	}
	return append(out, double)
}

// quoted is text in double quotes: what JSON writes is YAML 1.2 (section 1.3).
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// literal is text of several lines as a block below its head.
func literal(s string, a around) (below, head string, ok bool) {
	body := strings.TrimRight(s, "\n")
	if a.flow || a.indent == "" || !strings.Contains(s, "\n") || body == "" || strings.ContainsAny(s, "\r") || strings.ContainsAny(body[:1], " \t\n") {
		return "", "", false
	}
	head = "|"
	switch len(s) - len(body) {
	case 0:
		head = "|-"
	case 1:
	default:
		head = "|+"
	}
	var b strings.Builder
	for line := range strings.SplitSeq(body, "\n") {
		b.WriteString(a.eol)
		if line != "" {
			b.WriteString(a.indent + line)
		}
	}
	for range len(s) - len(body) - 1 {
		b.WriteString(a.eol)
	}
	return b.String(), head, true
}

// keyed is a key as it is written.
func keyed(key string, a around) string {
	if !a.json && isPlain(key) && !strings.Contains(key, ":") {
		return key
	}
	return quoted(key)
}

// made is a value as the library reads it.
func made(v any) (*yaml.Node, error) {
	if s, is := v.(string); is {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}, nil
	}
	docs, err := documents([]byte(jsonOf(v)))
	if err != nil || len(docs) != 1 || len(docs[0].Content) != 1 || docs[0].Content[0].Kind != yaml.ScalarNode {
		return nil, errForm
	}
	return docs[0].Content[0], nil
}
