package redact

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"handrail/evidence/jsontree"
)

// kubeconfigKeys are the fields whose values are kept: names, where a server is, and how one authenticates. All other
// values are hidden, since any of them may be a credential in some client's plugin.
var kubeconfigKeys = []string{
	"apiVersion", "kind", "current-context", "name", "cluster", "user", "namespace", "server", "context", "contexts",
	"clusters", "users", "preferences", "insecure-skip-tls-verify", "tls-server-name", "exec", "command", "env", "args",
	"auth-provider", "config", "interactiveMode", "provideClusterInfo", "extensions", "extension", "client-certificate", "client-key",
	"certificate-authority", "tokenFile",
}

// redactKubeconfig works on lines of block-style YAML, or on the tree of a kubeconfig written as JSON.
func redactKubeconfig(r *Redactor, in []byte, n Counts) ([]byte, bool) {
	if t := bytes.TrimLeft(in, " \t\r\n"); len(t) > 0 && t[0] == '{' {
		return redactTree(in, func(root *jsontree.Node) { r.kubeconfigTree(root, "", n) })
	}
	if !bytes.Contains(in, []byte("apiVersion:")) && !bytes.Contains(in, []byte("clusters:")) {
		return nil, false
	}
	var out []byte
	inArgs, hiding := -1, -1 // indentation of args: and of a field whose further lines are dropped
	for raw := range bytes.Lines(in) {
		line := bytes.TrimRight(raw, "\r\n")
		body := bytes.TrimLeft(line, " ")
		indent := len(line) - len(body)
		if hiding >= 0 && (len(body) == 0 || indent > hiding) {
			continue
		}
		hiding = -1
		item := bytes.HasPrefix(body, []byte("-"))
		if inArgs >= 0 && !(indent > inArgs || item && indent == inArgs) {
			inArgs = -1
		}
		if len(body) == 0 || body[0] == '#' {
			continue // comments are no evidence and may hold anything
		}
		text := bytes.TrimLeft(body, "- ")
		lead := line[:len(line)-len(text)]
		key, value, isField := yamlField(text)
		switch {
		case inArgs >= 0 || !isField:
			switch {
			case len(text) == 0:
			case r.onlyTokens(text):
				out = append(append(out, line...), '\n')
			default:
				out = append(r.token(append(out, lead...), "kubeconfig", bytes.Trim(text, `"'`)), '\n')
				n.add("kubeconfig")
			}
			hiding = indent
			if !item && inArgs >= 0 {
				hiding = inArgs
			}
			continue
		case key == "args" && value == "":
			inArgs = indent
		}
		kept, hide := r.kubeconfigValue(key, value)
		out = append(append(append(out, lead...), key...), ':')
		if value != "" {
			out = append(append(out, ' '), kept...)
		}
		out = append(out, '\n')
		if hide {
			n.add("kubeconfig")
			hiding = len(lead)
		}
	}
	return out, true
}

func yamlField(text []byte) (key, value string, ok bool) {
	i := bytes.IndexByte(text, ':')
	if i <= 0 || i+1 < len(text) && text[i+1] != ' ' || bytes.ContainsAny(text[:i], " \"'{[") {
		return "", "", false
	}
	return string(text[:i]), strings.TrimSpace(string(text[i+1:])), true
}

// kubeconfigValue returns what is stored for a field, and whether that is a token.
func (r *Redactor) kubeconfigValue(key, value string) (string, bool) {
	plain := strings.Trim(value, `"'`)
	if value == "" || r.onlyTokens([]byte(value)) {
		return value, false
	}
	if slices.Contains(kubeconfigKeys, key) && !strings.ContainsRune("{[&*|>!", rune(value[0])) || value == "{}" || value == "[]" {
		if key != "server" {
			return r.Text(value), false
		}
		if u, err := url.Parse(plain); err == nil && u.Host != "" {
			return u.Scheme + "://" + u.Host, false
		}
	}
	return string(r.token(nil, "kubeconfig", []byte(plain))), true
}

func (r *Redactor) kubeconfigTree(n *jsontree.Node, key string, c Counts) {
	switch n.Kind {
	case jsontree.String:
		kept, hidden := r.kubeconfigValue(key, n.Text)
		if n.Text = kept; hidden {
			c.add("kubeconfig")
		}
		return
	case jsontree.Literal:
		return
	}
	for _, m := range n.Members {
		k := m.Key
		if n.Kind == jsontree.Array {
			k = "" // a scalar in a list is an argument
		}
		r.kubeconfigTree(m.Value, k, c)
	}
}
