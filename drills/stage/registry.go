package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"handrail/drills/lab"
)

// RegistryRecord is the image registry of a drill: how it is started, and the process that it is.
type RegistryRecord struct {
	Addr        string `json:"addr"`
	lab.Process `json:"program"`
	Now         Process `json:"now"`
}

// RegistryDir holds what the registry keeps, and beside that the keys of those who sign.
func (st *Stage) RegistryDir() string { return filepath.Join(st.Home, "registry") }

// ServeRegistry starts a registry that keeps its images in a folder of the drill. It asks for a password where that holds
// a file htpasswd.
func (st *Stage) ServeRegistry(ctx context.Context) error {
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	if err := os.MkdirAll(st.RegistryDir(), 0o700); err != nil {
		return err
	}
	ports, err := lab.LastingPorts(1)
	if err != nil {
		return err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", ports[0])
	program, _, err := st.World.Process(ctx, "registry", st.RegistryDir(), addr)
	if err != nil {
		return err
	}
	st.Rec.Registry = &RegistryRecord{Addr: addr, Process: program}
	return st.StartRegistry(ctx)
}

// StartRegistry starts it where it was, with what it held.
func (st *Stage) StartRegistry(ctx context.Context) error {
	if st.Rec.Registry == nil {
		return errors.New("this drill has no registry: begin with registry.run")
	}
	if err := st.Attend(ctx, st.Rec.Registry.Process); err != nil {
		return err
	}
	st.Rec.Registry.Now = st.Rec.Processes[0]
	return st.Save()
}

// StopRegistry ends it, and waits until it is gone.
func (st *Stage) StopRegistry(ctx context.Context) error {
	if st.Rec.Registry == nil {
		return errors.New("this drill has no registry: begin with registry.run")
	}
	now := st.Rec.Registry.Now
	if now.Start == "" || StartMark(now.PID) != now.Start {
		return errors.New("the registry of the drill does not run")
	}
	if _, err := EndGroup(now.PID); err != nil {
		return err
	}
	return st.Wait(ctx, "the registry of the drill did not end", func() (bool, error) { return StartMark(now.PID) != now.Start, nil })
}
