package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/drills/bucket"
	"handrail/steps/fault"
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
	if StartMark(os.Getpid()) == "" {
		return errors.New("a drill starts and ends processes, which needs Linux or macOS; on Windows use WSL")
	}
	if len(st.Bucket) == 0 {
		return errors.New("nothing says how the bucket of a drill is served")
	}
	if err := errors.Join(bucket.Prepare(st.BucketDir(), name, NameRobot, NameOperator), st.profiles()); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(st.Home, "bucket.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the program has it
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(st.Bucket[0], append(slices.Clone(st.Bucket[1:]), st.BucketDir())...)
	cmd.Args[0] = "handrail"
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.Home, []string{"HOME=" + st.Home, "PATH=" + os.Getenv("PATH"), Marker + st.Rec.Nonce}, out, out
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the bucket of the drill: %w", err)
	}
	// Before the others: the newest process of a drill is its apply.
	st.Rec.Processes = slices.Insert(st.Rec.Processes, 0, Process{PID: cmd.Process.Pid, Start: StartMark(cmd.Process.Pid)})
	ended := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { ended <- err })
		ended <- cmd.Wait() // reaps it; ends with it, and Stop ends that
	}()
	if err := st.Save(); err != nil {
		return err
	}
	addr := ""
	if err := st.Wait(ctx, "the bucket of the drill does not listen", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(out.Name())
			return false, fmt.Errorf("the bucket of the drill ended at once: %v: %s", err, Tail(raw))
		default:
		}
		var err error
		if addr, err = bucket.Address(st.BucketDir()); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}); err != nil {
		return err
	}
	st.Rec.Bucket = &BucketRecord{URL: "http://" + addr, Name: name, Key: key}
	return st.Save()
}

// Alive says why the bucket of a drill that goes on cannot be asked any more: a machine that was
// started again has lost its server, and the drill with it.
func (st *Stage) Alive() error {
	if st.Rec.Bucket == nil || len(st.Rec.Processes) == 0 {
		return fmt.Errorf("drill %s has no bucket", st.Rec.ID)
	}
	// The server is the one that was started first.
	p := st.Rec.Processes[0]
	if p.Start == "" || StartMark(p.PID) != p.Start {
		return fmt.Errorf("the bucket of drill %s is gone, with the machine or the session that it ran in: `handrail drill stop %s`, and start it again", st.Rec.ID, st.Rec.ID)
	}
	return nil
}

// Configure writes the backend of the root module: what a drill with a cluster gives to init, a
// module with a bucket says itself.
func (st *Stage) Configure() error {
	r := st.Rec.Bucket
	if r == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(st.Rec.Dir, "backend.tf"), fmt.Appendf(nil, backendFile, r.Name, r.Key, bucketRegion, r.URL), 0o600)
}

const backendFile = `# The state is in a bucket, and its lock is a file beside it.

terraform {
  backend "s3" {
    bucket       = %q
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
  }
}
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

// foreignCloud reports whether a variable could lead the trainee to another bucket.
func (st *Stage) foreignCloud(name string) bool {
	return st.Rec.Bucket != nil && strings.HasPrefix(name, "AWS_")
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

// BackdateLock makes the lock file look older: what it says of itself, and the time that the
// bucket keeps of the write. The gate holds the one against the other. The state, which was
// written before the lock was taken, becomes older by as much.
func (st *Stage) BackdateLock(by time.Duration) error {
	if st.Rec.Bucket == nil {
		return errors.New("this drill has no bucket: begin with bucket.run")
	}
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
