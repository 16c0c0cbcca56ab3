package drills

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// Options say where drills run and live.
type Options struct {
	Lab      *lab.Lab
	State    string // state directory of the program; a drill lives in drills/<id> below it
	Catalog  steps.Catalog
	Now      func() time.Time
	Progress func(text string) // nil for silence
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// Start injects a scene into the lab and returns when it can be walked. A drill
// of the same id that was not stopped gives ErrRunning. What was begun is
// undone when Start fails; Close the result, and Stop the drill when it is over.
func Start(ctx context.Context, o Options, s Scene) (*Running, error) {
	dir, err := filepath.Abs(home(o.State, s.Drill.ID))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("starting drill %s: %w", s.Drill.ID, err)
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: go on with `handrail resume`, or end it with `handrail drill stop %s`", ErrRunning, s.Drill.ID)
	} else if err != nil {
		return nil, fmt.Errorf("starting drill %s: %w", s.Drill.ID, err)
	}
	r := &Running{scene: s, lab: o.Lab, cat: o.Catalog}
	r.stage = stage{home: dir, tofu: o.Lab.TofuPath(), world: o.Lab, provider: o.Lab.Records, now: o.Now, say: o.say}
	if err := r.start(ctx, o, s); err != nil {
		// Not with ctx: it may be what ended the start.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("starting drill %s: %w", s.Name(), err), r.Close(), Stop(clean, o, s.Drill.ID))
	}
	return r, nil
}

func (r *Running) start(ctx context.Context, o Options, s Scene) error {
	nonce, err := randomHex(8)
	if err != nil {
		return err
	}
	r.rec = record{ID: s.Drill.ID, Variant: s.Variant, Nonce: nonce, Started: o.Now().UTC(), Lab: o.Lab.Dir(), Cluster: o.Lab.UID()}
	if s.module() {
		if r.stage.tofu == "" {
			return errors.New("the lab has no tofu: `handrail lab up` builds it")
		}
		r.rec.Dir, r.rec.Log = filepath.Join(r.stage.home, "work"), filepath.Join(r.stage.home, "apply.log")
		if err := r.undoKey(); err != nil {
			return err
		}
		r.rec.Suffix = s.Drill.ID + "-" + nonce[:6] // two drills of one kind are two states, as the holder probe tells them
	}
	if err := r.save(); err != nil {
		return err
	}
	if r.lease, err = o.Lab.Lease(ctx, "drill-"+s.Drill.ID); err != nil {
		return err
	}
	o.say("making a namespace")
	if r.rec.Namespace, err = o.Lab.Namespace(ctx, "drill-"+s.Drill.ID); err != nil {
		return err
	}
	if err := r.save(); err != nil {
		return err
	}
	if err := r.connect(ctx, o.Lab); err != nil {
		return err
	}
	if err := r.inject(ctx, s.inject); err != nil {
		return err
	}
	r.rec.Values = map[string]steps.Value{"namespace": steps.StringOf(r.rec.Namespace.Name)}
	if s.module() {
		r.rec.Values["dir"], r.rec.Values["log"] = steps.PathOf(r.rec.Dir), steps.PathOf(r.rec.Log)
	}
	if s.doomed() {
		r.rec.Values["beside"] = steps.StringOf(lab.Beside(r.rec.Namespace.Name))
	}
	if s.api() {
		r.rec.Values["api"], r.rec.Values["api_log"] = steps.StringOf(r.rec.API), steps.PathOf(filepath.Join(r.apiDir(), "requests.log"))
		r.rec.Values["mirror"] = steps.PathOf(r.mirror())
	}
	if s.node() {
		r.rec.Values["reports"], r.rec.Values["node"] = steps.PathOf(filepath.Join(r.nodeDir(), "reports")), steps.StringOf(r.nodeName())
	}
	if s.broker() {
		r.rec.Values["broker"] = steps.StringOf(r.rec.Broker.API)
	}
	for _, name := range s.places() {
		r.rec.Values[name] = steps.PathOf(r.placed(name))
	}
	if s.signals() {
		r.rec.Values["signals"] = steps.PathOf(r.signalsFile())
	}
	for _, e := range s.export {
		if e.late {
			continue
		}
		v, err := e.read(ctx, &r.stage)
		if err != nil {
			return fmt.Errorf("export %s: %w", e.name, err)
		}
		r.rec.Values[e.name] = v
	}
	r.rec.Ready = true
	return r.save()
}

// Open finds a drill that was started before, by this process or another.
func Open(ctx context.Context, o Options, id string) (*Running, error) {
	rec, err := load(o.State, id)
	if err != nil {
		return nil, err
	}
	if !rec.Ready {
		return nil, fmt.Errorf("drill %s was cut off while it started: `handrail drill stop %s`, and start it again", id, id)
	}
	d, err := Lookup(rec.ID, o.Catalog)
	if err != nil {
		return nil, err
	}
	s, err := d.Scene(rec.Variant)
	if err != nil {
		return nil, err
	}
	r := &Running{scene: s, lab: o.Lab, cat: o.Catalog}
	dir, err := filepath.Abs(home(o.State, id))
	if err != nil {
		return nil, err
	}
	r.stage = stage{rec: rec, home: dir, tofu: o.Lab.TofuPath(), world: o.Lab, provider: o.Lab.Records, now: o.Now, say: o.say}
	if err := r.connect(ctx, o.Lab); err != nil {
		return nil, fmt.Errorf("drill %s: %w", id, err)
	}
	if r.lease, err = o.Lab.Lease(ctx, "drill-"+id); err != nil {
		return nil, fmt.Errorf("drill %s: %w", id, err)
	}
	return r, nil
}

func randomHex(n int) (string, error) {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}
