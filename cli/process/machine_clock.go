//go:build linux || darwin

package process

import (
	"time"

	"golang.org/x/sys/unix"
)

func clockOf(id int32) time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(id, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
