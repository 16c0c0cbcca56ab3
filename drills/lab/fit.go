package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// FitFor says which programs a drill without a cluster can take from this machine: those that
// keep a lock file beside a state in S3.
const FitFor = "OpenTofu or Terraform 1.10 or newer"

const fitMinor = 10

// Machine is a tofu or terraform of this machine.
type Machine struct {
	Path    string `json:"path"`
	Product string `json:"product"` // OpenTofu or Terraform
	Version string `json:"version"`
}

// String names it as a person would.
func (m Machine) String() string { return m.Product + " " + m.Version + " at " + m.Path }

var versionLine = regexp.MustCompile(`(?m)^(OpenTofu|Terraform) v((\d+)\.(\d+)\.\S+)\s*$`)

// askVersion is how long a program may take to say its version: a version manager may look for it.
const askVersion = 20 * time.Second

// Fits asks a program for its version, in an environment as bare as that of a drill, and says why
// a drill cannot take it. A version manager that needs more than that does not fit.
func Fits(ctx context.Context, path string) (Machine, error) {
	m := Machine{Path: path}
	home, err := os.MkdirTemp("", "handrail-fit-")
	if err != nil {
		return m, err
	}
	defer func() { _ = os.RemoveAll(home) }() // nothing of worth is in it
	ctx, cancel := context.WithTimeout(ctx, askVersion)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}
	cmd.WaitDelay = time.Second
	runtime.LockOSThread() // the kernel ties the child to the thread that started it
	defer runtime.UnlockOSThread()
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd); return nil }
	said, err := cmd.Output()
	found := versionLine.FindStringSubmatch(string(said))
	if err != nil || found == nil {
		return m, fmt.Errorf("%s does not say its version where nothing is set up for it (%v)", path, err)
	}
	m.Product, m.Version = found[1], found[2]
	major, _ := strconv.Atoi(found[3])
	minor, _ := strconv.Atoi(found[4])
	if major != 1 || minor < fitMinor {
		return m, fmt.Errorf("%s does not fit: a drill without a cluster wants %s", m, FitFor)
	}
	return m, nil
}
