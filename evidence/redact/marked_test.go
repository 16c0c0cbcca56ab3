package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// carrier is a document in which a value stands under a name, or marked, and again where nothing says what it is.
type carrier struct {
	source, name, media string
	text                func(name, value string) string
}

func quoted(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

func replaced(template, name, value string) string {
	return strings.NewReplacer(`"NAME"`, quoted(name), `"VALUE"`, quoted(value), `"VALUE64"`, quoted(base64.StdEncoding.EncodeToString([]byte(value))),
		`"SCRIPT"`, quoted("#!/bin/sh\nrun --with "+value+" --wait\n"), `"SCRIPT64"`, quoted(base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\nrun --with "+value+" --wait\n")))).Replace(template)
}

func ofTemplate(template string) func(string, string) string {
	return func(name, value string) string { return replaced(template, name, value) }
}

var carriers = []carrier{
	{"Kubernetes objects", "secret", MediaKubernetes, ofTemplate(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"NAME":"VALUE64"}}`)},
	{"Kubernetes objects", "secret, then a pod", MediaKubernetes, ofTemplate(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"x/note":"SCRIPT"}},"spec":{"containers":[{"args":["VALUE"]}]}},{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"NAME":"VALUE64"}}]}`)},
	{"Kubernetes objects", "env", MediaKubernetes, ofTemplate(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"env":[{"name":"NAME","value":"VALUE"}]}]}}`)},
	{"Kubernetes objects", "args", MediaKubernetes, func(name, value string) string {
		return replaced(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"args":["serve","NAME","VALUE"]}]}}`, "--"+strings.ReplaceAll(name, "_", "-"), value)
	}},
	{"Kubernetes objects", "config map", MediaKubernetes, func(name, value string) string {
		return replaced(`{"apiVersion":"v1","kind":"ConfigMap","data":{"app.yaml":"VALUE"}}`, "", "user: x\n"+name+": "+quoted(value)+"\nport: 1\n")
	}},
	{"Kubernetes objects", "custom resource", MediaKubernetes, ofTemplate(`{"apiVersion":"x/v1","kind":"Db","spec":{"auth":{"NAME":{"current":"VALUE"}}}}`)},
	{"kubeconfigs", "token", MediaKubeconfig, func(_, value string) string {
		return "apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user:\n    token: " + quoted(value) + "\n"
	}},
	{"kubeconfigs", "exec", MediaKubeconfig, func(name, value string) string {
		return "apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user:\n    exec:\n      command: get\n      args:\n      - --x\n      - " + quoted(value) + "\n      env:\n      - name: " + name + "\n        value: " + quoted(value) + "\n"
	}},
	{"states", "marked", MediaTFState, ofTemplate(`{"version":4,"serial":3,"outputs":{"o":{"value":"VALUE","type":"string"}},"resources":[{"mode":"managed","type":"x_y","name":"a","instances":[{"attributes":{"user_data":"SCRIPT","user_data_base64":"SCRIPT64"}}]},{"mode":"managed","type":"x_y","name":"b","instances":[{"attributes":{"blob":"VALUE"},"sensitive_attributes":[[{"type":"get_attr","value":"blob"}]]}]}]}`)},
	{"states", "output", MediaTFState, ofTemplate(`{"version":4,"serial":3,"outputs":{"o":{"value":"VALUE","type":"string","sensitive":true}},"resources":[{"mode":"managed","type":"x_y","name":"a","instances":[{"attributes":{"triggers":{"cmd":"SCRIPT"}}}]}]}`)},
	{"states", "by name", MediaTFState, ofTemplate(`{"version":4,"serial":3,"resources":[{"mode":"managed","type":"x_y","name":"a","instances":[{"attributes":{"NAME":"VALUE","list":[{"NAME":"VALUE"}]}}]}]}`)},
	{"states", "provider", MediaTFState, ofTemplate(`{"version":4,"serial":3,"resources":[{"mode":"managed","type":"random_password","name":"a","instances":[{"attributes":{"result":"VALUE"}}]},{"mode":"managed","type":"null_resource","name":"b","instances":[{"attributes":{"triggers":{"a":"VALUE","b":"SCRIPT64"}}}]}]}`)},
	{"states", "show", MediaTFState, ofTemplate(`{"format_version":"1.0","values":{"root_module":{"resources":[{"address":"x.a","type":"x_y","values":{"a":"VALUE","b":"SCRIPT"},"sensitive_values":{"a":true}}]}}}`)},
	{"plans", "after", MediaTFPlan, ofTemplate(`{"format_version":"1.2","planned_values":{"root_module":{"resources":[{"address":"x.a","values":{"b":"SCRIPT"},"sensitive_values":{}}]}},"resource_changes":[{"address":"x.a","change":{"before":{"p":"VALUE"},"before_sensitive":{"p":true},"after":{"p":"VALUE","q":"SCRIPT"},"after_sensitive":{"p":true}}}],"output_changes":{"o":{"after":"VALUE"}}}`)},
	{"plans", "variable", MediaTFPlan, ofTemplate(`{"format_version":"1.2","variables":{"v":{"value":"VALUE"}},"resource_changes":[{"change":{"after":{"x":"SCRIPT"},"after_sensitive":{}}}],"configuration":{"root_module":{"variables":{"v":{"sensitive":true}},"resources":[{"expressions":{"cmd":{"constant_value":"SCRIPT"}}}]}}}`)},
	{"plans", "by name", MediaTFPlan, ofTemplate(`{"format_version":"1.2","resource_changes":[{"change":{"after":{"NAME":"VALUE"},"after_sensitive":{}}}],"configuration":{"root_module":{"resources":[{"expressions":{"NAME":{"constant_value":"VALUE"}}}]}}}`)},
	{"plans", "drift", MediaTFPlan, ofTemplate(`{"format_version":"1.2","resource_drift":[{"change":{"before":{"x":"VALUE"},"after":{"x":"SCRIPT"}}}],"prior_state":{"values":{"outputs":{"o":{"sensitive":true,"value":"VALUE"}}}}}`)},
	{"plans", "text of a plan", "text/plain", func(name, value string) string {
		return "  # x_y.a will be updated in-place\n  ~ resource \"x_y\" \"a\" {\n      ~ " + name + " = " + quoted(value) + " -> " + quoted(value) + "\n    }\n\nChanges to Outputs:\n  + " + name + " = " + quoted(value) + "\n"
	}},
	{"apply -json", "outputs", "text/plain", applyJSON}, {"apply -json", "outputs, as JSON", MediaJSON, applyJSON},
	{"apply -json", "diagnostic", "text/plain", func(name, value string) string {
		return `{"@level":"error","@message":"Error: bad","diagnostic":{"severity":"error","snippet":{"code":` + quoted(name+" = "+quoted(value)) + `,"values":[{"traversal":"var.` + name + `","statement":` + quoted("is "+quoted(value)) + "}]}},\"type\":\"diagnostic\"}\n"
	}},
}

// applyJSON prints a value in a hook before the outputs mark it.
func applyJSON(name, value string) string {
	return replaced(`{"@level":"info","@message":"null_resource.x: Provisioning with 'local-exec'...","hook":{"resource":{"addr":"null_resource.x"}},"type":"provision_start"}
{"@level":"info","@message":"SCRIPT","hook":{"resource":{"addr":"null_resource.x"},"output":"VALUE"},"type":"provision_progress"}
{"@level":"info","@message":"Outputs: 1","outputs":{"o":{"sensitive":true,"type":"string","value":"VALUE"},"p":{"sensitive":false,"type":"string","value":"SCRIPT64"}},"type":"outputs"}
`, name, value)
}

// TestMarkedValues plants values in the documents of the worlds that handrail reads, marked or named once and then where nothing tells.
func TestMarkedValues(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	rnd := rand.New(rand.NewPCG(10, 10))
	y := newTally()
	for n, s := range settings {
		for i, c := range carriers {
			if !*everyForm && (n+i)%3 > 0 {
				continue
			}
			r := testRedactor()
			v, secrets := plantValue(rnd, s.value)
			name := styles["snake"](s.name)
			in := c.text(name, v)
			out, rules := stream(r, c.media, []byte(in))
			left := survives(out, secrets)
			y.take(c.source, left == "", "%s, %s: %q leaves %q in %q", c.name, s.name, in, left, out)
			for _, rule := range rules {
				if rule == Unparsed {
					t.Errorf("%s: %q is not parsed", c.name, in)
				}
			}
			if again, _ := stream(r, c.media, []byte(out)); again != out {
				t.Errorf("%s: second pass changes\n%s to\n%s", c.name, out, again)
			}
		}
	}
	y.hold(t, "marked or named", 99.5)
}

// TestMarkedElsewhere holds what is marked in one artifact to be hidden in the next ones, in every encoding, and what is marked and names
// things to stay readable there.
func TestMarkedElsewhere(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	const secret = "q8Jd0s/Lw2h+Pz5k"
	state := `{"version":4,"resources":[{"type":"x_y","instances":[{"attributes":{"all":{"password":` + quoted(secret) + `,"id":"9d3a1f6e-2b4c-4d7e-a0b1-c2d3e4f5a6b7","name":"checkout-production","region":"eu-central-1","arn":"arn:aws:iam::123456789012:role/checkout","host":"db.example.internal","user":"checkout_admin","sha":"fd42db6c0ffee1234567890abcdef1234567890a","enabled":"true","port":"5432"}},"sensitive_attributes":[[{"type":"get_attr","value":"all"}]]}]}]}`
	if out, _ := stream(r, MediaTFState, []byte(state)); strings.Contains(out, "checkout-production") || strings.Contains(out, secret) {
		t.Fatalf("what is marked is kept: %s", out)
	}
	clean := "checkout-production eu-central-1 9d3a1f6e-2b4c-4d7e-a0b1-c2d3e4f5a6b7 arn:aws:iam::123456789012:role/checkout db.example.internal checkout_admin fd42db6c0ffee1234567890abcdef1234567890a\n"
	if got, _ := stream(r, "text/plain", []byte(clean)); got != clean {
		t.Errorf("%q became %q", clean, got)
	}
	rnd := rand.New(rand.NewPCG(2, 2))
	for _, enc := range encodings {
		in := enc.wrap(rnd, "handed over "+secret+" to the next one")
		out, _ := stream(r, "text/plain", in)
		if left := survives(out, []string{secret}); left != "" {
			t.Errorf("%s: %q leaves %q in %q", enc.name, in, left, out)
		}
	}
}

// TestMarkedLinesKeepTheirForm: hiding a marked value changes nothing else of a line, and the result does not depend on how it came.
func TestMarkedLinesKeepTheirForm(t *testing.T) {
	t.Parallel()
	in := "02:14:07 start\n" + `{ "@message":"a \u003c b",  "outputs":{"o":{"value":"eu","sensitive":true},"p":{"value":"kept","sensitive":false}} }` + "\nend\n"
	r := testRedactor()
	want, _ := stream(r, "text/plain", []byte(in))
	if !strings.Contains(want, `{ "@message":"a \u003c b",  "outputs":{"o":{"value":"<redacted:tf-sensitive:`) || !strings.Contains(want, `"sensitive":true},"p":{"value":"kept","sensitive":false}} }`) {
		t.Errorf("%q", want)
	}
	for i := range in {
		if got, _ := stream(r, "text/plain", []byte(in[:i]), []byte(in[i:])); got != want {
			t.Fatalf("split at %d: %q, want %q", i, got, want)
		}
	}
	// Beyond what is held, too.
	before := strings.Repeat("a line of a log that says nothing\n", unitMost/30)
	for i := range in {
		if i%31 > 0 {
			continue
		}
		if got, _ := stream(r, "text/plain", []byte(before+in[:i]), []byte(in[i:])); !strings.HasSuffix(got, want) {
			t.Fatalf("after much text, split at %d: %q", i, got[len(got)-300:])
		}
	}
}

// TestFormsAtEverySplit holds the syntaxes to what is promised of streams: where the input is cut does not matter.
func TestFormsAtEverySplit(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	rnd := rand.New(rand.NewPCG(12, 12))
	r := testRedactor()
	check := func(name, in string) {
		want := string(r.Bytes([]byte(in), nil))
		if again := string(r.Bytes([]byte(want), nil)); again != want {
			t.Errorf("%s: second pass changes\n%q to\n%q", name, want, again)
		}
		for i := 0; i <= len(in); i += 3 {
			if got, _ := stream(r, "text/plain", []byte(in[:i]), []byte(in[i:])); got != want {
				t.Errorf("%s, split at %d:\n got %q\nwant %q", name, i, got, want)
				return
			}
		}
		in = plainLines + in + plainLines
		want = string(r.Bytes([]byte(in), nil))
		for size := 24; size < 24+len(in); size += 31 {
			if got := streamIn(r, in, size); got != want {
				t.Errorf("%s, windows of %d:\n got %q\nwant %q", name, size, got, want)
				return
			}
		}
	}
	for n, w := range writings {
		s := settings[n*7%len(settings)]
		v, _ := plantValue(rnd, s.value)
		if text, ok := w.write(s.name, v); ok {
			check(w.name+", "+s.name, "02:14:07 start\n"+text+"\n02:14:08 end\n")
		}
	}
	for _, k := range ownForms {
		text, _ := plantForm(rnd, k.text)
		check(k.name, "02:14:07 start\n"+text+"\n02:14:08 end\n")
	}
	rows := "user,password,host\n"
	for i := range 4000 {
		rows += fmt.Sprintf("robin%d,%s,db%d.example.internal\n", i, "hunter2hunter2", i)
	}
	out, _ := stream(r, "text/plain", []byte(rows))
	if strings.Contains(out, "hunter2") || strings.Count(out, "\n") != 4001 {
		t.Errorf("a long table keeps passwords: %q", out[len(out)-200:])
	}
	for _, piece := range []int{1, 100, 4096, 70_000} {
		var pieces [][]byte
		for at := 0; at < len(rows); at += piece {
			pieces = append(pieces, []byte(rows[at:min(len(rows), at+piece)]))
		}
		if got, _ := stream(r, "text/plain", pieces...); got != out {
			t.Errorf("a long table in pieces of %d gives another text", piece)
		}
	}
}
