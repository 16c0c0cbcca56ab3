package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/fault"
	"handrail/steps/strict"
)

// runBroker is the verb broker.run: a RabbitMQ behind a Service of the drill. It
// needs seconds until it answers, so it is filled by another verb.
type runBroker struct {
	service  string
	accounts []string // of programs of the drill
}

func readBroker(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "broker.run", "service", "accounts")
	b := runBroker{service: p.Form(p.Need(n, f, "service"), "service", IDForm)}
	for _, item := range p.Items(f["accounts"], "accounts") {
		b.accounts = append(b.accounts, p.Form(item, "an account", IDForm))
	}
	return b
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
	st.Rec.Broker = &stage.BrokerRecord{Service: b.service, API: "http://" + plan.API, AMQP: plan.AMQP}
	words := map[string]string{stage.NameRobot: plan.Password}
	for _, who := range append([]string{stage.NameOperator}, b.accounts...) {
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
	defer out.Close()
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
	definitions any
	grants      map[string]string // virtual host to the accounts that may do all there
}

func readFill(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "broker.fill", "file", "grants")
	b := fillBroker{grants: map[string]string{}}
	p.Each(f["grants"], "grants", func(key, value *yaml.Node) { b.grants[key.Value] = p.Form(value, "an account", IDForm) })
	at := p.Need(n, f, "file")
	name := p.Text(at, "file")
	if name == "" {
		return b
	}
	src, err := fs.ReadFile(p.Files, path.Join(path.Dir(p.File), path.Base(name)))
	var root *yaml.Node
	if err == nil {
		root, err = strict.Single(src)
	}
	if err == nil {
		err = root.Decode(&b.definitions)
	}
	if err != nil {
		p.Fail(at, "the file stands beside the drill", "file %q cannot be read: %v", name, err)
	}
	return b
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
	if err := st.CallBroker(ctx, http.MethodPost, "/api/definitions", b.definitions); err != nil {
		return err
	}
	// Whoever reads has the tag that shows all, and may do nothing in any of them.
	if err := makeAccount(ctx, st, stage.NameOperator, "monitoring", slices.Sorted(maps.Keys(b.grants)), "^$"); err != nil {
		return err
	}
	for _, vhost := range slices.Sorted(maps.Keys(b.grants)) {
		all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
		if err := st.CallBroker(ctx, http.MethodPut, "/api/permissions/"+url.PathEscape(vhost)+"/"+lab.BrokerAdmin, all); err != nil {
			return err
		}
		if err := makeAccount(ctx, st, b.grants[vhost], "management", []string{vhost}, ".*"); err != nil {
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
