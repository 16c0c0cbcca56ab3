package references

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"handrail/steps"
	"handrail/steps/stepstest"
)

const (
	server = "load-copy.abc123.eu-west-1.rds.amazonaws.com"
	id     = "load-copy"
)

func wanted() []name { return []name{nameOf(server, true), nameOf(id, false)} }

func wide(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

func packed(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zippedUp(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("workbook.xml")
	if err == nil {
		_, err = f.Write([]byte(s))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestContent: a name is found in each form, and a longer name is another one.
func TestContent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text   string
		lines  []int
		unread string
	}{
		"plain":                 {"a\nhost: " + server + "\n", []int{2}, ""},
		"in capitals":           {"HOST=" + strings.ToUpper(server), []int{1}, ""},
		"with a dot":            {server + ".", []int{1}, ""},
		"in a URL":              {"mysql://u:p@" + server + ":3306/db", []int{1}, ""},
		"two on one line":       {server + " " + server, []int{1}, ""},
		"two lines":             {server + "\n\n" + id, []int{1, 3}, ""},
		"the identifier":        {"id = \"" + id + "\"", []int{1}, ""},
		"part of another":       {"my-load-copy load-copy-2 loadload-copy", nil, ""},
		"of another region":     {"load-copy2.abc123.eu-west-1.rds.amazonaws.com", nil, ""},
		"after another":         {"load-copy-2 load-copy", []int{1}, ""},
		"UTF-16":                {wide("Server=" + server), []int{1}, ""},
		"Base64":                {base64.StdEncoding.EncodeToString([]byte("postgres://x@" + server + "/y")), []int{1}, ""},
		"gzip":                  {packed(t, "x "+server), []int{1}, ""},
		"gzip in gzip":          {packed(t, packed(t, server)), []int{1}, ""},
		"ZIP":                   {zippedUp(t, server), []int{0}, ""},
		"ZIP without it":        {zippedUp(t, "nothing"), nil, ""},
		"too deep":              {packed(t, packed(t, packed(t, packed(t, server)))), nil, "archive within"},
		"a torn gzip":           {packed(t, server)[:20], nil, "cannot be read whole"},
		"a torn ZIP":            {zippedUp(t, server)[:40], nil, "cannot be read whole"},
		"bzip2":                 {"BZh91AY", nil, "bzip2"},
		"a vault":               {"$ANSIBLE_VAULT;1.1;AES256\n66", nil, "ansible-vault"},
		"git-crypt":             {"\x00GITCRYPT\x00abc", nil, "git-crypt"},
		"LFS":                   {"version https://git-lfs.github.com/spec/v1\noid sha256:1", nil, "Git LFS"},
		"SOPS, and it is there": {"host: " + server + "\nx: ENC[AES256_GCM,data:abc]\nsops:\n  lastmodified: x", []int{1}, "SOPS"},
		"about SOPS":            {"ENC[AES256_GCM,data:", nil, ""},
		"empty":                 {"", nil, ""},
	} {
		found, unread := content(wanted(), []byte(tc.text), 0)
		var at []int
		for _, m := range found {
			at = append(at, m.line)
		}
		if !slices.Equal(at, tc.lines) || (unread == "") != (tc.unread == "") || !strings.Contains(unread, tc.unread) {
			t.Errorf("%s: %v and %q, want %v and %q", name, at, unread, tc.lines, tc.unread)
		}
	}
}

// TestPlanted: wherever a name is put, and in whatever form, it is found.
func TestPlanted(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		noise := func(n int) string {
			b := make([]byte, rng.IntN(n))
			for i := range b {
				b[i] = byte(rng.UintN(256))
			}
			return string(b)
		}
		before, after := noise(200)+" ", " "+noise(200)
		forms := map[string]string{
			"plain": server, "capitals": strings.ToUpper(server), "wide": wide(server),
		}
		coded := base64.StdEncoding.EncodeToString([]byte(before + server + after))
		if len(matches(wanted(), []byte(coded))) == 0 {
			t.Fatalf("Base64 after %d bytes is not found", len(before))
		}
		for form, text := range forms {
			if len(matches(wanted(), []byte(before+text+after))) == 0 {
				t.Fatalf("%s is not found in %q", form, before+text+after)
			}
		}
	}
}

const (
	setList = `{"ResourceRecordSets": [
 {"Name": "reports.example.com.", "Type": "CNAME", "TTL": 300, "ResourceRecords": [{"Value": "Load-Copy.abc123.eu-west-1.rds.amazonaws.com"}]},
 {"Name": "bi.example.com.", "Type": "A", "AliasTarget": {"DNSName": "reports.example.com.", "HostedZoneId": "Z", "EvaluateTargetHealth": false}},
 {"Name": "www.example.com.", "Type": "A", "ResourceRecords": [{"Value": "192.0.2.1"}]}]}`
	zoneText = `$ORIGIN example.com.
$TTL 300
@ IN SOA ns1 admin ( 1 ; serial
   7200 3600 1209600 300 )
  IN NS ns1
reports 60 IN CNAME load-copy.abc123.eu-west-1.rds.amazonaws.com. ; the copy
bi      CNAME reports
old     IN 60 CNAME elsewhere.example.net.
txt     TXT "a ; b ( c" "d"
`
)

func TestZones(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"Route 53":           {setList, []string{"reports.example.com", "bi.example.com"}, ""},
		"a zone file":        {zoneText, []string{"reports.example.com", "bi.example.com"}, ""},
		"none of it":         {strings.ReplaceAll(zoneText, "load-copy", "other"), nil, ""},
		"a list that is cut": {`{"IsTruncated": true, "ResourceRecordSets": [{"Name": "a."}]}`, nil, "goes on"},
		"a page":             {`{"NextToken": "x", "ResourceRecordSets": [{"Name": "a."}]}`, nil, "goes on"},
		"an empty list":      {`{"ResourceRecordSets": []}`, nil, "no record sets"},
		"another document":   {`{"HostedZones": []}`, nil, "no record sets"},
		"an include":         {"$INCLUDE other.zone\n", nil, "not followed"},
		"no zone":            {"Dear all,\nthe zone is attached\n", nil, "no zone"},
		"nothing":            {"; nothing\n", nil, "no record"},
		"a record without":   {"a IN CNAME\n", nil, "no data"},
	} {
		list, err := zone([]byte(tc.text))
		if tc.err != "" || err != nil {
			if tc.err == "" || err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want %q", name, err, tc.err)
			}
			continue
		}
		if got := aliases(list, []string{server}); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func secretList(extra string) string {
	coded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return fmt.Sprintf(`{"kind":"List","metadata":{%s},"items":[
{"kind":"Secret","type":"Opaque","metadata":{"namespace":"bi","name":"warehouse"},"data":{"url":%q,"password":%q}},
{"kind":"Secret","type":"helm.sh/release.v1","metadata":{"namespace":"bi","name":"sh.helm.release.v1.bi.v1"},"data":{"release":%q}},
{"kind":"ConfigMap","metadata":{"namespace":"bi","name":"settings"},"data":{"host":%q}},
{"kind":"Secret","metadata":{"namespace":"web","name":"other"},"data":{"a":%q}}]}`,
		extra, coded("mysql://"+server), coded("hunter2"), coded(base64.StdEncoding.EncodeToString([]byte(packedText("host: "+server)))), server, coded("nothing"))
}

func packedText(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"a list":         {secretList(""), []string{"bi/settings ConfigMap", "bi/sh.helm.release.v1.bi.v1 release", "bi/warehouse url"}, ""},
		"it goes on":     {secretList(`"continue":"x"`), nil, "goes on"},
		"a text":         {"a\nHOST=" + server, []string{"line 2"}, ""},
		"no Base64":      {`{"items":[{"kind":"Secret","metadata":{"name":"a","namespace":"b"},"data":{"k":"%%"}}]}`, nil, "b/a k is no Base64"},
		"without object": {`{"items":[]}`, nil, "no object"},
		"sealed":         {`{"items":[{"kind":"Secret","metadata":{"name":"a","namespace":"b"},"stringData":{"k":"$ANSIBLE_VAULT;1"}}]}`, nil, "ansible-vault"},
	} {
		at, _, err := inSecrets(wanted(), []byte(tc.text))
		slices.Sort(at)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) || err == nil && !slices.Equal(at, tc.want) {
			t.Errorf("%s: %q, %v; want %q, %q", name, at, err, tc.want, tc.err)
		}
	}
}

func stateOf(more string) string {
	return `{"version":4,"serial":3,"lineage":"x","outputs":{"reader":{"value":"` + server + `"},"port":{"value":3306}},"resources":[
{"mode":"managed","type":"aws_db_instance","name":"copy","instances":[{"index_key":0,"attributes":{"identifier":"load-copy","address":"` + server + `","id":"db-X"}}]}` + more + `]}`
}

func TestState(t *testing.T) {
	t.Parallel()
	record := `,{"module":"module.dns","mode":"managed","type":"aws_route53_record","name":"reports","instances":[{"index_key":"bi","attributes":{"records":["` + server + `"]}}]}`
	got, err := inState(wanted(), id, []byte(stateOf(record)))
	if err != nil || !slices.Equal(got.owners, []string{"aws_db_instance.copy[0]"}) || !slices.Equal(got.at, []string{`module.dns.aws_route53_record.reports["bi"]`}) || !slices.Equal(got.published, []string{"reader"}) {
		t.Errorf("%+v, %v", got, err)
	}
	reader := `,{"mode":"data","type":"aws_db_instance","name":"seen","instances":[{"attributes":{"identifier":"load-copy"}}]}`
	if got, err = inState(wanted(), id, []byte(stateOf(reader))); err != nil || !slices.Equal(got.at, []string{"data.aws_db_instance.seen"}) {
		t.Errorf("who reads it as data: %+v, %v", got, err)
	}
	for _, text := range []string{`{}`, `[]`, `{"version":3,"resources":[]}`, `{"version":4}`, "x"} {
		if _, err := inState(wanted(), id, []byte(text)); err == nil {
			t.Errorf("%s is taken for a state", text)
		}
	}
}

// world is a folder with each place, in which nothing names the server.
type world struct {
	t   *testing.T
	dir string
	now time.Time
}

func (w world) write(name, text string) {
	w.t.Helper()
	at := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", append([]string{"-C", filepath.Join(w.dir, dir), "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{t, t.TempDir(), time.Now()}
	w.write("code/app/config.yaml", "db: main.abc123.eu-west-1.rds.amazonaws.com\n")
	w.write("code/app/infra/main.tf", "resource \"aws_db_instance\" \"copy\" {\n  identifier = \"load-copy\"\n}\n")
	w.git("code/app", "init", "-q")
	w.git("code/app", "add", ".")
	w.git("code/app", "commit", "-q", "-m", "a")
	w.write("zones/example.json", strings.ReplaceAll(setList, "Load-Copy", "main"))
	w.write("secrets.json", `{"items":[{"kind":"Secret","metadata":{"name":"a","namespace":"b"},"data":{"k":"YQ=="}}]}`)
	w.write("dashboards/a.json", "{}")
	w.write("jobs/a.py", "print()")
	w.write("states/load.tfstate", stateOf(""))
	return w
}

func (w world) ask() steps.Params {
	in := steps.Params{"host": steps.StringOf(server), "id": steps.StringOf(id), "unit": steps.PathOf("code/app/infra"), "fresh": steps.DurationOf(168 * time.Hour)}
	for name, at := range map[string]string{Code: "code", Zones: "zones", Secrets: "secrets.json", Dashboards: "dashboards", Jobs: "jobs", States: "states"} {
		in[name] = steps.PathOf(at)
	}
	return in
}

func (w world) look(in steps.Params) (steps.Observation, *stepstest.Sink) {
	w.t.Helper()
	out := stepstest.NewSink()
	env := steps.Env{Dir: w.dir, Now: func() time.Time { return w.now }}
	obs, err := stepstest.Observe(w.t.Context(), probe{env}, facts(), in, out)
	if err != nil {
		w.t.Fatal(err)
	}
	return obs, out
}

// TestSearch: none only where each place was searched whole; one name anywhere is found; what is not known is no none.
func TestSearch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(world, steps.Params)
		refs   string // "" for unknown
		say    string // in the facts
	}{
		"nothing names it": {nil, "none", "states/load.tfstate"[7:]},
		"a job":            {func(w world, _ steps.Params) { w.write("jobs/quarterly.py", "\nHOST = '"+server+"'\n") }, "found", "jobs: quarterly.py:2"},
		"a dashboard by an alias": {func(w world, _ steps.Params) {
			w.write("zones/example.json", setList)
			w.write("dashboards/b.json", "bi.example.com")
		}, "found", "dashboards: b.json:1 (bi.example.com)"},
		"a zone alone":   {func(w world, _ steps.Params) { w.write("zones/b.zone", zoneText) }, "found", "zones: b.zone (reports.example.com CNAME"},
		"a secret":       {func(w world, _ steps.Params) { w.write("secrets.json", secretList("")) }, "found", "secrets: secrets.json bi/warehouse url"},
		"the tree alone": {func(w world, _ steps.Params) { w.write("code/app/new.txt", server) }, "found", "code: app/new.txt:1"},
		"HEAD alone": {func(w world, _ steps.Params) {
			w.write("code/app/gone.txt", server)
			w.git("code/app", "add", ".")
			w.git("code/app", "commit", "-q", "-m", "b")
			w.write("code/app/gone.txt", "other")
		}, "found", "code: app/gone.txt at HEAD:1"},
		"HEAD, and the file is not there": {func(w world, _ steps.Params) {
			w.write("code/app/gone.txt", server)
			w.git("code/app", "add", ".")
			w.git("code/app", "commit", "-q", "-m", "b")
			if err := os.Remove(filepath.Join(w.dir, "code/app/gone.txt")); err != nil {
				w.t.Fatal(err)
			}
		}, "found", "code: app/gone.txt at HEAD:1"},
		"its unit by host": {func(w world, _ steps.Params) { w.write("code/app/infra/dns.tf", server) }, "found", "code: app/infra/dns.tf:1"},
		"no unit is named": {func(_ world, in steps.Params) { delete(in, "unit") }, "found", "main.tf:2 (load-copy)"},
		"another state": {func(w world, _ steps.Params) {
			w.write("states/b.tfstate", strings.ReplaceAll(stateOf(""), "aws_db_instance", "aws_x"))
		}, "found", "states: b.tfstate aws_x.copy[0]"},
		"a place is not named": {func(_ world, in steps.Params) { delete(in, Jobs) }, "", "jobs: it was not named"},
		"said to be without":   {func(_ world, in steps.Params) { delete(in, Jobs); in["without"] = steps.StringOf(Jobs) }, "none", `["jobs"]`},
		"a place is not there": {func(_ world, in steps.Params) { in[Jobs] = steps.PathOf("absent") }, "", "jobs: it cannot be read: no such file"},
		"a place is empty": {func(w world, in steps.Params) {
			_ = os.Mkdir(filepath.Join(w.dir, "empty"), 0o700)
			in[Jobs] = steps.PathOf("empty")
		}, "", "there is no file in it"},
		"no clone":      {func(w world, in steps.Params) { in[Code] = steps.PathOf("jobs") }, "", "no clone of git"},
		"an old export": {func(w world, _ steps.Params) { w.age("secrets.json") }, "", "secrets: its newest file is of"},
		"an old clone": {func(w world, _ steps.Params) {
			w.write("code/app/.git/FETCH_HEAD", "")
			w.age("code/app/.git/FETCH_HEAD")
		}, "", "last fetched at"},
		"a vault in the code": {func(w world, _ steps.Params) { w.write("code/app/vault.yml", "$ANSIBLE_VAULT;1.1") }, "", "app/vault.yml (encrypted by ansible-vault)"},
		"a vault that is open in the tree": {func(w world, _ steps.Params) {
			w.write("code/app/vault.yml", "$ANSIBLE_VAULT;1.1")
			w.git("code/app", "add", ".")
			w.git("code/app", "commit", "-q", "-m", "b")
			w.write("code/app/vault.yml", "plain")
		}, "none", ""},
		"found beside unknown":     {func(w world, in steps.Params) { delete(in, Zones); w.write("jobs/b.py", server) }, "found", "zones: it was not named"},
		"a zone that is no zone":   {func(w world, _ steps.Params) { w.write("zones/README", "all of them\n") }, "", "zones: not searched: README"},
		"a state that is no state": {func(w world, _ steps.Params) { w.write("states/b.tfstate", "{}") }, "", "states: not searched: b.tfstate"},
		"a link out":               {func(w world, _ steps.Params) { _ = os.Symlink(w.dir, filepath.Join(w.dir, "jobs", "out")) }, "", "jobs: not searched: out (a link"},
		"a submodule": {func(w world, _ steps.Params) {
			w.git("code/app", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",lib")
			w.git("code/app", "commit", "-q", "-m", "b")
		}, "", "app/lib (a submodule that is not checked out)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			in := w.ask()
			if tc.change != nil {
				tc.change(w, in)
			}
			obs, out := w.look(in)
			refs := ""
			if v := obs.Facts["refs"]; v.Known() {
				refs = v.Text()
			}
			all := fmt.Sprint(obs.Facts["where"].Strings(), obs.Facts["open"].Strings(), obs.Facts["said"].Strings())
			all += fmt.Sprintf("%q %s", obs.Facts["said"].Strings(), obs.Facts["owner"].Text())
			if refs != tc.refs || !strings.Contains(all, tc.say) {
				t.Errorf("refs %q, %s; want %q, %q", refs, all, tc.refs, tc.say)
			}
			if kept := out.Artifacts["references"]; kept == nil || strings.Contains(kept.String(), "hunter2") || strings.Contains(kept.String(), "mysql://") {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

func (w world) age(name string) {
	w.t.Helper()
	then := w.now.Add(-200 * time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, filepath.FromSlash(name)), then, then); err != nil {
		w.t.Fatal(err)
	}
}

// TestAsk: what cannot be asked is an error, and no answer.
func TestAsk(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]Ask{
		"no host":          {Host: ""},
		"no host name":     {Host: "localhost"},
		"no such place":    {Host: server, Without: []string{"wikis"}},
		"without any code": {Host: server, Without: []string{Code}},
		"both":             {Host: server, Without: []string{Jobs}, At: map[string]string{Jobs: "x"}},
	} {
		if _, err := Search(t.Context(), ask); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func FuzzZone(f *testing.F) {
	f.Add([]byte(setList))
	f.Add([]byte(zoneText))
	f.Add([]byte("a ( \" \n ) ; CNAME"))
	f.Add([]byte(`{"ResourceRecordSets":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := zone(raw)
		if err == nil && len(list) == 0 {
			t.Error("no record and no error")
		}
		aliases(list, []string{server})
	})
}

func FuzzContent(f *testing.F) {
	f.Add([]byte(server))
	f.Add([]byte(packedText(server)))
	f.Add([]byte(secretList("")))
	f.Add([]byte(stateOf("")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines := 1 + bytes.Count(raw, []byte("\n"))
		for _, m := range matches(wanted(), raw) {
			if m.line < 1 || m.line > lines {
				t.Errorf("line %d of %d", m.line, lines)
			}
		}
		content(wanted(), raw, 0)
		_, _, _ = inSecrets(wanted(), raw)
		_, _ = inState(wanted(), id, raw)
	})
}
