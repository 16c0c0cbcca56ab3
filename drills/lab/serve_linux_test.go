package lab

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestServed is the process that TestServiceEndsWithItsStarter kills; on its own it has nothing to do.
func TestServed(t *testing.T) {
	dir := os.Getenv("HANDRAIL_LAB_TEST_SERVES")
	if dir == "" {
		return
	}
	s, err := StartService(t.Context(), Options{}, "git", dir)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(s.PID())
	<-t.Context().Done()
}

// A service goes with the process that started it, however that ends.
func TestServiceEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	starter := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServed$")
	starter.Env = append(os.Environ(), "HANDRAIL_LAB_TEST_SERVES="+t.TempDir())
	out, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil || startMark(pid) == "" {
		t.Errorf("the starter says %q: %v", line, err)
	}
	_ = starter.Process.Kill()
	_ = starter.Wait()
	within(t, "the service to end", func() bool { return startMark(pid) == "" })
}
