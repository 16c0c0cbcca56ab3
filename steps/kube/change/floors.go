package change

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/report"
	"handrail/steps/kube/stuck"
)

// floors gathers the preconditions of a gate that do not hold. No one can waive
// them, so each says what would meet it.
type floors struct{ need *[]steps.Need }

func (f floors) unmet(cure, why string, args ...any) {
	*f.need = append(*f.need, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure})
}

// unfit: the patch that was given is what does not hold.
func (f floors) unfit(cure, why string, args ...any) {
	*f.need = append(*f.need, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure, Of: "patch"})
}

func (f floors) clear() bool { return len(*f.need) == 0 }

// identity: the object is the one that was read, by UID, and may be changed at
// all.
func (f floors) identity(s *subject, uid string) {
	f.protected(s)
	switch {
	case s.absent:
		f.unmet("nothing: look what made it go, and go on", "%s is not there.", s.t)
	case !cluster.Matches(cluster.UIDText, uid):
		f.unmet("read the object again and give its UID", "The UID %q is not valid, or it was redacted.", uid)
	case string(s.o.GetUID()) != uid:
		f.unmet("read it again and look who made it: what was known of the old one does not hold for it",
			"%s is another object of the same name: its UID is %s, not %s.", s.t, s.o.GetUID(), uid)
	case !cluster.Matches(cluster.VersionText, s.o.GetResourceVersion()):
		f.unmet("change it with the tools of its API server", "The resourceVersion %q of %s cannot be tested against.", steps.Clip(s.o.GetResourceVersion(), 60), s.t)
	}
}

// managed: the object is not marked as managed. One mark alone closes
// nothing: whole clusters label everything with an owner, and an orphan may bear
// the policy of a tool that is gone.
func (f floors) managed(s *subject) {
	m := owner.MarkersOf(s.o)
	if why, _ := m.Managed(); m.Policy != "" && m.OwnerLabel != "" {
		f.unmet("leave it to its owner", "%s is managed: %s.", s.t, report.Ended(why))
	}
}

// finalizer: it is there, once, and on an object from which it may be taken.
func (f floors) finalizer(s *subject, name string) {
	all := s.o.GetFinalizers()
	n := len(slices.DeleteFunc(slices.Clone(all), func(x string) bool { return x != name }))
	switch {
	case s.t.Group == "" && s.t.Plural == "namespaces":
		f.unmet("find what is left inside it and finish that; never use /finalize: its objects come back in the next namespace of the name",
			"A namespace is never stripped.")
	case n == 0:
		f.unmet("read it again: it was removed, or it never was there", "%s has no finalizer %q; it has %s.", s.t, name, report.OrNothing(strings.Join(all, ", ")))
	case n > 1:
		f.unmet("ask who writes it twice; a controller that does so is at work on it", "%s has the finalizer %q %d times.", s.t, name, n)
	}
}

// keeper: who must remove the finalizer is proven gone.
func (f floors) keeper(s *subject, name string, k stuck.Keeper, err error) {
	workload := "name its workload with -p controller=deployment/NAMESPACE/NAME, or ask for the right to read it"
	if k.Leads != "" {
		workload += "; evidence points to " + k.Leads
	}
	switch {
	case err != nil:
		f.unmet(workload, "Whether the controller of %q is alive could not be read: %s.", name, report.Ended(err.Error()))
	case k.Builtin:
		f.unmet("find what it waits for: the control plane removes it once nothing uses the object",
			"%q is the control plane's own, kept by %s.", name, k.Name)
	case k.Alive == stuck.Alive:
		f.unmet("repair it, or let it finish: read its log for "+s.t.String(), "The controller of %q is alive: %s.", name, report.Ended(k.Why))
	case k.Alive != stuck.Dead:
		f.unmet(workload, "Whether the controller of %q is alive is not known: %s.", name, report.Ended(k.Why))
	}
}

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
