package drills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

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
	if s.Cluster() && o.Lab == nil {
		return nil, fmt.Errorf("starting drill %s: %w", s.Name(), lab.ErrNotRunning)
	}
	r := o.running(s, stage.Record{}, dir)
	if err := r.start(ctx, o, s); err != nil {
		// Not with ctx: it may be what ended the start.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("starting drill %s: %w", s.Name(), err), r.Close(), Stop(clean, o, s.Drill.ID))
	}
	return r, nil
}

// running is a drill in dir as this process sees it.
func (o Options) running(s Scene, rec stage.Record, dir string) *Running {
	r := &Running{scene: s, cat: o.Catalog}
	r.stage = stage.Stage{Rec: rec, Home: dir, Tofu: cmp.Or(rec.Program, o.Tofu), Bucket: o.Bucket, Realm: o.Realm, AWS: o.AWS, Store: o.Store, Source: o.Source, Now: o.Now, Say: o.say}
	if s.Cluster() {
		r.lab, r.stage.Tofu, r.stage.World, r.stage.Provider = o.Lab, o.Lab.TofuPath(), o.Lab, o.Lab.Records
	}
	return r
}

func (r *Running) start(ctx context.Context, o Options, s Scene) error {
	nonce, err := stage.RandomHex(8)
	if err != nil {
		return err
	}
	r.stage.Rec = stage.Record{ID: s.Drill.ID, Variant: s.Variant, Backend: s.Backend, Nonce: nonce, Started: o.Now().UTC()}
	if r.lab != nil {
		r.stage.Rec.Lab, r.stage.Rec.Cluster = r.lab.Dir(), r.lab.UID()
	} else {
		r.stage.Rec.Program = r.stage.Tofu
	}
	if s.inject.Module() {
		if r.stage.Tofu == "" {
			return errors.New("there is no tofu: `handrail lab up` builds it")
		}
		r.stage.Rec.Dir, r.stage.Rec.Log = filepath.Join(r.stage.Home, "work"), filepath.Join(r.stage.Home, "apply.log")
		r.stage.Rec.Suffix = s.Drill.ID + "-" + nonce[:6] // two drills of one kind are two states, as the holder probe tells them
	}
	if err := r.stage.UndoKey(); err != nil {
		return err
	}
	if err := r.stage.Save(); err != nil {
		return err
	}
	if r.lab != nil {
		if err := r.place(ctx, o); err != nil {
			return err
		}
	}
	if err := r.stage.Keep(ctx); err != nil {
		return err
	}
	if err := s.inject.Apply(ctx, &r.stage); err != nil {
		return err
	}
	r.stage.Rec.Values = s.inject.Values(&r.stage)
	for _, e := range s.export {
		if e.late {
			continue
		}
		v, err := e.read(ctx, &r.stage)
		if err != nil {
			return fmt.Errorf("export %s: %w", e.name, err)
		}
		r.stage.Rec.Values[e.name] = v
	}
	r.stage.Rec.Ready = true
	return r.stage.Save()
}

// place gives the drill a namespace of its own in the cluster.
func (r *Running) place(ctx context.Context, o Options) (err error) {
	if r.lease, err = r.lab.Lease(ctx, "drill-"+r.ID()); err != nil {
		return err
	}
	o.say("making a namespace")
	if r.stage.Rec.Namespace, err = r.lab.Namespace(ctx, "drill-"+r.ID()); err != nil {
		return err
	}
	if err := r.stage.Save(); err != nil {
		return err
	}
	return r.stage.Connect(ctx, r.lab)
}

// Cluster reports whether a drill that was started needs the practice cluster, and its root
// module; an error is ErrNotStarted or one that [Open] explains.
func Cluster(o Options, id string) (bool, error) {
	rec, err := recordOf(o.State, id)
	return rec.Lab != "", err
}

// Open finds a drill that was started before, by this process or another.
func Open(ctx context.Context, o Options, id string) (*Running, error) {
	rec, err := recordOf(o.State, id)
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
	s, err := d.On(rec.Variant, rec.Backend)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(home(o.State, id))
	if err != nil {
		return nil, err
	}
	if s.Cluster() && o.Lab == nil {
		return nil, fmt.Errorf("drill %s: %w", id, lab.ErrNotRunning)
	}
	r := o.running(s, rec, dir)
	if err := r.stage.Alive(); err != nil || !s.Cluster() {
		return r, err
	}
	if err := r.stage.Connect(ctx, o.Lab); err != nil {
		return nil, fmt.Errorf("drill %s: %w", id, err)
	}
	if r.lease, err = o.Lab.Lease(ctx, "drill-"+id); err != nil {
		return nil, fmt.Errorf("drill %s: %w", id, err)
	}
	return r, nil
}
