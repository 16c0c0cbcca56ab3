package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

const (
	writer = "arn:aws:iam::111122223333:user/uploader"
	object = "arn:aws:s3:::uploads/a.png"
	allows = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`
	guards = `{"Version":"2012-10-17","Statement":[{"Sid":"guard","Effect":"Deny","NotPrincipal":{"AWS":"arn:aws:iam::111122223333:user/analytics"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::uploads/*"}]}`
)

// TestAccess: which statement decides, in documents as the tools print them.
func TestAccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"allows.json": allows, "guards.json": guards,
		"s3api.json": `{"Policy": "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":\"s3:PutObject\",\"Resource\":\"arn:aws:s3:::uploads/*\"}]}"}`,
		"minio.json": `{"PolicyName": "writer", "Policy": ` + allows + `}`, "version.json": `{"PolicyVersion": {"Document": ` + allows + `, "VersionId": "v3"}}`,
		"broken.json": `{"Statement": 1}`, "all/a.json": allows, "all/b.json": `{"Statement":{"Effect":"Deny","Action":"s3:PutObject","Resource":"*"}}`, "none/x.txt": "",
		"own.json":   `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:PutObject","Resource":"arn:aws:s3:::${aws:username}s/*"},{"Effect":"Deny","Action":"s3:PutObject","Resource":"arn:aws:s3:::uploads/*","Condition":{"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::*:user/${aws:username}"}}}]}`,
		"other.json": `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::uploads/*"}]}`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := kindOf(t, "store/access")
	look := func(identity, bucket string) (steps.Observation, *stepstest.Sink, error) {
		out := stepstest.NewSink()
		in := steps.Params{"principal": steps.StringOf(writer), "action": steps.StringOf("s3:PutObject"), "target": steps.StringOf(object)}
		if identity != "" {
			in["identity_policy"] = steps.PathOf(identity)
		}
		if bucket != "" {
			in["bucket_policy"] = steps.PathOf(bucket)
		}
		obs, err := stepstest.Observe(t.Context(), k.Reads(steps.Env{Dir: dir}), k.Facts, in, out)
		return obs, out, err
	}
	for name, tc := range map[string]struct {
		identity, bucket string
		want             map[string]string
	}{
		"the inverted guard":      {"allows.json", "guards.json", map[string]string{"access": "deny", "layer": "resource", "by": "resource policy 1, statement 1 (guard)", "identity_alone": "allow", "statements": "2"}},
		"the user's policy alone": {"allows.json", "", map[string]string{"access": "?", "identity_alone": "allow", "inverted": "[]"}},
		"the bucket's alone":      {"", "guards.json", map[string]string{"access": "deny", "identity_alone": "?"}},
		"as s3api prints it":      {"minio.json", "s3api.json", map[string]string{"access": "deny", "identity_alone": "allow", "inverted": "[]"}},
		"as iam prints it":        {"version.json", "s3api.json", map[string]string{"identity_alone": "allow"}},
		"a variable of the user":  {"own.json", "other.json", map[string]string{"access": "deny", "by": "identity policy 1, statement 2"}},
		"all of a directory":      {"all", "guards.json", map[string]string{"access": "deny", "layer": "identity", "by": "identity policy 2, statement 1", "identity_alone": "deny"}},
	} {
		obs, out, err := look(tc.identity, tc.bucket)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for fact, text := range tc.want {
			v := obs.Facts[fact]
			if text == "?" && v.Known() || text != "?" && v.Text() != text {
				t.Errorf("%s: %s = %q (%s), want %s", name, fact, v.Text(), v.Why(), text)
			}
		}
		if len(out.Artifacts) == 0 {
			t.Errorf("%s: the documents are not kept", name)
		}
		if tc.bucket == "guards.json" && !slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, "denies all but those") }) {
			t.Errorf("%s: no finding names the NotPrincipal: %v", name, obs.Findings)
		}
	}
	for name, want := range map[string]string{"": "neither a policy", "missing.json": "no such file", "broken.json": "broken.json: ", "none": "0 *.json files"} {
		if _, _, err := look(name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func kindOf(t *testing.T, name string) steps.Kind {
	t.Helper()
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("no kind %s", name)
	}
	return Kinds()[i]
}
