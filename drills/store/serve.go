package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"handrail/drills/bucket"
	"handrail/drills/lab"
)

// Serve runs the servers of the folder, which was made by [Prepare], until ctx ends or the folder is gone.
func Serve(ctx context.Context, dir string) (err error) {
	ctx, cancel := bucket.WhileThere(ctx, dir)
	defer cancel()
	s := &server{ctx: ctx}
	raw, err := os.ReadFile(filepath.Join(dir, filePlan))
	if err == nil {
		err = json.Unmarshal(raw, &s.Plan)
	}
	if err != nil {
		return fmt.Errorf("state of the drill: %w", err)
	}
	s.dir, s.Environ, s.Server = dir, map[string][]string{}, map[string]string{}
	s.lab = lab.Options{Source: s.Plan.Source}
	if s.log, err = openLog(dir); err != nil {
		return err
	}
	defer func() {
		for _, end := range s.end {
			end()
		}
	}()
	set := map[string]func() error{Table: s.table, PG: s.pg, Consul: s.consul, GCS: s.gcs, Azure: s.azure, HTTP: s.http}[s.Plan.Backend]
	if set == nil {
		return fmt.Errorf("a drill keeps no state on %q", s.Plan.Backend)
	}
	if err := set(); err != nil {
		return fmt.Errorf("keeping the state of the drill on %s: %w", s.Plan.Backend, err)
	}
	if err := put(filepath.Join(dir, filePlace), s.Place); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
