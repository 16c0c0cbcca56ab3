//go:build unix && !linux

package main

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func bootID() string { return "" }

// startMark is the start time as ps prints it: there is no /proc here.
func startMark(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
