package cli

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// The last words of all the noise.
const noiseOver = "the noise is over"

// noisy is handrail with parts inside that do, once it gets a signal, what
// client-go and its plugins may do at any time.
func noisy() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	go func() {
		<-told
		klog.Error("NOISE of klog")
		klog.Background().Error(errors.New("NOISE of a contextual log"), "NOISE")
		utilruntime.HandleError(errors.New("NOISE of a background error"))
		utilruntime.HandleErrorWithContext(context.Background(), errors.New("NOISE of a background error"), "NOISE")
		func() {
			defer func() { _ = recover() }()
			defer utilruntime.HandleCrash()
			panic("NOISE of a crash that was caught")
		}()
		warned()
		log.Print("STDERR of the log package")
		child := exec.Command("sh", "-c", "printf '\\033[2JSTDERR of a child\\n' >&2")
		child.Stderr = os.Stderr
		_ = child.Run() // what it writes is what matters
		fmt.Fprintln(os.Stderr, noiseOver)
	}()
	os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// warned asks a server that warns.
func warned() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Warning", `299 - "NOISE of a server"`)
	}))
	defer server.Close()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	cfg := &rest.Config{Host: server.URL}
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(cfg)
	if err == nil {
		err = client.Get().AbsPath("/").Do(context.Background()).Error()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the server never warned:", err)
	}
}

// TestNothingWritesOnTheScreen makes every noise behind a drawn screen.
func TestNothingWritesOnTheScreen(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	silent(t, home)
	cmd := frameCommand(t, home)
	cmd.Args[0] = "handrail-noisy"
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8")
	s := onScreen(t, cmd, 40, 120)
	s.shows(`RUNBOOKS +[1-9]`) // the lists are there
	s.send("/state-lock")      // and the answers that come meanwhile are not
	s.shows(`/ state-lock`)
	before, drawn := s.text(), len(s.written())
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.shows(`Beside the screen: ` + noiseOver)
	if after := s.written()[drawn:]; strings.Contains(after, "\x1b[2J") {
		t.Errorf("something wrote on the screen: %q", after)
	}
	// All but the notice is as it was: rows above the rule of the foot.
	top := func(screen string) string {
		rows := strings.Split(screen, "\n")
		return strings.Join(rows[:30], "\n")
	}
	if got := top(s.text()); got != top(before) {
		t.Errorf("the frame changed to\n%s\nfrom\n%s", got, before)
	}
	s.send("\x03")
	s.shows(`(?s)While the screen was drawn, this came on stderr:.*\| .*STDERR of the log package.*\| .*STDERR of a child.*\| ` + noiseOver)
	if strings.Contains(s.written(), "NOISE") {
		t.Error("client-go talks on stderr, want it silent: its warnings are part of what probes record")
	}
}
