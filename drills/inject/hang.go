package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"handrail/drills/stage"
)

// stall is the verb log.stall: a hang takes longer than a practice.
type stall struct {
	By time.Duration `key:"by,required"`
}

var lineOpen = regexp.MustCompile(`(?m)^(\S.*): (Creating|Modifying|Destroying)\.\.\.(?: \[id=(.*)\])?$`)

// apply writes the progress lines that tofu would have written until then, every
// ten seconds for each operation that goes on.
func (s stall) apply(_ context.Context, st *stage.Stage) error {
	log, err := os.ReadFile(st.Rec.Log)
	if err != nil {
		return err
	}
	type operation struct{ address, verb, id string }
	var open []operation
	for _, m := range lineOpen.FindAllSubmatch(log, -1) {
		o := operation{string(m[1]), string(m[2]), string(m[3])}
		if !bytes.Contains(log, []byte("\n"+o.address+": "+map[string]string{"Creating": "Creation", "Modifying": "Modifications", "Destroying": "Destruction"}[o.verb]+" complete after ")) {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		return errors.New("nothing goes on in the log: there is nothing that could stall")
	}
	var out bytes.Buffer
	for at := 10 * time.Second; at <= s.By; at += 10 * time.Second {
		for _, o := range open {
			id := ""
			if o.id != "" {
				id = "id=" + o.id + ", "
			}
			fmt.Fprintf(&out, "%s: Still %s... [%s%s elapsed]\n", o.address, map[string]string{"Creating": "creating", "Modifying": "modifying", "Destroying": "destroying"}[o.verb], id, at)
		}
	}
	f, err := os.OpenFile(st.Rec.Log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(out.Bytes())
	return errors.Join(err, f.Close())
}

// signal is the verb tofu.signal.
type signal struct {
	Signal string `key:"signal,required" as:"signal"`
}

// apply sends the signal to the newest apply of the drill, and waits until it
// is gone or, for one that it may heed in its own time, says so in its log.
func (s signal) apply(ctx context.Context, st *stage.Stage) error {
	if len(st.Rec.Processes) == 0 {
		return errors.New("the drill has no apply that runs")
	}
	p := st.Rec.Processes[len(st.Rec.Processes)-1]
	if stage.StartMark(p.PID) != p.Start || p.Start == "" {
		return errors.New("the apply of the drill is gone already")
	}
	found, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer func() { _ = found.Release() }()
	st.Say("the apply gets SIG%s", s.Signal)
	if err := found.Signal(stage.Signals()[s.Signal]); err != nil {
		return err
	}
	return st.Wait(ctx, "the apply does not heed SIG"+s.Signal, func() (bool, error) {
		if stage.StartMark(p.PID) != p.Start {
			return true, nil
		}
		log, err := os.ReadFile(st.Rec.Log)
		return slices.Contains([]string{"INT", "TERM"}, s.Signal) && bytes.Contains(log, []byte("Interrupt received")), err
	})
}

// orphans is the verb tofu.orphans.
type orphans struct{}

// apply ends what the newest apply of the drill left behind, as a person does on
// the machine, and waits until it is gone: the rest of the group that it led.
func (orphans) apply(ctx context.Context, st *stage.Stage) error {
	if len(st.Rec.Processes) == 0 {
		return errors.New("the drill has no apply that left anything")
	}
	p := st.Rec.Processes[len(st.Rec.Processes)-1]
	if now := stage.StartMark(p.PID); now != "" {
		return errors.New("the apply of the drill is alive: its children are no orphans")
	}
	st.Say("what the apply left behind is ended")
	return st.Wait(ctx, "what the apply left behind does not end", func() (bool, error) { return stage.EndGroup(p.PID) })
}
