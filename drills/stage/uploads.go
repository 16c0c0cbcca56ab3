package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/drills/lab"
	"handrail/drills/store"
)

// UploadsRecord is a store of objects with accounts of its own, and the metrics of its client.
type UploadsRecord struct {
	URL     string   `json:"url"`
	Metrics string   `json:"metrics"` // URL of the Prometheus
	Bucket  string   `json:"bucket"`
	People  []string `json:"people"` // accounts, each with a profile of its name
}

func (st *Stage) uploadsDir() string { return filepath.Join(st.Home, "uploads") }

// Notifications is the file of what the store told its consumers.
func (st *Stage) Notifications() string { return filepath.Join(st.uploadsDir(), "notifications.jsonl") }

// ServeUploads starts a store and a Prometheus in sessions of their own. The store has a bucket and these accounts; the rules are
// what the Prometheus records by itself.
func (st *Stage) ServeUploads(ctx context.Context, bucket string, people []string, rules string) error {
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	data, metrics := filepath.Join(st.uploadsDir(), "store"), filepath.Join(st.uploadsDir(), "metrics")
	for _, dir := range []string{data, metrics} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	ports, err := lab.LastingPorts(2)
	if err != nil {
		return err
	}
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	objects, tell, err := st.World.Process(ctx, "s3", data, at(0))
	if err != nil {
		return err
	}
	if err := st.accountsOf(data, tell, people); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(data, "buckets", bucket), 0o700); err != nil {
		return err
	}
	prometheus, _, err := st.World.Process(ctx, "prometheus", metrics, at(1))
	if err != nil {
		return err
	}
	config := "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml]\n"
	if err := errors.Join(os.WriteFile(filepath.Join(metrics, "prometheus.yml"), []byte(config), 0o600), os.WriteFile(filepath.Join(metrics, "rules.yml"), []byte(rules), 0o600)); err != nil {
		return err
	}
	for _, p := range []lab.Process{objects, prometheus} {
		if err := st.Attend(ctx, p); err != nil {
			return err
		}
	}
	st.Rec.Uploads = &UploadsRecord{URL: "http://" + at(0), Metrics: "http://" + at(1), Bucket: bucket, People: people}
	return st.Save()
}

// uploadsOwner is the profile of the owner of the store: the operator changes its policies.
const uploadsOwner = "owner"

// accountsOf makes the accounts, and profiles of them and of the owner.
func (st *Stage) accountsOf(data string, tell, people []string) error {
	type account struct {
		Access string `json:"access"`
		Secret string `json:"secret"`
		Role   string `json:"role"`
	}
	all, profiles := map[string]account{}, ""
	add := func(name, access, secret string) {
		profiles += fmt.Sprintf("[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", name, access, secret)
	}
	for _, name := range people {
		secret, err := RandomHex(20)
		if err != nil {
			return err
		}
		all[name] = account{name, secret, "user"}
		add(name, name, secret)
	}
	owner := map[string]string{}
	for _, kv := range tell {
		name, value, _ := strings.Cut(kv, "=")
		owner[name] = value
	}
	add(uploadsOwner, owner["AWS_ACCESS_KEY_ID"], owner["AWS_SECRET_ACCESS_KEY"])
	raw, err := json.Marshal(map[string]any{"accessAccounts": all})
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(data, "iam", "users.json"), raw, 0o600), os.WriteFile(st.uploadsProfiles(), []byte(profiles), 0o600),
		os.WriteFile(filepath.Join(st.uploadsDir(), "config"), nil, 0o600))
}

func (st *Stage) uploadsProfiles() string { return filepath.Join(st.uploadsDir(), "credentials") }

// uploadsEnviron is by what the operator reads the store and the metrics, nothing where there is no store.
func (st *Stage) uploadsEnviron() []string {
	if st.Rec.Uploads == nil {
		return nil
	}
	return []string{"AWS_ENDPOINT_URL_S3=" + st.Rec.Uploads.URL, "AWS_PROFILE=" + uploadsOwner, "AWS_SHARED_CREDENTIALS_FILE=" + st.uploadsProfiles(),
		"AWS_CONFIG_FILE=" + filepath.Join(st.uploadsDir(), "config"), "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true", "PROMETHEUS_URL=" + st.Rec.Uploads.Metrics}
}

// uploadsKey is the key of a profile.
func (st *Stage) uploadsKey(profile string) (access, secret string, err error) {
	raw, err := os.ReadFile(st.uploadsProfiles())
	if err != nil {
		return "", "", err
	}
	in := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "["); is {
			in = strings.TrimSuffix(name, "]")
		}
		key, value, _ := strings.Cut(line, " = ")
		switch {
		case in != profile:
		case key == "aws_access_key_id":
			access = value
		case key == "aws_secret_access_key":
			secret = value
		}
	}
	if secret == "" {
		return "", "", fmt.Errorf("the store of the drill has no account %s", profile)
	}
	return access, secret, nil
}

// UploadsSecrets are the secret keys of the store, nothing where there is none.
func (st *Stage) UploadsSecrets() ([]string, error) {
	if st.Rec.Uploads == nil {
		return nil, nil
	}
	var out []string
	for _, name := range append([]string{uploadsOwner}, st.Rec.Uploads.People...) {
		_, secret, err := st.uploadsKey(name)
		if err != nil {
			return nil, err
		}
		out = append(out, secret)
	}
	return out, nil
}

// Uploads is the bucket of the store, as an account or, with "", as its owner.
func (st *Stage) Uploads(who string) (*store.Objects, error) {
	if st.Rec.Uploads == nil {
		return nil, errors.New("this drill has no store: begin with uploads.run")
	}
	if who == "" {
		who = uploadsOwner
	}
	access, secret, err := st.uploadsKey(who)
	if err != nil {
		return nil, err
	}
	return store.ObjectsOf(st.Rec.Uploads.URL, st.Rec.Uploads.Bucket, access, secret), nil
}

// AgeUploads makes all objects look older.
func (st *Stage) AgeUploads(by time.Duration) error {
	root := filepath.Join(st.uploadsDir(), "store", "buckets", st.Rec.Uploads.Bucket)
	then := time.Now().Add(-by)
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
}
