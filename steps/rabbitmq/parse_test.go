package rabbitmq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"handrail/steps"
)

func TestVhostOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, vhost, password, bad string }{
		// By the appendix of the specification of RabbitMQ's URIs.
		{"amqp://user:pass@host:10000/vhost", "vhost", "pass", ""},
		{"amqp://user%61:%61pass@ho%61st:10000/v%2fhost", "v/host", "apass", ""},
		{"amqp://", "/", "", ""},
		{"amqp://:@/", "", "", ""},
		{"amqp://user@", "/", "", ""},
		{"amqp://host:10000", "/", "", ""},
		{"amqp:///vhost", "vhost", "", ""},
		{"amqp://host/", "", "", ""},
		{"amqp://host/%2F", "/", "", ""},
		{"amqp://[::1]", "/", "", ""},
		{"amqps://host/a?verify=verify_peer", "a", "", ""},
		{"AMQPS://host/a", "a", "", ""},
		{"amqp://u:p@ss@host/a", "a", "p@ss", ""},
		{"/platform", "/platform", "", ""},
		{"platform", "platform", "", ""},
		{"http://host/x", "http://host/x", "", ""}, // as strange as it is
		{"amqp://host/a/b", "", "", "slash"},
		{"amqp://host/%zz", "", "", "percent"},
		{"amqp://host/%00", "", "", "cannot be shown"},
		{"a\nb", "a\nb", "", "cannot be shown"},
		{strings.Repeat("a", 256), strings.Repeat("a", 256), "", "255"},
	} {
		vhost, password, err := vhostOf(tc.text)
		if (err == nil) != (tc.bad == "") || err != nil && !strings.Contains(err.Error(), tc.bad) {
			t.Errorf("%q: %v, want %q", tc.text, err, tc.bad)
		}
		if err == nil && vhost != tc.vhost || password != tc.password {
			t.Errorf("%q: %q with %q, want %q with %q", tc.text, vhost, password, tc.vhost, tc.password)
		}
	}
}

func FuzzVhostOf(f *testing.F) {
	for _, s := range []string{"amqp://u:p@host:1/a%2Fb?x", "/", "amqp://", "amqps://[::1]/%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vhost, _, err := vhostOf(text)
		if err == nil && (len(vhost) > longestName || !utf8.ValidString(vhost)) {
			t.Errorf("%q: %q", text, vhost)
		}
		if at, ok := segment(vhost); ok && (at == "" || strings.ContainsAny(at, "/?#")) {
			t.Errorf("%q is no segment", at)
		}
	})
}

func TestParseDeclared(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want int
		bad  string
	}{
		{declaredParcels, 5, ""},
		{`[{"source":"a","destination":"q","destination_type":"queue","routing_key":"k","arguments":{}}]`, 1, ""},
		{`{"rabbit_version":"3.10.8","queues":[],"bindings":[{"source":"a","vhost":"/","destination":"q","destination_type":"queue","routing_key":"k","arguments":{"x":[1,{"y":null}]}},{"source":"a","vhost":"other","destination":"q"}]}`, 1, ""},
		{"- {source: a, destination: q}\n- {source: a, destination: q, destination_type: queue, routing_key: ''}\n", 1, ""},
		{"- {source: a, destination: q, arguments: {at: 2020-01-01, on: yes, n: 1.5}}\n", 1, ""},
		{"[]", 0, "declares nothing"},
		{"- {source: a, destination: q, vhost: other}\n", 0, "declares nothing"},
		{"", 0, "not a list"},
		{"a: b", 0, "write a list"},
		{"- a", 0, "mapping"},
		{"- {source: a}", 0, "destination is missing"},
		{"- {source: a, destination: ''}", 0, "destination is empty"},
		{"- {source: a, destination: q, destination_type: topic}", 0, "neither"},
		{"- {source: a, destination: q, rooting_key: x}", 0, `no key "rooting_key"`},
		{"- {source: a, destination: q, source: b}", 0, "twice"},
		{"- {source: a, destination: [q]}", 0, "must be a text"},
		{"- {source: a, destination: q, arguments: 7}", 0, "mapping"},
		{"- {source: a, destination: q, arguments: {n: .inf}}", 0, "arguments"},
		{"- &a {source: a, destination: q}\n- *a", 0, "mapping"},
		{"- {source: a, destination: q, arguments: {a: &b {}, c: *b}}", 0, "alias"},
		{"- {source: a, destination: q, arguments: " + strings.Repeat("{a: ", 30) + "1" + strings.Repeat("}", 31), 0, "deep"},
		{"- {source: a, destination: q}\n---\n- {}", 0, "one document"},
		{strings.Repeat("#", largestDeclared+1), 0, "over 1024 kB"},
	} {
		d, err := parseDeclared([]byte(tc.text), "/")
		if (err == nil) != (tc.bad == "") || err != nil && !strings.Contains(err.Error(), tc.bad) || len(d.bindings) != tc.want {
			t.Errorf("%q: %d, %v, want %d, %q", steps.Clip(tc.text, 100), len(d.bindings), err, tc.want, tc.bad)
		}
	}
}

// A list that is held against itself misses nothing, however it is written.
func FuzzDeclared(f *testing.F) {
	f.Add([]byte(declaredParcels))
	f.Add([]byte(`{"bindings":[{"source":"a","destination":"q","arguments":{"x":1e3,"y":9007199254740993}}]}`))
	f.Add([]byte("- {source: a, destination: q, arguments: {a: [1, {b: ~}]}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseDeclared(raw, "/")
		if err != nil {
			return
		}
		list, err := json.Marshal(d.bindings)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parsePage[binding](bytes.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		for i := range again.Items {
			if again.Items[i].Arguments, err = sameForm(again.Items[i].Arguments); err != nil {
				t.Fatal(err)
			}
		}
		if m := hold(d.bindings, again.Items); m.present != len(d.bindings) || len(m.missing) > 0 || len(m.extra) > 0 {
			t.Errorf("%d of %d: %v", m.present, len(d.bindings), m)
		}
		if m := hold(d.bindings, nil); m.present != 0 || len(m.missing) != len(d.bindings) {
			t.Errorf("of nothing: %v", m)
		}
	})
}

func FuzzBrokers(f *testing.F) {
	f.Add([]byte("apiVersion: handrail/v1\nkind: Brokers\nbrokers:\n- {url: https://b, user: u, password_env: A}\n"), "https://b:443/mq")
	f.Fuzz(func(t *testing.T, raw []byte, address string) {
		all, err := parseBrokers(raw, "/nonexistent", func(string) string { return "word" })
		for _, b := range all {
			if err != nil || b.user == "" || b.password == nil {
				t.Errorf("%v: %+v", err, b)
			}
			again, err := parseBase(b.base)
			if err != nil || again.String() != b.base {
				t.Errorf("%q has another spelling: %v %v", b.base, again, err)
			}
		}
		if u, err := parseBase(address); err == nil && (u.User != nil || u.Port() == "" || strings.Contains(u.Path, "..") && strings.Contains(u.Path, "/../")) {
			t.Errorf("%q: %v", address, u)
		}
	})
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(`{"filtered_count":1,"items":[{"name":"/"}],"page":1,"page_count":1}`))
	f.Add([]byte(`[{"name":"a"},{}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := parsePage[nameEntry](bytes.NewReader(raw))
		if err != nil {
			return
		}
		if !json.Valid(raw) || p.Total < 0 || p.Pages < 0 {
			t.Errorf("%q: %+v", raw, p)
		}
		if got, err := names(p.Items); err == nil && len(got) > len(p.Items) {
			t.Errorf("%q: %q", raw, got)
		}
	})
}

// Every list of names is told whole or not at all.
func TestManyNames(t *testing.T) {
	t.Parallel()
	var many []binding
	for i := range mostNames + 1 {
		many = append(many, binding{Source: "x", Destination: fmt.Sprint(i), Type: toQueue})
	}
	if m := hold(many, nil); len(texts(m.missing)) != mostNames+1 {
		t.Error("the list is short")
	}
	if got := some(texts(many)); !strings.HasSuffix(got, fmt.Sprintf("and %d more", mostNames+1-5)) {
		t.Error(got)
	}
}
