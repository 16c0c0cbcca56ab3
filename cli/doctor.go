package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence/sig"
	"handrail/steps/cluster"
	"handrail/steps/rabbitmq"
)

func doctorCommand(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check what handrail would use, and change nothing",
		Long: `doctor looks at the programs, what practice has to build, the kubeconfig, the cluster, the state directory, the
age recipients, the brokers' file and the terminal. It asks the cluster for its version and who is asking, within five
seconds each. What is missing is no fault: much of handrail works without. It ends
with 3 when something is there and does not work.`,
		Args: process.Exactly(),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list := examine(cmd.Context(), p)
		bad := 0
		for _, c := range list {
			if c.State == "bad" {
				bad++
			}
		}
		if *o == process.AsJSON {
			if err := process.PrintJSON(p, list); err != nil {
				return err
			}
		} else {
			for _, c := range list {
				fmt.Fprintf(p.Stdout, "%-7s  %s: %s\n", c.State, c.Name, process.Safe(c.Detail))
				if c.Next != "" {
					fmt.Fprintf(p.Stdout, "         next: %s\n", process.Safe(c.Next))
				}
			}
		}
		if bad > 0 {
			return process.Ended(process.ExitOpen)
		}
		return nil
	}
	return cmd
}

func examine(ctx context.Context, p *process.Program) []process.Check {
	list := []process.Check{checkTool(p), checkPractice(ctx, p)}
	list = append(list, checkCluster(ctx, p)...)
	list = append(list, checkState(p), checkRecipients(p), checkBrokers(p), checkPolicy(p), settings.CheckProtected(p), settings.CheckVariables(p), settings.CheckConfig(p), checkLasting(ctx, p), checkTerminal(p))
	return list
}

func checkTool(p *process.Program) process.Check {
	path, err := p.Tool("tofu")
	if err != nil {
		state := "missing"
		if p.Tofu != "" {
			state = "bad"
		}
		return process.Check{Name: "tofu or terraform", State: state, Detail: err.Error(), Next: "locks and state are read without it; plan and force-unlock need it"}
	}
	if other, err := p.Tool("terraform"); err == nil && other != path {
		path += ", and " + other + " where a directory was used with terraform"
	}
	return process.Check{Name: "tofu or terraform", State: "ok", Detail: path}
}

func checkCluster(ctx context.Context, p *process.Program) []process.Check {
	env, err := stepEnv(p)
	if err != nil {
		return []process.Check{{Name: "kubeconfig", State: "bad", Detail: err.Error(), Next: "go to a directory that exists"}}
	}
	k, err := clusterOf(env)
	switch {
	case errors.Is(err, cluster.ErrNoCluster) && !p.Named():
		return []process.Check{{Name: "kubeconfig", State: "missing", Detail: err.Error(), Next: "set KUBECONFIG or --kubeconfig; to practise: handrail lab up"}}
	case err != nil:
		trouble := p.Troubled(err)
		return []process.Check{{Name: "kubeconfig", State: "bad", Detail: trouble.Error(), Next: trouble.Next}}
	}
	list := []process.Check{{Name: "kubeconfig", State: "ok", Detail: k.name() + ", namespace " + k.Namespace}}
	who, err := lend(ctx, p, k)
	if err != nil && ctx.Err() != nil {
		return append(list, process.Check{Name: "cluster", State: "bad", Detail: err.Error(), Next: "run it again"})
	}
	v, err := k.serverVersion(ctx)
	if err != nil {
		return append(list, process.Check{Name: "cluster", State: "bad", Detail: err.Error(), Next: "is it the right cluster, and is it reachable from here?"})
	}
	list = append(list, process.Check{Name: "cluster", State: "ok", Detail: "Kubernetes " + v})
	if who.ID == "" {
		who, err = k.whoami(ctx)
	}
	if err != nil {
		return append(list, process.Check{Name: "identity", State: "bad", Detail: err.Error(), Next: "renew the credentials"})
	}
	return append(list, process.Check{Name: "identity", State: "ok", Detail: who.Name})
}

// checkState finds the nearest directory that exists, and whether it can be
// written; it makes none.
func checkState(p *process.Program) process.Check {
	dir, err := p.StateDir()
	if err != nil {
		return process.Check{Name: "state directory", State: "bad", Detail: err.Error(), Next: "set HOME or XDG_STATE_HOME"}
	}
	for near := dir; ; near = filepath.Dir(near) {
		info, err := os.Stat(near)
		if os.IsNotExist(err) && near != filepath.Dir(near) {
			continue
		}
		switch {
		case err != nil:
			return process.Check{Name: "state directory", State: "bad", Detail: err.Error(), Next: "name another with --state-dir"}
		case !info.IsDir():
			return process.Check{Name: "state directory", State: "bad", Detail: fmt.Sprintf("%q is not a directory", near), Next: "name another with --state-dir"}
		case !process.Writable(near):
			return process.Check{Name: "state directory", State: "bad", Detail: fmt.Sprintf("%q cannot be written", near), Next: "name another with --state-dir"}
		}
		return process.Check{Name: "state directory", State: "ok", Detail: dir}
	}
}

// checkBrokers says which brokers may be asked, and sends them nothing.
func checkBrokers(p *process.Program) process.Check {
	env, err := stepEnv(p)
	if err != nil {
		return process.Check{Name: "brokers", State: "bad", Detail: err.Error(), Next: "go to a directory that exists"}
	}
	file, named, err := rabbitmq.Check(env)
	switch {
	case errors.Is(err, rabbitmq.ErrNoFile):
		return process.Check{Name: "brokers", State: "missing", Detail: "no message broker is asked: " + file + " is not there", Next: "docs/brokers.md says how to name the brokers of the team"}
	case err != nil:
		return process.Check{Name: "brokers", State: "bad", Detail: err.Error(), Next: "fix the file: no probe of a broker can be sent until then"}
	}
	return process.Check{Name: "brokers", State: "ok", Detail: strings.Join(named, ", ")}
}

// checkRecipients says whether what a gate is undone from can be kept where it
// holds secrets. That is better known before the incident.
func checkRecipients(p *process.Program) process.Check {
	to, err := settings.Recipients(p)
	switch {
	case err != nil:
		return process.Check{Name: "age recipients", State: "bad", Detail: err.Error(), Next: "fix the file: no gate opens on a target that holds secrets"}
	case len(to) == 0:
		return process.Check{Name: "age recipients", State: "missing", Detail: "a gate on a target that holds secrets stays shut: there is no recipient for the copy that undoes it", Next: settings.RecipientsHelp(p)}
	}
	return process.Check{Name: "age recipients", State: "ok", Detail: process.Counted(len(to), "recipient")}
}

// checkPolicy says at how many kinds of gates a second person is asked for, and
// whether any person could be one.
func checkPolicy(p *process.Program) process.Check {
	const name = "second person"
	list, err := settings.Policies(p)
	if err != nil {
		return process.Check{Name: name, State: "bad", Detail: err.Error(), Next: "fix it: until then no gate opens"}
	}
	if len(list) == 0 {
		return process.Check{Name: name, State: "ok", Detail: "no policy asks for one"}
	}
	rules, who := 0, []string{}
	for _, pol := range list {
		signers, err := sig.LoadSigners(pol.Approvers)
		if err != nil {
			return process.Check{Name: name, State: "bad", Detail: err.Error(), Next: "fix the file: until then the gates that ask for a second person stay shut"}
		}
		may := signers.Approvers(maxNamed)
		if len(may) == 0 {
			return process.Check{Name: name, State: "bad", Detail: fmt.Sprintf("%q names no approver", pol.Approvers), Next: "add a line: NAME KEYTYPE KEY"}
		}
		rules, who = rules+len(pol.Rules), append(who, may...)
	}
	return process.Check{Name: name, State: "ok", Detail: process.Counted(rules, "rule") + "; who may approve: " + strings.Join(who, "; ")}
}

// maxNamed is how many approvers are named.
const maxNamed = 5

func checkTerminal(p *process.Program) process.Check {
	if !p.Interactive() {
		return process.Check{Name: "terminal", State: "missing", Detail: "stdin and stdout are not both a terminal", Next: "use --plain or --answers"}
	}
	detail := "TERM=" + p.Getenv("TERM")
	if p.Getenv("NO_COLOR") != "" {
		detail += ", no colour"
	}
	if p.Getenv("TERM") == "dumb" {
		return process.Check{Name: "terminal", State: "bad", Detail: detail, Next: "use --plain"}
	}
	return process.Check{Name: "terminal", State: "ok", Detail: detail}
}
