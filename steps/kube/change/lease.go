package change

import (
	"strings"

	"handrail/steps/cluster"
	"handrail/steps/kube/report"
	"handrail/steps/kube/stuck"
)

// stateLock begins the name of the Lease by which the kubernetes backend of a state
// is locked.
const stateLock = "lock-tfstate-"

// leased: a Lease is no one's any more. Who holds it goes on as if nothing had
// happened to it, and a second takes its place: then two lead.
func (f floors) leased(s *subject) {
	r := cluster.Leases()
	if s.t.Group != r.Group || s.t.Plural != r.Plural || s.absent {
		return
	}
	if strings.HasPrefix(s.t.Name, stateLock) {
		f.unmet("use the gate terraform/force-unlock, which asks whether its holder lives", "%s is the lock of a Terraform state.", s.t)
		return
	}
	switch l := stuck.LeadsBy(s.c, s.o); l.Alive {
	case stuck.Alive:
		f.unmet("repair or stop the process that holds it; it gives the Lease up, or lets it run out", "The holder of %s is alive: %s.", s.t, report.Ended(l.Why))
	case stuck.Unknown:
		f.unmet("look again later, or stop the process that holds it first", "Whether the holder of %s is alive is not known: %s.", s.t, report.Ended(l.Why))
	}
}
