package terraform

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps/stepstest"
)

// TestS3SignIn reads a lock as a profile and as a role that is assumed: both end
// in the same keys, which nothing else names.
func TestS3SignIn(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	id, secret := envOf(t, a.s3, "AWS_ACCESS_KEY_ID"), envOf(t, a.s3, "AWS_SECRET_ACCESS_KEY")
	asked := make(chan string, 8)
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked <- r.PostForm.Get("Action") + " " + r.PostForm.Get("RoleArn") + " " + r.PostForm.Get("ExternalId")
		if r.PostForm.Get("RoleArn") == "arn:aws:iam::1:role/closed" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`)
			return
		}
		_, _ = fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken></SessionToken><Expiration>2126-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, id, secret)
	}))
	t.Cleanup(sts.Close)
	w := newBackend(t, "s3", a.block(`use_lockfile = true`), quick, a.environ...)
	saved, err := os.ReadFile(filepath.Join(w.dir, ".terraform", "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	profiles := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(profiles, []byte("[team]\naws_access_key_id = "+id+"\naws_secret_access_key = "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, from, to string
		environ        []string
		asked, err     string
	}{
		{name: "profile of the backend", from: `"profile": null`, to: `"profile": "team"`, environ: []string{"AWS_ACCESS_KEY_ID=", "AWS_SHARED_CREDENTIALS_FILE=" + profiles}},
		{name: "profile of the environment", environ: []string{"AWS_ACCESS_KEY_ID=", "AWS_PROFILE=team", "AWS_SHARED_CREDENTIALS_FILE=" + profiles}},
		{name: "no such profile", from: `"profile": null`, to: `"profile": "gone"`, environ: []string{"AWS_ACCESS_KEY_ID=", "AWS_SHARED_CREDENTIALS_FILE=" + profiles}, err: "the settings of the AWS tools"},
		{name: "role", from: `"assume_role": null`, to: `"assume_role": {"role_arn":"arn:aws:iam::1:role/state","external_id":"x"}`, asked: "AssumeRole arn:aws:iam::1:role/state x"},
		{name: "role in the old way", from: `"role_arn": null`, to: `"role_arn": "arn:aws:iam::1:role/state"`, asked: "AssumeRole arn:aws:iam::1:role/state "},
		{name: "closed role", from: `"role_arn": null`, to: `"role_arn": "arn:aws:iam::1:role/closed"`, asked: "AssumeRole arn:aws:iam::1:role/closed ", err: "sign in again"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(string(saved), tc.from, tc.to, 1)
			if tc.from != "" && text == string(saved) {
				t.Fatalf("the settings have no %s", tc.from)
			}
			env := w.env
			env.Dir = t.TempDir()
			env.Environ = append(append(w.bot[:len(w.bot):len(w.bot)], "AWS_ENDPOINT_URL_STS="+sts.URL), tc.environ...)
			writeFile(t, env.Dir, ".terraform/terraform.tfstate", text)
			sink := stepstest.NewSink()
			obs, err := probe(t.Context(), env, "terraform/lock", nil, sink)
			switch {
			case tc.err == "" && (err != nil || !obs.Facts["held"].Known()):
				t.Errorf("lock = %v, %v", obs.Facts, err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("lock = %v, want %q", err, tc.err)
			case tc.err == "" && !contains(sink.Secrets, secret):
				t.Error("the key was not named as a secret")
			}
			if tc.asked != "" {
				if got := <-asked; got != tc.asked {
					t.Errorf("the token service was asked for %q, want %q", got, tc.asked)
				}
			}
		})
	}
}
