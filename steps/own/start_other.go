//go:build !linux

package own

import (
	"os/exec"

	"handrail/steps/fault"
)

// process is a program that was started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
}

// start starts cmd. Here the kernel has no way to keep it from writing.
func start(cmd *exec.Cmd, _ confined) (*process, error) {
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		defer fault.Into(&p.err)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// end kills what is left of the group and returns what the program came to.
func (p *process) end() error {
	killGroup(p.cmd)
	<-p.ended
	return p.err
}
