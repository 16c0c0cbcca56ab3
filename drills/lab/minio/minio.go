// Package minio runs a real MinIO for tests: accounts, their policies and settings, through a program of the lab's that speaks
// the API by which MinIO is administered. Both are programs of their own, since their license is the AGPL: nothing here links them.
package minio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"handrail/drills/lab"
)

// Store is a MinIO that runs.
type Store struct {
	URL            string   // http://127.0.0.1:PORT
	Env            []string // what its owner needs, by the names of the AWS tools
	Access, Secret string   // of its owner

	server *lab.Server
	admin  *admin
}

// Start builds MinIO if need be (three minutes of CPU, once), starts it with its data in dir, and returns when it answers. It ends
// with Close, and on Linux with this process.
func Start(ctx context.Context, o lab.Options, dir string) (*Store, error) {
	program, err := lab.MinioAdmin(ctx, o)
	if err != nil {
		return nil, err
	}
	server, err := lab.StartService(ctx, o, "minio", dir)
	if err != nil {
		return nil, err
	}
	s := &Store{URL: server.URL, Env: server.Env, server: server}
	for _, kv := range server.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "AWS_ACCESS_KEY_ID":
			s.Access = value
		case "AWS_SECRET_ACCESS_KEY":
			s.Secret = value
		}
	}
	if s.admin, err = newAdmin(program, s, dir); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	// It is ready before its settings are: what administers it asks until they are.
	if _, err := s.Get("api"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the store.
func (s *Store) Close() error { return errors.Join(s.admin.close(), s.server.Close()) }

// PID is the process of the store, a restart of its own included.
func (s *Store) PID() int { return s.server.PID() }

// User makes an account. A secret has 8 characters at least.
func (s *Store) User(name, secret string) error {
	_, err := s.admin.do(order{Do: "user", Name: name, Secret: secret})
	return err
}

// Policy makes a policy for accounts, or puts another document in its place. MinIO says why it refuses one.
func (s *Store) Policy(name, document string) error {
	_, err := s.admin.do(order{Do: "policy", Name: name, Document: json.RawMessage(document)})
	return err
}

// Attach gives an account a policy, whatever its document will be.
func (s *Store) Attach(user, policy string) error {
	_, err := s.admin.do(order{Do: "attach", Name: user, Policy: policy})
	return err
}

// Set changes settings, as mc admin config set takes them. It reports whether they wait for a restart.
func (s *Store) Set(settings string) (restart bool, err error) {
	a, err := s.admin.do(order{Do: "set", Settings: settings})
	return a.Restart, err
}

// Get is what is set of one part, as mc admin config get prints it.
func (s *Store) Get(key string) (string, error) {
	a, err := s.admin.do(order{Do: "get", Name: key})
	return a.Settings, err
}

// order and answer are those of lab/minio.
type order struct {
	Do, Name, Secret string
	Document         json.RawMessage `json:",omitempty"`
	Policy, Settings string
}

type answer struct {
	Error, Settings string
	Restart         bool
}

// admin is the program that takes orders, one at a time.
type admin struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newAdmin(program string, s *Store, dir string) (*admin, error) {
	a := &admin{cmd: exec.Command(program)}
	a.cmd.Dir, a.cmd.Env = dir, []string{"HOME=" + dir, "MINIO_URL=" + s.URL, "MINIO_ROOT_USER=" + s.Access, "MINIO_ROOT_PASSWORD=" + s.Secret}
	var err error
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.out = bufio.NewReader(out)
	return a, a.cmd.Start()
}

func (a *admin) do(o order) (answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var got answer
	if err := json.NewEncoder(a.in).Encode(o); err != nil {
		return got, fmt.Errorf("administering MinIO: %w", err)
	}
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		return got, fmt.Errorf("administering MinIO: %w", err)
	}
	if err := json.Unmarshal(line, &got); err != nil {
		return got, fmt.Errorf("administering MinIO: %w", err)
	}
	if got.Error != "" {
		return got, errors.New(got.Error)
	}
	return got, nil
}

// close ends the program, which ends with its input.
func (a *admin) close() error {
	return errors.Join(a.in.Close(), a.cmd.Wait())
}
