//go:build unix && !linux

package own

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
