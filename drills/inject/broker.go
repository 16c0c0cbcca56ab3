package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/fault"
	"handrail/steps/strict"
)

// runBroker is the verb broker.run: a RabbitMQ behind a Service of the drill. It
// needs seconds until it answers, so it is filled by another verb.
type runBroker struct {
	Service  string   `key:"service,required" as:"id"`
	Accounts []string `key:"accounts" each:"id" of:"an account"` // of programs of the drill
}

// apply starts it in a session of its own.
func (b runBroker) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting a message broker; its packages are fetched the first time")
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	program, err := st.World.Rabbit(ctx)
	if err != nil {
		return err
	}
	dir := st.BrokerDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	plan, err := lab.PrepareBroker(dir, "")
	if err != nil {
		return err
	}
	st.Rec.Broker = &stage.BrokerRecord{Service: b.Service, API: "http://" + plan.API, AMQP: plan.AMQP}
	words := map[string]string{stage.NameRobot: plan.Password}
	for _, who := range append([]string{stage.NameOperator}, b.Accounts...) {
		if words[who], err = stage.RandomHex(12); err != nil {
			return err
		}
	}
	for who, word := range words {
		user := who
		if who == stage.NameRobot {
			user = lab.BrokerAdmin
		}
		brokers := fmt.Sprintf("apiVersion: handrail/v1\nkind: Brokers\nbrokers:\n- {url: %q, user: %q, password_file: %q}\n", st.Rec.Broker.API, user, st.BrokerWord(who))
		if err := errors.Join(os.WriteFile(st.BrokerWord(who), []byte(word), 0o600), os.WriteFile(filepath.Join(dir, who+".brokers.yaml"), []byte(brokers), 0o600)); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(filepath.Join(dir, "broker.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the program has it
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(program, plan.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(slices.Clone(plan.Env), "PATH="+os.Getenv("PATH"), stage.Marker+st.Rec.Nonce)
	stage.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the broker of the drill: %w", err)
	}
	st.Rec.Broker.PID = cmd.Process.Pid
	st.Rec.Processes = slices.Insert(st.Rec.Processes, 0, stage.Process{PID: cmd.Process.Pid, Start: stage.StartMark(cmd.Process.Pid)})
	go func() {
		defer fault.To(func(error) {})
		_ = cmd.Wait() // reaps it; ends with it, and Stop ends that
	}()
	return st.Save()
}

// fillBroker is the verb broker.fill: what a broker has, as exported definitions,
// and as whom its programs come.
type fillBroker struct {
	Definitions any               `key:"file,required" as:"definitions"`
	Grants      map[string]string `key:"grants" each:"id" of:"an account"` // virtual host to the accounts that may do all there
}

// definitions reads the exported definitions of a broker from a file beside the drill.
func definitions(r *strict.Reader, n *strict.Node, what string) any {
	file, src, ok := r.Beside(n, what)
	if !ok {
		return nil
	}
	root, err := strict.Single(src)
	var out any
	if err == nil {
		err = root.Decode(&out)
	}
	if err != nil {
		r.Fail(n, "", "%s cannot be read: %v", file, err)
	}
	return out
}

// apply waits until the broker answers, and fills it.
func (b fillBroker) apply(ctx context.Context, st *stage.Stage) error {
	r := st.Rec.Broker
	if r == nil {
		return errors.New("this drill has no broker: begin with broker.run")
	}
	st.Say("filling the message broker")
	if err := st.Wait(ctx, "the broker of the drill does not answer", func() (bool, error) {
		if stage.StartMark(r.PID) == "" {
			raw, _ := os.ReadFile(filepath.Join(st.BrokerDir(), "broker.log"))
			return false, fmt.Errorf("the broker of the drill ended at once: %s", stage.Tail(raw))
		}
		raw, err := os.ReadFile(filepath.Join(st.BrokerDir(), "broker.log"))
		return bytes.Contains(raw, []byte("Server startup complete")), err
	}); err != nil {
		return err
	}
	if err := st.CallBroker(ctx, http.MethodPost, "/api/definitions", b.Definitions); err != nil {
		return err
	}
	// The reader has the tag that shows all, and may do nothing in any of them.
	if err := makeAccount(ctx, st, stage.NameOperator, "monitoring", slices.Sorted(maps.Keys(b.Grants)), "^$"); err != nil {
		return err
	}
	for _, vhost := range slices.Sorted(maps.Keys(b.Grants)) {
		all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
		if err := st.CallBroker(ctx, http.MethodPut, "/api/permissions/"+url.PathEscape(vhost)+"/"+lab.BrokerAdmin, all); err != nil {
			return err
		}
		if err := makeAccount(ctx, st, b.Grants[vhost], "management", []string{vhost}, ".*"); err != nil {
			return err
		}
	}
	return nil
}

func makeAccount(ctx context.Context, st *stage.Stage, who, tag string, vhosts []string, may string) error {
	word, err := st.BrokerPassword(who)
	if err != nil {
		return err
	}
	if err := st.CallBroker(ctx, http.MethodPut, "/api/users/"+who, map[string]string{"password": word, "tags": tag}); err != nil {
		return err
	}
	for _, vhost := range vhosts {
		if err := st.CallBroker(ctx, http.MethodPut, "/api/permissions/"+url.PathEscape(vhost)+"/"+who, map[string]string{"configure": may, "write": may, "read": may}); err != nil {
			return err
		}
	}
	return nil
}
