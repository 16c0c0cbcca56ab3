package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// startMark is the start time of a process in clock ticks since boot (field 22 of stat). The name in field 2 may hold
// blanks and brackets, so the count starts behind the last bracket.
func startMark(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	rest := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(rest) < 20 {
		return ""
	}
	return string(rest[19])
}
