package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/drills/lab"
	"handrail/drills/store"
	"handrail/steps"
	"handrail/steps/terraform/backend"
)

// The backends of a drill that need no server of their own.
const (
	BackendKubernetes = "kubernetes"
	BackendBucket     = "s3" // with a lock file, in the bucket of the drill
	BackendLocal      = "local"
)

// Backends are those that a drill may name.
func Backends() []string {
	return append([]string{BackendKubernetes, BackendBucket, BackendLocal}, store.Names()...)
}

// bucketName is that of the bucket of a drill that is told to keep its state in one.
const bucketName = "team-states"

// Keep brings up what keeps the state of the drill, where it is told to be elsewhere than it is written for.
func (st *Stage) Keep(ctx context.Context) error {
	switch st.Rec.Backend {
	case "", BackendKubernetes, BackendLocal:
		return nil
	case BackendBucket:
		st.Say("serving a bucket for the state, on loopback")
		return st.ServeBucket(ctx, bucketName, st.Rec.Suffix+"/terraform.tfstate")
	}
	if len(st.Store) == 0 {
		return errors.New("nothing says how the state of a drill is kept on " + st.Rec.Backend)
	}
	st.Say("starting what keeps the state: %s, on loopback", st.Rec.Backend)
	source, err := lab.Source(st.Source)
	if err != nil {
		return err
	}
	if err := store.Prepare(st.StoreDir(), store.Plan{Backend: st.Rec.Backend, Unit: st.Rec.Suffix, People: []string{NameRobot, NameOperator}, Trainee: NameOperator, Source: source}); err != nil {
		return err
	}
	// What finds the programs of the lab, and nothing that leads a client elsewhere.
	environ := slices.DeleteFunc(os.Environ(), foreignStore)
	var p *store.Place
	if err := st.beside(ctx, "store", append(slices.Clone(st.Store), st.StoreDir()), environ, func() (err error) {
		p, err = store.Read(st.StoreDir())
		return err
	}); err != nil {
		return err
	}
	st.Rec.Folders = append(st.Rec.Folders, p.Folders...)
	return st.Save()
}

// StoreDir is the folder of what keeps the state on a server of its backend.
func (st *Stage) StoreDir() string { return filepath.Join(st.Home, "store") }

// place is where the state is, nil where no server of its backend keeps it.
func (st *Stage) place() (*store.Place, error) {
	if _, ok := store.Services(st.Rec.Backend); !ok {
		return nil, nil
	}
	return store.Read(st.StoreDir())
}

// Alive says why what keeps the state of a drill that goes on cannot be asked any more: a machine that was
// started again has lost it, and the drill with it.
func (st *Stage) Alive() error {
	if p := st.Rec.Keeper; p == nil || p.Start != "" && StartMark(p.PID) == p.Start {
		return nil
	}
	return fmt.Errorf("what keeps the state of drill %s is gone, with the machine or the session that it ran in: `handrail drill stop %s`, and start it again", st.Rec.ID, st.Rec.ID)
}

// Configure writes the backend of the root module. The cluster's own is filled in by init, which knows as whom it asks.
func (st *Stage) Configure() error {
	kind, block := BackendKubernetes, "# the drill fills it in\n"
	if r := st.Rec.Bucket; r != nil {
		kind, block = "s3", fmt.Sprintf(bucketBlock, r.Name, r.Key, bucketRegion, r.URL)
	} else if st.Rec.Backend == BackendLocal {
		kind, block = BackendLocal, "path = \"terraform.tfstate\"\n"
	} else if p, err := st.place(); err != nil {
		return err
	} else if p != nil {
		kind, block = p.Type, p.Block
	}
	var text strings.Builder
	fmt.Fprintf(&text, "terraform {\n  backend %q {\n", kind)
	for line := range strings.Lines(block) {
		if strings.TrimSpace(line) != "" {
			text.WriteString("    ")
		}
		text.WriteString(line)
	}
	text.WriteString("  }\n}\n")
	return os.WriteFile(filepath.Join(st.Rec.Dir, "backend.tf"), []byte(text.String()), 0o600)
}

// inCluster reports whether the state is a Secret of the lab.
func (st *Stage) inCluster() bool {
	return st.Rec.Bucket == nil && (st.Rec.Backend == "" || st.Rec.Backend == BackendKubernetes)
}

// storeEnviron is by what a caller reaches the state on a server of its backend, nothing elsewhere.
func (st *Stage) storeEnviron(who string) []string {
	p, err := st.place()
	if err != nil || p == nil {
		return nil // then init fails, and says so
	}
	return p.Environ[who]
}

// foreignCloud reports whether a variable could lead the trainee to another place of the state.
func (st *Stage) foreignCloud(name string) bool {
	if _, ok := store.Services(st.Rec.Backend); ok {
		return foreignStore(name)
	}
	return (st.Rec.Bucket != nil || st.Rec.AWS != "") && strings.HasPrefix(name, "AWS_") || st.Rec.Uploads != nil && (strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "PROMETHEUS_"))
}

func foreignStore(kv string) bool {
	return slices.ContainsFunc(store.Foreign, func(prefix string) bool { return strings.HasPrefix(kv, prefix) })
}

// StoreSecrets are the keys of the servers that keep the state.
func (st *Stage) StoreSecrets() ([]string, error) {
	p, err := st.place()
	if err != nil || p == nil {
		return nil, err
	}
	return p.Secrets, nil
}

// openState is the store of the state as handrail reads it, as robot.
func (st *Stage) openState(ctx context.Context) (backend.Store, error) {
	env := steps.Env{Dir: st.Rec.Dir, Environ: st.RobotEnviron(), Home: st.Home, Now: st.Now, Trusted: func(string) error { return nil }}
	_, s, err := backend.OpenAt(ctx, env, nil, steps.SecretsOnly(nil))
	return s, err
}

// storedState is the state of a backend that is neither the cluster nor the bucket.
func (st *Stage) storedState(ctx context.Context) ([]byte, error) {
	s, err := st.openState(ctx)
	if err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	now, err := s.State(ctx)
	if err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	if !now.Exists {
		return nil, errors.New("state of the drill: there is none")
	}
	if now.Body == nil {
		return now.Stored, nil
	}
	defer now.Body.Close()
	return io.ReadAll(io.LimitReader(now.Body, MaxAnswer))
}

// storedHolder is who holds the lock of such a backend. What the lock does not tell is not known.
func (st *Stage) storedHolder(ctx context.Context) (string, error) {
	p, err := st.place()
	if err != nil {
		return "", err
	}
	if p != nil {
		if id, ok := p.Kept(); ok && id == "" {
			return "", errors.New("the lock of the state has no holder")
		} else if ok {
			return id, nil
		}
	}
	s, err := st.openState(ctx)
	if err != nil {
		return "", fmt.Errorf("lock of the state: %w", err)
	}
	l, err := s.Lock(ctx)
	if err == nil && !l.Held {
		err = errors.New("it has no holder")
	}
	if err != nil {
		return "", fmt.Errorf("lock of the state: %w", err)
	}
	return l.ID, nil
}

// NamesLock reports whether a lock here has an id that stays with it. That of pg and http has none, and
// that of consul and of a file goes with its holder.
func (st *Stage) NamesLock() bool {
	return !slices.Contains([]string{store.PG, store.HTTP, store.Consul, BackendLocal}, st.Rec.Backend)
}

// VersionBefore is the version of the state before the newest, where the backend keeps them.
func (st *Stage) VersionBefore(ctx context.Context) (string, error) {
	s, err := st.openState(ctx)
	if err != nil {
		return "", err
	}
	list, err := s.Versions(ctx, 2)
	if err == nil && len(list.List) < 2 {
		err = errors.New("there is one version alone")
	}
	if err != nil {
		return "", fmt.Errorf("versions of the state: %w", err)
	}
	return list.List[1].ID, nil
}

// BackdateLock makes the lock of the state look older, by the word of the backend too.
func (st *Stage) BackdateLock(ctx context.Context, by time.Duration) error {
	if st.Rec.Bucket != nil {
		return st.backdateFile(by)
	}
	p, err := st.place()
	switch {
	case err != nil:
		return err
	case p != nil:
		return p.Backdate(ctx, by)
	case st.Rec.Backend == BackendLocal:
		return errors.New("the lock on a file has no age")
	}
	return st.backdateLease(ctx, by)
}

// ReleaseLock ends the lock as the owner of the server does, where force-unlock cannot.
func (st *Stage) ReleaseLock(ctx context.Context) error {
	p, err := st.place()
	if err == nil && p == nil {
		err = errors.New("here the lock is released by force-unlock, or by the end of its holder")
	}
	if err != nil {
		return err
	}
	return p.Release(ctx)
}

// Write is one request that changed the state or its lock, as the server of the backend has it.
type Write = store.Write

// StateWrites are the writes that the server of the backend saw; ok says whether it keeps a log of its own.
func (st *Stage) StateWrites() (list []Write, ok bool, err error) {
	if _, ok := store.Services(st.Rec.Backend); !ok {
		return nil, false, nil
	}
	list, err = store.Writes(st.StoreDir())
	return list, true, err
}
