package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/evidence/sig"
	"handrail/steps/kube"
	"handrail/steps/rabbitmq"
)

// check is one thing that doctor looked at.
type check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, missing or bad
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"`
}

func doctorCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look at what handrail would use, and change nothing",
		Long: `doctor looks at the programs, the kubeconfig, the cluster, the state directory, the
age recipients, the brokers' file and the terminal. It asks the cluster for its version and who is asking, within five
seconds each. What is missing is no fault: much of handrail works without. It ends
with 3 when something is there and does not work.`,
		Args: exactly(),
	}
	o := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list := p.examine(cmd.Context())
		bad := 0
		for _, c := range list {
			if c.State == "bad" {
				bad++
			}
		}
		if *o == asJSON {
			if err := printJSON(p.stdout, list); err != nil {
				return err
			}
		} else {
			for _, c := range list {
				fmt.Fprintf(p.stdout, "%-7s  %s: %s\n", c.State, c.Name, safe(c.Detail))
				if c.Next != "" {
					fmt.Fprintf(p.stdout, "         next: %s\n", safe(c.Next))
				}
			}
		}
		if bad > 0 {
			return ended(ExitOpen)
		}
		return nil
	}
	return cmd
}

func (p *program) examine(ctx context.Context) []check {
	list := []check{p.checkTool()}
	list = append(list, p.checkCluster(ctx)...)
	list = append(list, p.checkState(), p.checkRecipients(), p.checkBrokers(), p.checkPolicy(), p.checkProtected(), p.checkLasting(ctx), p.checkTerminal())
	return list
}

func (p *program) checkTool() check {
	path, err := p.tool("tofu")
	if err != nil {
		state := "missing"
		if p.tofu != "" {
			state = "bad"
		}
		return check{"tofu or terraform", state, err.Error(), "locks and state are read without it; plan and force-unlock need it"}
	}
	if other, err := p.tool("terraform"); err == nil && other != path {
		path += ", and " + other + " where a directory was used with terraform"
	}
	return check{Name: "tofu or terraform", State: "ok", Detail: path}
}

func (p *program) checkCluster(ctx context.Context) []check {
	env, err := p.stepEnv()
	if err != nil {
		return []check{{"kubeconfig", "bad", err.Error(), "go to a directory that exists"}}
	}
	k, err := clusterOf(env)
	switch {
	case errors.Is(err, kube.ErrNoCluster) && !p.named():
		return []check{{"kubeconfig", "missing", err.Error(), "set KUBECONFIG or --kubeconfig; to practise: handrail lab up"}}
	case err != nil:
		trouble := p.troubled(err)
		return []check{{"kubeconfig", "bad", trouble.Error(), trouble.next}}
	}
	list := []check{{Name: "kubeconfig", State: "ok", Detail: k.name() + ", namespace " + k.Namespace}}
	who, err := p.lend(ctx, k)
	if err != nil && ctx.Err() != nil {
		return append(list, check{"cluster", "bad", err.Error(), "run it again"})
	}
	v, err := k.serverVersion(ctx)
	if err != nil {
		return append(list, check{"cluster", "bad", err.Error(), "is it the right cluster, and is it reachable from here?"})
	}
	list = append(list, check{Name: "cluster", State: "ok", Detail: "Kubernetes " + v})
	if who.ID == "" {
		who, err = k.whoami(ctx)
	}
	if err != nil {
		return append(list, check{"identity", "bad", err.Error(), "renew the credentials"})
	}
	return append(list, check{Name: "identity", State: "ok", Detail: who.Name})
}

// checkState finds the nearest directory that exists, and whether it can be
// written; it makes none.
func (p *program) checkState() check {
	dir, err := p.stateDir()
	if err != nil {
		return check{"state directory", "bad", err.Error(), "set HOME or XDG_STATE_HOME"}
	}
	for near := dir; ; near = filepath.Dir(near) {
		info, err := os.Stat(near)
		if os.IsNotExist(err) && near != filepath.Dir(near) {
			continue
		}
		switch {
		case err != nil:
			return check{"state directory", "bad", err.Error(), "name another with --state-dir"}
		case !info.IsDir():
			return check{"state directory", "bad", fmt.Sprintf("%q is not a directory", near), "name another with --state-dir"}
		case !writable(near):
			return check{"state directory", "bad", fmt.Sprintf("%q cannot be written", near), "name another with --state-dir"}
		}
		return check{Name: "state directory", State: "ok", Detail: dir}
	}
}

// checkBrokers says which brokers may be asked, and sends them nothing.
func (p *program) checkBrokers() check {
	env, err := p.stepEnv()
	if err != nil {
		return check{"brokers", "bad", err.Error(), "go to a directory that exists"}
	}
	file, named, err := rabbitmq.Check(env)
	switch {
	case errors.Is(err, rabbitmq.ErrNoFile):
		return check{"brokers", "missing", "no message broker is asked: " + file + " is not there", "docs/brokers.md says how to name the brokers of the team"}
	case err != nil:
		return check{"brokers", "bad", err.Error(), "mend the file: no probe of a broker can be sent until then"}
	}
	return check{Name: "brokers", State: "ok", Detail: strings.Join(named, ", ")}
}

// checkRecipients says whether what a gate is undone from can be kept where it
// holds secrets. That is better known before the incident.
func (p *program) checkRecipients() check {
	to, err := p.recipients()
	switch {
	case err != nil:
		return check{"age recipients", "bad", err.Error(), "mend the file: no gate opens on a target that holds secrets"}
	case len(to) == 0:
		return check{"age recipients", "missing", "a gate on a target that holds secrets stays shut: nobody could read the copy that undoes it", p.recipientsHelp()}
	}
	return check{Name: "age recipients", State: "ok", Detail: counted(len(to), "recipient")}
}

// checkPolicy says at how many kinds of gates a second person is asked for, and
// whether anybody could be one.
func (p *program) checkPolicy() check {
	const name = "second person"
	list, err := p.policies()
	if err != nil {
		return check{name, "bad", err.Error(), "mend it: until then no gate opens"}
	}
	if len(list) == 0 {
		return check{Name: name, State: "ok", Detail: "no policy asks for one"}
	}
	rules, who := 0, []string{}
	for _, pol := range list {
		signers, err := sig.LoadSigners(pol.approvers)
		if err != nil {
			return check{name, "bad", err.Error(), "mend the file: until then the gates that ask for a second person stay shut"}
		}
		may := signers.Approvers(maxNamed)
		if len(may) == 0 {
			return check{name, "bad", fmt.Sprintf("%q names no approver", pol.approvers), "add a line: NAME KEYTYPE KEY"}
		}
		rules, who = rules+len(pol.rules), append(who, may...)
	}
	return check{Name: name, State: "ok", Detail: counted(rules, "rule") + "; who may approve: " + strings.Join(who, "; ")}
}

// maxNamed is how many approvers are named.
const maxNamed = 5

func (p *program) checkTerminal() check {
	if !p.interactive() {
		return check{"terminal", "missing", "stdin and stdout are not both a terminal", "use --plain or --answers"}
	}
	detail := "TERM=" + p.getenv("TERM")
	if p.getenv("NO_COLOR") != "" {
		detail += ", no colour"
	}
	if p.getenv("TERM") == "dumb" {
		return check{"terminal", "bad", detail, "use --plain"}
	}
	return check{Name: "terminal", State: "ok", Detail: detail}
}
