package lab

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Status is what can be said of a lab without changing anything.
type Status struct {
	Running   bool            `json:"running"` // ready to be used
	Phase     string          `json:"phase,omitempty"`
	Why       string          `json:"why,omitempty"` // why it does not run, when something is known
	Dir       string          `json:"dir"`
	URL       string          `json:"url,omitempty"`
	UID       string          `json:"kube_system_uid,omitempty"`
	Versions  Versions        `json:"versions,omitzero"`
	Binary    string          `json:"binary,omitempty"`
	Started   time.Time       `json:"started,omitzero"`
	Uptime    time.Duration   `json:"uptime,omitempty"`
	Processes []ProcessStatus `json:"processes,omitempty"`
	Memory    int64           `json:"memory_bytes,omitempty"` // resident, all processes
	Stays     bool            `json:"stays"`                  // until `lab down`; else it ends after its last lease
	Leases    []string        `json:"leases,omitempty"`
}

// Versions are those of the running servers.
type Versions struct {
	Kubernetes string `json:"kubernetes,omitempty"`
	Etcd       string `json:"etcd,omitempty"`
}

// ProcessStatus is one process of the lab.
type ProcessStatus struct {
	Name   string `json:"name"`
	PID    int    `json:"pid"`
	Alive  bool   `json:"alive"`
	Memory int64  `json:"memory_bytes"`
}

// Inspect looks at the lab of the data directory. An absent lab is a Status, not an error.
func Inspect(ctx context.Context, o Options) (Status, error) {
	o, err := o.filled()
	if err != nil {
		return Status{}, err
	}
	st := Status{Dir: o.Dir}
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	var s state
	if err := read(o.Dir, fileState, &s); err != nil {
		return st, err
	}
	l := &Lab{dir: o.Dir}
	if err := read(o.Dir, fileRecord, &l.record); err != nil {
		return st, err
	}
	st.Phase, st.Why, st.Binary, st.Started = s.Phase, s.Why, s.Binary, s.Started
	st.URL, st.UID, st.Versions.Kubernetes = l.record.URL, l.record.UID, l.record.Kubernetes
	st.Versions.Etcd = l.record.Etcd
	_, err = os.Stat(filepath.Join(o.Dir, fileStay))
	st.Stays = err == nil
	for _, path := range leases(o.Dir, true) {
		st.Leases = append(st.Leases, leaseLabel(path))
	}
	all := s.Supervisor.PID != 0
	for _, p := range append([]process{s.Supervisor}, s.Processes...) {
		ps := ProcessStatus{Name: p.Name, PID: p.PID, Alive: p.runs(s.BootID)}
		if ps.Alive {
			ps.Memory = memory(p.PID)
		}
		all = all && ps.Alive
		st.Memory += ps.Memory
		if p.PID != 0 {
			st.Processes = append(st.Processes, ps)
		}
	}
	if !all {
		if st.Why == "" && s.Phase != "" {
			st.Why = "not all of its processes are alive; `handrail lab up` starts it again"
		}
		return st, nil
	}
	st.Uptime = time.Since(s.Started)
	if s.Phase != phaseRunning || !l.record.Ready {
		return st, nil
	}
	if err := l.answers(ctx); err != nil {
		st.Why = err.Error()
		return st, nil
	}
	st.Running = true
	return st, nil
}

// answers tells whether the API server is ready now.
func (l *Lab) answers(ctx context.Context) error {
	if err := l.connect(); err != nil {
		return err
	}
	return l.client.do(ctx, "GET", "/readyz", nil, nil)
}

// Open returns the lab that runs in the data directory and starts nothing; without one the error is ErrNotRunning.
func Open(ctx context.Context, o Options) (*Lab, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	st, err := Inspect(ctx, o)
	if err != nil {
		return nil, err
	}
	if !st.Running {
		return nil, ErrNotRunning
	}
	l := &Lab{dir: o.Dir, source: o.Source, bins: Binaries{"cluster": st.Binary}}
	if err := read(l.dir, fileRecord, &l.record); err != nil {
		return nil, err
	}
	if err := l.connect(); err != nil {
		return nil, err
	}
	if path := o.built(Parts()[1]); path != "" { // without the clone only tofu's place is unknown
		l.bins["tofu"] = path
	}
	return l, nil
}

// Status is Inspect for a lab that one already holds.
func (l *Lab) Status(ctx context.Context) (Status, error) { return Inspect(ctx, Options{Dir: l.dir}) }
