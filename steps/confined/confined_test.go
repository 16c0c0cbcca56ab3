package confined

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets this binary do tasks, as handrail does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "__") {
		os.Exit(child(os.Args[1]))
	}
	os.Exit(m.Run())
}

func child(word string) int {
	in, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = Confine()
	}
	if err != nil {
		fmt.Println("confine:", err)
	}
	switch word {
	case "__try":
		try(string(in))
	case "__long":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("x"), 4<<20))
	case "__die":
		fmt.Fprintln(os.Stderr, "a secret of the input")
		return 3
	case "__hoard":
		var all [][]byte
		for range 4 << 10 {
			all = append(all, bytes.Repeat([]byte("x"), 1<<20))
		}
		fmt.Println(len(all))
	}
	return 0
}

// try says what can be reached after a process confined itself.
func try(address string) {
	if f, err := os.Open("/etc/hostname"); err == nil {
		fmt.Println("a file", f.Name())
	}
	if c, err := net.Dial("tcp", address); err == nil {
		fmt.Println("the network", c.RemoteAddr())
	}
	if err := exec.Command("/bin/true").Run(); err == nil {
		fmt.Println("a program")
	}
	fmt.Println(len(os.Environ()), "variables")
}

// TestConfined: a task reaches no file, no server, no program and no variable of the environment.
func TestConfined(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Task{Word: "__try", Doing: "trying", Answer: 1 << 20}.Run(t.Context(), self, strings.NewReader(l.Addr().String()))
	if err != nil || string(out) != "0 variables\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestBounds: a task that goes too far is an error without what it said.
func TestBounds(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"__long":  "trying comes to more than 1 MiB",
		"__die":   "the process for trying ended before its answer: exit status 3",
		"__hoard": "trying took more than 1024 MiB of memory",
	} {
		_, err := Task{Word: word, Doing: "trying", Answer: 1 << 20}.Run(t.Context(), self, strings.NewReader(""))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", word, err, want)
		}
	}
}
