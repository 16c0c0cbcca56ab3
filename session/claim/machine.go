package claim

import (
	"time"

	"handrail/triage"
)

// Machine is where a session runs. What is not known stays empty, and then proves
// nothing.
type Machine struct {
	Host string        // its name
	Boot string        // id of this boot, another one after each start
	ID   string        // id of the machine, the same at each start
	Up   time.Duration // since it was started, suspends counted
}

// ApartFrom says why a slot was not made on this machine since it was started, ""
// where it was. The id of a boot alone is one of a kind; that of the machine is
// asked where there is one.
func (m Machine) ApartFrom(slot triage.Slot) string {
	switch {
	case slot.Boot == "" || m.Boot == "":
		return "it is unknown where it began"
	case slot.Machine != m.ID:
		return "it began on another machine, " + slot.Host
	case slot.Boot != m.Boot:
		return "the machine " + slot.Host + " was restarted since"
	}
	return ""
}
