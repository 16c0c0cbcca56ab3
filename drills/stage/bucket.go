package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"handrail/drills/bucket"
)

// BucketRecord is the bucket of a drill that needs no cluster. The keys of its accounts are in a
// file of their own.
type BucketRecord struct {
	URL  string `json:"url"`
	Name string `json:"name"`
	Key  string `json:"key"` // of the state
}

// bucketRegion is what the bucket is asked for in: it has no region.
const bucketRegion = "us-east-1"

// BucketDir is the folder of the server that keeps the bucket.
func (st *Stage) BucketDir() string { return filepath.Join(st.Home, "bucket") }

// ServeBucket starts the server of the bucket in a session of its own, with an account for each
// side, and returns when it listens.
func (st *Stage) ServeBucket(ctx context.Context, name, key string) error {
	if len(st.Bucket) == 0 {
		return errors.New("nothing says how the bucket of a drill is served")
	}
	if err := errors.Join(bucket.Prepare(st.BucketDir(), name, NameRobot, NameOperator), st.profiles()); err != nil {
		return err
	}
	addr := ""
	if err := st.beside(ctx, "bucket", append(slices.Clone(st.Bucket), st.BucketDir()), []string{"HOME=" + st.Home, "PATH=" + os.Getenv("PATH")}, func() (err error) {
		addr, err = bucket.Address(st.BucketDir())
		return err
	}); err != nil {
		return err
	}
	st.Rec.Bucket = &BucketRecord{URL: "http://" + addr, Name: name, Key: key}
	return st.Save()
}

// bucketBlock is the body of its backend: the lock is a file beside the state.
const bucketBlock = `bucket       = %q
key          = %q
region       = %q
use_lockfile = true

# The bucket of the drill, on this machine.
endpoints                   = { s3 = %q }
use_path_style              = true
skip_credentials_validation = true
skip_requesting_account_id  = true
skip_metadata_api_check     = true
skip_region_validation      = true
`

// bucketEnviron is by what a caller reads and writes the bucket, nothing where there is none.
func (st *Stage) bucketEnviron(who string) []string {
	if st.Rec.Bucket == nil {
		return nil
	}
	return []string{"AWS_PROFILE=" + bucketProfile, "AWS_CONFIG_FILE=" + filepath.Join(st.BucketDir(), "config"),
		"AWS_SHARED_CREDENTIALS_FILE=" + st.profileFile(who), "AWS_REGION=" + bucketRegion, "AWS_EC2_METADATA_DISABLED=true"}
}

// bucketProfile is by what the keys of a caller are found. A profile that is named goes over what
// the trainee has in the environment of handrail itself, where its client of S3 looks too; keys
// in variables would not.
const bucketProfile = "drill"

func (st *Stage) profileFile(who string) string {
	return filepath.Join(st.BucketDir(), who+".credentials")
}

// profiles writes the keys of each side as the tools of AWS read them.
func (st *Stage) profiles() error {
	if err := os.WriteFile(filepath.Join(st.BucketDir(), "config"), fmt.Appendf(nil, "[profile %s]\nregion = %s\n", bucketProfile, bucketRegion), 0o600); err != nil {
		return err
	}
	for _, who := range []string{NameRobot, NameOperator} {
		key, err := bucket.KeyOf(st.BucketDir(), who)
		if err != nil {
			return err
		}
		text := fmt.Appendf(nil, "[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", bucketProfile, key.Access, key.Secret)
		if err := os.WriteFile(st.profileFile(who), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// BucketSecrets are the secret keys of the bucket's accounts.
func (st *Stage) BucketSecrets() ([]string, error) {
	var out []string
	for _, who := range []string{NameRobot, NameOperator} {
		key, err := bucket.KeyOf(st.BucketDir(), who)
		if err != nil {
			return nil, err
		}
		out = append(out, key.Secret)
	}
	return out, nil
}

// lockFile is the object that is the lock of the state.
func (st *Stage) lockFile() string {
	return bucket.ObjectFile(st.BucketDir(), st.Rec.Bucket.Name, st.Rec.Bucket.Key+".tflock")
}

// stateFile is the object that is the state.
func (st *Stage) stateFile() string {
	return bucket.ObjectFile(st.BucketDir(), st.Rec.Bucket.Name, st.Rec.Bucket.Key)
}

// fileHolder is who holds the lock file.
func (st *Stage) fileHolder() (string, error) {
	raw, err := os.ReadFile(st.lockFile())
	if err != nil {
		return "", fmt.Errorf("lock of the state: %w", err)
	}
	var info struct{ ID string }
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", fmt.Errorf("lock of the state: %w", err)
	}
	return info.ID, nil
}

// backdateFile makes the lock file look older: what it says of itself, and the time that the
// bucket keeps of the write. The gate holds the one against the other. The state, which was
// written before the lock was taken, becomes older by as much.
func (st *Stage) backdateFile(by time.Duration) error {
	raw, err := os.ReadFile(st.lockFile())
	if err != nil {
		return fmt.Errorf("lock of the state: %w", err)
	}
	var info map[string]any
	if err := json.Unmarshal(raw, &info); err != nil {
		return fmt.Errorf("lock of the state: %w", err)
	}
	text, _ := info["Created"].(string)
	created, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("lock of the state: %w", err)
	}
	then := created.Add(-by)
	info["Created"] = then.UTC().Format(time.RFC3339Nano)
	if raw, err = json.Marshal(info); err != nil {
		return err
	}
	state, err := os.Stat(st.stateFile())
	if err != nil {
		return fmt.Errorf("state of the drill: %w", err)
	}
	before := state.ModTime().Add(-by)
	return errors.Join(os.WriteFile(st.lockFile(), raw, 0o600), os.Chtimes(st.lockFile(), then, then), os.Chtimes(st.stateFile(), before, before))
}
