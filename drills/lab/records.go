package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The provider that does everything badly, as tofu names it; lab/records says
// what it does.
const (
	RecordsSource  = "lab.example/lab/records"
	RecordsVersion = "0.1.0"
)

// Records returns the path of that provider, building it when it is missing. It
// is the API that it speaks to as well.
func (l *Lab) Records(ctx context.Context) (string, error) {
	return Service(ctx, l.options(), "records")
}

// Mirror puts the provider at program into a filesystem mirror of tofu in dir, as
// an unpacked package for this machine. It returns the path of the package.
func Mirror(dir, program string) (string, error) {
	at := filepath.Join(dir, filepath.FromSlash(RecordsSource), RecordsVersion, runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(at, "terraform-provider-records_v"+RecordsVersion)
	// Another name of the same file where that can be: it has 20 MB.
	if err := os.Link(program, name); err == nil || errors.Is(err, fs.ErrExist) {
		return at, nil
	}
	if err := copyProgram(program, name); err != nil {
		return "", fmt.Errorf("mirror in %s: %w", dir, err)
	}
	return at, nil
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// RecordsTokens makes the tokens of the API in dir and returns those of robot,
// who may turn its knobs, and operator.
func RecordsTokens(dir string) (robot, operator string, err error) {
	robot, operator = "robot-"+randomHex(16), "operator-"+randomHex(16)
	return robot, operator, replace(filepath.Join(dir, "tokens"), []byte("robot "+robot+"\noperator "+operator+"\n"))
}

// serveRecords keeps entries in memory. RECORDS_TOKEN is that of operator,
// RECORDS_ROBOT that of robot.
func serveRecords(dir, addr string) (launch, error) {
	robot, operator, err := RecordsTokens(dir)
	return launch{
		args:  []string{"api", "--dir", dir, "--addr", addr},
		ready: "/ready",
		tell:  []string{"RECORDS_API=http://" + addr, "RECORDS_TOKEN=" + operator, "RECORDS_ROBOT=" + robot},
	}, err
}
