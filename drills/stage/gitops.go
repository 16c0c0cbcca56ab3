package stage

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"handrail/drills/lab"
	"handrail/steps/fault"
)

// GitopsRecord is what a drill with a GitOps controller runs.
type GitopsRecord struct {
	Git  string `json:"git,omitempty"`  // URL of its Git server
	Flux bool   `json:"flux,omitempty"` // else Argo CD

	Parts []GitopsPart `json:"parts,omitempty"` // of a controller that the drill stops and starts again
}

// GitopsPart is a program of the controller: how it is started, and the process that it is.
type GitopsPart struct {
	lab.Process `json:"program"`
	Now         Process `json:"now"`
}

// AttendPart starts a program of the controller, and keeps how it is started.
func (st *Stage) AttendPart(ctx context.Context, p lab.Process) error {
	err := st.Attend(ctx, p)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(st.Rec.Gitops.Parts, func(o GitopsPart) bool { return o.Name == p.Name })
	if at < 0 {
		at = len(st.Rec.Gitops.Parts)
		st.Rec.Gitops.Parts = append(st.Rec.Gitops.Parts, GitopsPart{Process: p})
	}
	st.Rec.Gitops.Parts[at].Now = st.Rec.Processes[0]
	return st.Save()
}

// Part is a program of the controller.
func (st *Stage) Part(name string) (GitopsPart, error) {
	if st.Rec.Gitops != nil {
		for _, p := range st.Rec.Gitops.Parts {
			if p.Name == name {
				return p, nil
			}
		}
	}
	return GitopsPart{}, fmt.Errorf("the drill runs no %s", name)
}

// EndPart kills a program of the controller, as a node does that has no memory left, and waits
// until it is gone.
func (st *Stage) EndPart(ctx context.Context, name string) error {
	p, err := st.Part(name)
	if err != nil {
		return err
	}
	if p.Now.Start == "" || StartMark(p.Now.PID) != p.Now.Start {
		return fmt.Errorf("the %s of the drill does not run", name)
	}
	if _, err := EndGroup(p.Now.PID); err != nil {
		return err
	}
	return st.Wait(ctx, "the "+name+" of the drill did not end", func() (bool, error) { return StartMark(p.Now.PID) != p.Now.Start, nil })
}

// GitDir holds the repositories of the drill.
func (st *Stage) GitDir() string { return filepath.Join(st.Home, "git") }

// Attend starts a program of the lab in a session of its own, as a service that is not the
// trainee's, and returns when it is ready.
func (st *Stage) Attend(ctx context.Context, p lab.Process) error {
	at, err := url.Parse(p.Ready)
	if err != nil {
		return err
	}
	name := filepath.Join(p.Dir, p.Name+".log")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the program has it
	for _, args := range p.First {
		first := exec.CommandContext(ctx, p.Program, args...)
		first.Dir, first.Env = p.Dir, append(append(lab.GoEnv(), p.Env...), Marker+st.Rec.Nonce)
		if said, err := first.CombinedOutput(); err != nil {
			return fmt.Errorf("starting the %s of the drill: %w: %s", p.Name, err, Tail(said))
		}
	}
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(p.Program, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, append(append(lab.GoEnv(), p.Env...), Marker+st.Rec.Nonce), out, out
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the %s of the drill: %w", p.Name, err)
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
	return st.Wait(ctx, "the "+p.Name+" of the drill is not ready", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(name)
			return false, fmt.Errorf("the %s of the drill ended at once: %w: %s", p.Name, err, Tail(raw))
		default:
		}
		return answers(ctx, at), nil
	})
}

// answers reports whether what is at an address of loopback can be used.
func answers(ctx context.Context, at *url.URL) bool {
	if at.Scheme == "tcp" {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp4", at.Host)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false
	}
	client := &http.Client{Timeout: Interval * 50, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
