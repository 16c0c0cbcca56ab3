package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// serveWithin is how long a service may take until it answers.
const serveWithin = 5 * time.Minute

// quitWithin is how long a service may take to end that is told to.
const quitWithin = 10 * time.Second

// Server is a service that runs for one test.
type Server struct {
	Name string
	Addr string   // 127.0.0.1:port
	URL  string   // http://Addr
	Dir  string   // of its data
	Env  []string // what its users need, as KEY=value

	end  context.CancelFunc
	done chan struct{} // closed when the process is gone
	err  error         // how it ended, once done is closed
	gone string        // a folder that goes with it
	pid  int           // known once it was started
}

// StartService builds a service if need be, starts it on loopback with its data in dir, and returns when it answers.
// It ends with Close, and on Linux with this process.
func StartService(ctx context.Context, o Options, name, dir string) (*Server, error) {
	program, err := Service(ctx, o, name)
	if err != nil {
		return nil, err
	}
	if o, err = o.filled(); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		s, err := o.serve(ctx, program, name, dir)
		if errors.Is(err, ErrPortTaken) && try < 5 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("starting %s: %w", name, err)
		}
		return s, nil
	}
}

// Process is a program that runs beside the lab, told all that it needs to know.
type Process struct {
	Name    string // of its log too, in Dir
	Program string
	Args    []string
	Env     []string   // all of its environment
	Dir     string     // where it runs
	First   [][]string // arguments of runs of the program that have to be done before, in this order
	Ready   string     // the URL that answers 200 once it can be used; of scheme tcp one that takes connections then
}

// Start starts a process, and returns when it is ready. It ends with Close, and on Linux with this process. The error
// is ErrPortTaken where other ports help.
func Start(ctx context.Context, p Process) (*Server, error) {
	at, err := url.Parse(p.Ready)
	if err != nil {
		return nil, err
	}
	s := &Server{Name: p.Name, Dir: p.Dir, Addr: at.Host, URL: "http://" + at.Host, done: make(chan struct{})}
	out, err := s.log()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	s.end = end
	cmd := exec.CommandContext(life, p.Program, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, out, out
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd); return nil }
	for _, args := range p.First {
		if err := s.before(exec.CommandContext(ctx, p.Program, args...), launch{}, cmd); err != nil {
			end()
			return nil, errors.Join(fmt.Errorf("starting %s: %w", p.Name, err), out.Close())
		}
	}
	answers := func(ctx context.Context) bool {
		if at.Scheme == "tcp" {
			return accepts(at.Host)
		}
		return s.answersTo(ctx, at.RequestURI(), false)
	}
	if err := s.begin(ctx, cmd, out, answers); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.Name, err)
	}
	return s, nil
}

func (s *Server) log() (*os.File, error) {
	return os.OpenFile(s.Log(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Log is the path of what the server says.
func (s *Server) Log() string { return filepath.Join(s.Dir, s.Name+".log") }

// Outside is a folder that the server has outside of its own, "" for none: it goes with Close.
func (s *Server) Outside() string { return s.gone }

// PID is its process.
func (s *Server) PID() int { return s.pid }

func (o Options) serve(ctx context.Context, program, name, dir string) (*Server, error) {
	found, err := o.ports(1)
	if err != nil {
		return nil, err
	}
	s := &Server{Name: name, Dir: dir, Addr: fmt.Sprintf("127.0.0.1:%d", found[0]), done: make(chan struct{})}
	s.URL = "http://" + s.Addr
	what, err := serviceNamed(name)
	if err != nil {
		return nil, err
	}
	how, err := what.serve(dir, s.Addr)
	if err != nil {
		return nil, err
	}
	s.Env = how.tell
	if err := how.link(program, dir); err != nil {
		return nil, err
	}
	out, err := s.log()
	if err != nil {
		return nil, err
	}
	// The life of the server is the caller's to end, not that of the context it was started in.
	life, end := context.WithCancel(context.Background())
	s.end = end
	tool := func(ctx context.Context, args []string) *exec.Cmd { return exec.CommandContext(ctx, program, args...) }
	if how.nobody {
		script, err := reachable(program, how.gone)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(how.gone))
		}
		// Its user may not get into our cache, so the launcher goes along as text.
		tool = func(ctx context.Context, args []string) *exec.Cmd {
			return exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, program}, args...)...)
		}
	}
	cmd := tool(life, how.args)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(append(GoEnv(), "HOME="+dir, "PATH="+os.Getenv("PATH")), how.env...)
	ownGroup(cmd)
	if how.nobody {
		cmd.Dir = how.gone
		asNobody(cmd)
	}
	cmd.Cancel = func() error { endGroup(cmd); return nil } // nothing of a test's server is worth keeping
	if how.quits {
		cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(endQuickly) }, quitWithin
	}
	s.gone = how.gone
	for _, args := range how.first {
		if err := s.before(tool(ctx, args), how, cmd); err != nil {
			return nil, errors.Join(err, s.clean())
		}
	}
	answers := func(ctx context.Context) bool {
		switch {
		case len(how.asks) > 0:
			ask := tool(ctx, how.asks)
			ask.Env = cmd.Env
			return ask.Run() == nil
		case how.ready != "":
			return s.answersTo(ctx, how.ready, how.any) && accepts(how.dials)
		}
		return accepts(s.Addr)
	}
	if err := s.begin(ctx, cmd, out, answers); err != nil {
		return nil, err
	}
	return s, nil
}

// begin starts the server, and returns when it answers. One that does not is gone, and the error has the end of its log.
func (s *Server) begin(ctx context.Context, cmd *exec.Cmd, out io.Closer, answers func(context.Context) bool) error {
	started := make(chan error)
	go s.run(cmd, out, started)
	if err := <-started; err != nil {
		return errors.Join(err, s.clean())
	}
	err := s.await(ctx, answers)
	if err == nil {
		err = s.inside()
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, s.Close())
	raw, _ := os.ReadFile(s.Log())
	for _, words := range []string{"address already in use", "eaddrinuse", "Address already in use"} {
		if bytes.Contains(raw, []byte(words)) {
			return ErrPortTaken
		}
	}
	return fmt.Errorf("%w%s", err, tail(s.Log()))
}

// run keeps its thread until the server is gone: the kernel ties the server to the thread that started it.
func (s *Server) run(cmd *exec.Cmd, out io.Closer, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.done)
	defer out.Close()
	err := cmd.Start()
	if err == nil {
		s.pid = cmd.Process.Pid
	}
	started <- err
	if err != nil {
		s.end()
		return
	}
	s.err = cmd.Wait()
	endGroup(cmd)
}

// inside refuses a server that others can reach: flags of a new version may mean something else.
func (s *Server) inside() error {
	at, err := Listeners(s.pid)
	if err != nil {
		return fmt.Errorf("reading where %s listens: %w", s.Name, err)
	}
	for _, a := range at {
		if !a.IsLoopback() {
			return fmt.Errorf("%s listens on %s, outside of loopback", s.Name, a)
		}
	}
	return nil
}

// before does what the server needs done first, in the same environment.
func (s *Server) before(cmd *exec.Cmd, how launch, like *exec.Cmd) error {
	cmd.Dir, cmd.Env = like.Dir, like.Env
	ownGroup(cmd)
	if how.nobody {
		asNobody(cmd)
	}
	runtime.LockOSThread() // the kernel ties the child to the thread that started it
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("preparing the server: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func (s *Server) await(ctx context.Context, answers func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, serveWithin, fmt.Errorf("%s does not answer within %s", s.Name, serveWithin))
	defer cancel()
	ended := false
	err := poll(ctx, func() bool {
		select {
		case <-s.done:
			ended = true
			return true
		default:
		}
		return answers(ctx)
	})
	if ended {
		return fmt.Errorf("%s ended at once: %v", s.Name, s.err)
	}
	return err
}

func (s *Server) answersTo(ctx context.Context, path string, whatever bool) bool {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return false
	}
	answer, err := client.Do(req)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return whatever || answer.StatusCode == http.StatusOK
}

// accepts reports whether addr takes connections, which may be "".
func accepts(addr string) bool {
	if addr == "" {
		return true
	}
	conn, err := net.DialTimeout("tcp4", addr, 5*time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// clean removes what the server had outside of its folder.
func (s *Server) clean() error {
	if s.gone == "" {
		return nil
	}
	return os.RemoveAll(s.gone)
}

// Close ends the server and whatever it started, and returns when it is gone.
func (s *Server) Close() error {
	s.end()
	<-s.done
	return s.clean()
}
