package loosetype

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// files is a configuration by path.
type files map[string]string

func (f files) read(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, text := range f {
		if path.Dir(name) == path.Clean(dir) {
			out[path.Base(name)] = []byte(text)
		}
	}
	if len(out) == 0 {
		return nil, fs.ErrNotExist
	}
	return out, nil
}

func (f files) check(key string, values map[string][]byte) Report {
	return Check(f.read, ".", nil, values, key)
}

func find(t *testing.T, r Report, name string) Input {
	t.Helper()
	for _, i := range r.Loose {
		if i.String() == name {
			return i
		}
	}
	t.Fatalf("%s is not found among %v (%v)", name, r.Loose, r.Gaps)
	return Input{}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for typ, loose := range map[string]bool{
		"": true, "type = any": true, "type = map(any)": true, "type = list(any)": true, "type = object({ a = optional(any, {}) })": true, "type = tuple([string, any])": true,
		"type = string": false, "type = map(object({ a = optional(string) }))": false, "type = set(number)": false, "type = \"string\"": false, "type = company": false,
	} {
		r := files{"a.tf": "variable \"x\" {\n" + typ + "\n}\n"}.check("", nil)
		if (len(r.Loose) == 1) != loose || r.Inputs != 1 {
			t.Errorf("%q: %+v", typ, r)
		}
	}
}

// unit is the repro of the reference, with a second module below.
var unit = files{
	"main.tf": `
module "net" {
  source = "./net"
  svc = { a = { name = "a", port = 443 }, b = { name = "b", port = "8443" } }
  late = jsondecode(terraform_data.x.output)
}
resource "terraform_data" "x" {}
`,
	"net/main.tf": `
variable "svc" { type = map(any) }
variable "late" {}
variable "precise" { type = map(string) }
locals { filtered = { for k, v in var.svc : k => v if v.port == 443 } }
resource "terraform_data" "https" {
  for_each = local.filtered
  input    = each.value.read_replica_routing
}
module "deep" {
  source = "./deep"
  given  = merge(var.svc, { read_replica_routing = {} })
}
output "o" { value = lookup(var.late, "read_replica_routing", null) }
`,
	"net/deep/main.tofu": `
variable "given" { type = any }
resource "terraform_data" "d" { input = var.given["read_replica_routing"].host }
`,
	"net/deep/main.tf": `variable "shadowed" {}`,
}

func TestConsumersThroughModules(t *testing.T) {
	t.Parallel()
	r := unit.check("", nil)
	svc := find(t, r, "module.net.var.svc")
	if len(svc.Mixed) != 1 || !strings.Contains(svc.Mixed[0], "port is number in a, string in b") {
		t.Errorf("mixed = %v", svc.Mixed)
	}
	where := ""
	for _, u := range svc.Consumers {
		where += u.Module + " " + u.In + "\n"
	}
	for _, want := range []string{"module.net for_each", "module.net input", "module.net merge given", "module.net.module.deep input", "module.net == filtered"} {
		if !strings.Contains(where, want+"\n") {
			t.Errorf("consumers lack %q:\n%s", want, where)
		}
	}
	if r.Loose[0].String() != svc.String() {
		t.Errorf("ranked first: %s, want %s", r.Loose[0], svc)
	}
	if late := find(t, r, "module.net.var.late"); !late.Late || late.Type != "none" {
		t.Errorf("late = %+v", late)
	}
	if len(r.Loose) != 3 || r.Modules != 3 || len(r.Gaps) > 0 {
		t.Errorf("report = %+v", r)
	}
}

// TestConsumersOfAKey finds the key of the catalogue's incident, in each way that
// it can be named.
func TestConsumersOfAKey(t *testing.T) {
	t.Parallel()
	r := unit.check("read_replica_routing", nil)
	n := 0
	for _, i := range r.Loose {
		for _, u := range i.Consumers {
			n++
			if u.In == "for_each" {
				t.Errorf("a use of another key: %+v", u)
			}
		}
	}
	if n != 5 { // each.value, merge, the index below (of svc and of given), lookup
		t.Errorf("%d uses: %+v", n, r.Loose)
	}
}

func TestJSONForms(t *testing.T) {
	t.Parallel()
	r := files{
		"main.tf.json":      `{"variable":{"x":{"type":"map(any)"},"y":{"type":"string"},"z":{}},"resource":{"t":{"a":{"for_each":"${var.x}","b":{"c":"${each.value.port}"}}}},"module":{"m":{"source":"./m","in":"${var.x}"}}}`,
		"m/child.tofu.json": `{"variable":{"in":{"type":"any"}},"output":{"o":{"value":"${var.in}"}}}`,
	}.check("", nil)
	x := find(t, r, "var.x")
	if len(r.Loose) != 3 || len(x.Consumers) < 4 || x.Rank < 3 {
		t.Errorf("report = %+v", r)
	}
}

func TestValuesOfFiles(t *testing.T) {
	t.Parallel()
	r := files{"a.tf": "variable \"m\" {\n type = map(any)\n}\nvariable \"o\" {\n type = any\n}\n"}.check("", map[string][]byte{
		"terraform.tfvars": []byte("m = { a = \"x\", b = { host = \"h\" } }\no = { a = 1, b = \"x\" }\n"), "bad.auto.tfvars": []byte("m = {"), "j.auto.tfvars.json": []byte(`{"m":{"a":[1],"b":{}}}`)})
	if m := find(t, r, "var.m"); len(m.Mixed) != 2 {
		t.Errorf("mixed = %q", m.Mixed)
	}
	if o := find(t, r, "var.o"); len(o.Mixed) != 0 || len(r.Gaps) != 1 {
		t.Errorf("o = %+v, gaps %v", o, r.Gaps)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]files{
		"syntax":      {"a.tf": "variable \"x\" {"},
		"deep lists":  {"a.tf": "locals { a = " + strings.Repeat("[", 20_000)},
		"deep signs":  {"a.tf": "locals { a = " + strings.Repeat("!", 20_000)},
		"deep text":   {"a.tf": "locals { a = " + strings.Repeat(`"${`, 20_000)},
		"branches":    {"a.tf": "locals { a = " + strings.Repeat("b ? c : ", 10_000) + "d\n}"},
		"hidden":      {"a.tf": "locals { a = " + strings.Repeat(`["]",`, 10_000)},
		"deep json":   {"a.tf.json": strings.Repeat("[", 60_000)},
		"json text":   {"a.tf.json": `{"locals":{"a":"${` + strings.Repeat("!", 60_000) + `"}}`},
		"huge":        {"a.tf": strings.Repeat("# x\n", 400_000)},
		"no module":   {"a.tf": `module "m" { source = "registry/thing" }`},
		"lost module": {"a.tf": `module "m" { source = "./lost" }`},
	} {
		if r := f.check("", nil); len(r.Gaps) == 0 {
			t.Errorf("%s: %+v, want a gap", name, r)
		}
	}
	loop := files{"a.tf": "variable \"x\" {}\nmodule \"m\" {\n source = \"./.\"\n x = var.x\n}\n"}
	if r := loop.check("", nil); r.Modules == 0 || r.Modules > maxModules {
		t.Errorf("a module that calls itself: %d modules", r.Modules)
	}
	if r := Check(func(string) (map[string][]byte, error) { return nil, errors.New("boom") }, ".", nil, nil, ""); len(r.Gaps) != 1 {
		t.Errorf("unreadable: %+v", r)
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range unit {
		f.Add(text, false)
	}
	f.Add(`{"variable":{"x":{"type":"map(any)"}},"resource":{"t":{"a":{"for_each":"${var.x}"}}}}`, true)
	f.Fuzz(func(t *testing.T, text string, json bool) {
		name := "a.tf"
		if json {
			name += ".json"
		}
		r := Check(files{name: text, "child/b.tf": unit["net/deep/main.tofu"]}.read, ".", map[string]string{"m": "child", "net": "child"}, map[string][]byte{"x.tfvars": []byte(text)}, "x")
		if len(r.Loose) > r.Inputs || r.Root > r.Inputs {
			t.Fatalf("%+v", r)
		}
	})
}
