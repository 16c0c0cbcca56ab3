package drills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/steps/fault"
	"handrail/steps/strict"
)

// brokerRecord is the message broker of a drill. The passwords of its accounts are
// in files of their own.
type brokerRecord struct {
	Service string `json:"service"` // of the namespace, that it stands behind
	API     string `json:"api"`     // URL of its management
	AMQP    string `json:"amqp"`    // host:port
	PID     int    `json:"pid"`
}

// brokersVariable is where handrail looks for the brokers of an operator.
const brokersVariable = "HANDRAIL_BROKERS"

func (st *stage) brokerDir() string { return filepath.Join(st.home, "broker") }

func (st *stage) brokerWord(who string) string { return filepath.Join(st.brokerDir(), who+".word") }

// brokerPassword is that of an account of the broker.
func (st *stage) brokerPassword(who string) (string, error) {
	raw, err := os.ReadFile(st.brokerWord(who))
	if err != nil {
		return "", fmt.Errorf("the broker of the drill knows no %s: %w", who, err)
	}
	return string(raw), nil
}

// brokerEnviron is by what somebody reads the broker, nothing where there is none.
func (st *stage) brokerEnviron(who string) []string {
	if st.rec.Broker == nil {
		return nil
	}
	return []string{brokersVariable + "=" + filepath.Join(st.brokerDir(), who+".brokers.yaml")}
}

// runBroker is the verb broker.run: a RabbitMQ behind a Service of the drill. It
// needs seconds until it answers, so it is filled by another verb.
type runBroker struct {
	service  string
	accounts []string // of programs of the drill
}

func readBroker(p parser, n *yaml.Node) action {
	f := p.Fields(n, "broker.run", "service", "accounts")
	b := runBroker{service: p.form(p.need(n, f, "service"), "service", idForm)}
	for _, item := range p.Items(f["accounts"], "accounts") {
		b.accounts = append(b.accounts, p.form(item, "an account", idForm))
	}
	return b
}

// broker reports whether the drill has a message broker.
func (p part) broker() bool {
	return slices.ContainsFunc(p.inject, func(s step) bool { return s.verb == "broker.run" })
}

// apply starts it in a session of its own.
func (b runBroker) apply(ctx context.Context, st *stage) error {
	st.say("starting a message broker; its packages are fetched the first time")
	if st.world == nil {
		return errors.New("this drill has no lab")
	}
	program, err := st.world.Rabbit(ctx)
	if err != nil {
		return err
	}
	dir := st.brokerDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	plan, err := lab.PrepareBroker(dir, "")
	if err != nil {
		return err
	}
	st.rec.Broker = &brokerRecord{Service: b.service, API: "http://" + plan.API, AMQP: plan.AMQP}
	words := map[string]string{nameRobot: plan.Password}
	for _, who := range append([]string{nameOperator}, b.accounts...) {
		if words[who], err = randomHex(12); err != nil {
			return err
		}
	}
	for who, word := range words {
		user := who
		if who == nameRobot {
			user = lab.BrokerAdmin
		}
		brokers := fmt.Sprintf("apiVersion: handrail/v1\nkind: Brokers\nbrokers:\n- {url: %q, user: %q, password_file: %q}\n", st.rec.Broker.API, user, st.brokerWord(who))
		if err := errors.Join(os.WriteFile(st.brokerWord(who), []byte(word), 0o600), os.WriteFile(filepath.Join(dir, who+".brokers.yaml"), []byte(brokers), 0o600)); err != nil {
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
	cmd.Env = append(slices.Clone(plan.Env), "PATH="+os.Getenv("PATH"), marker+st.rec.Nonce)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the broker of the drill: %w", err)
	}
	st.rec.Broker.PID = cmd.Process.Pid
	st.rec.Processes = slices.Insert(st.rec.Processes, 0, process{PID: cmd.Process.Pid, Start: startMark(cmd.Process.Pid)})
	go func() {
		defer fault.To(func(error) {})
		_ = cmd.Wait() // reaps it; ends with it, and Stop ends that
	}()
	return st.save()
}

// fillBroker is the verb broker.fill: what a broker has, as exported definitions,
// and as whom its programs come.
type fillBroker struct {
	definitions any
	grants      map[string]string // virtual host to the accounts that may do all there
}

func readFill(p parser, n *yaml.Node) action {
	f := p.Fields(n, "broker.fill", "file", "grants")
	b := fillBroker{grants: map[string]string{}}
	p.each(f["grants"], "grants", func(key, value *yaml.Node) { b.grants[key.Value] = p.form(value, "an account", idForm) })
	at := p.need(n, f, "file")
	name := p.Text(at, "file")
	if name == "" {
		return b
	}
	src, err := fs.ReadFile(p.files, path.Join(path.Dir(p.File), path.Base(name)))
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
func (b fillBroker) apply(ctx context.Context, st *stage) error {
	r := st.rec.Broker
	if r == nil {
		return errors.New("this drill has no broker: begin with broker.run")
	}
	st.say("filling the message broker")
	if err := st.wait(ctx, "the broker of the drill does not answer", func() (bool, error) {
		if startMark(r.PID) == "" {
			raw, _ := os.ReadFile(filepath.Join(st.brokerDir(), "broker.log"))
			return false, fmt.Errorf("the broker of the drill ended at once: %s", last(raw))
		}
		raw, err := os.ReadFile(filepath.Join(st.brokerDir(), "broker.log"))
		return bytes.Contains(raw, []byte("Server startup complete")), err
	}); err != nil {
		return err
	}
	if err := st.callBroker(ctx, http.MethodPost, "/api/definitions", b.definitions); err != nil {
		return err
	}
	// Whoever reads has the tag that shows all, and may do nothing in any of them.
	if err := st.makeAccount(ctx, nameOperator, "monitoring", slices.Sorted(maps.Keys(b.grants)), "^$"); err != nil {
		return err
	}
	for _, vhost := range slices.Sorted(maps.Keys(b.grants)) {
		all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
		if err := st.callBroker(ctx, http.MethodPut, "/api/permissions/"+url.PathEscape(vhost)+"/"+lab.BrokerAdmin, all); err != nil {
			return err
		}
		if err := st.makeAccount(ctx, b.grants[vhost], "management", []string{vhost}, ".*"); err != nil {
			return err
		}
	}
	return nil
}

func (st *stage) makeAccount(ctx context.Context, who, tag string, vhosts []string, may string) error {
	word, err := st.brokerPassword(who)
	if err != nil {
		return err
	}
	if err := st.callBroker(ctx, http.MethodPut, "/api/users/"+who, map[string]string{"password": word, "tags": tag}); err != nil {
		return err
	}
	for _, vhost := range vhosts {
		if err := st.callBroker(ctx, http.MethodPut, "/api/permissions/"+url.PathEscape(vhost)+"/"+who, map[string]string{"configure": may, "write": may, "read": may}); err != nil {
			return err
		}
	}
	return nil
}

// callBroker sends one request to the broker as its administrator.
func (st *stage) callBroker(ctx context.Context, method, at string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, st.rec.Broker.API+at, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	word, err := st.brokerPassword(nameRobot)
	if err != nil {
		return err
	}
	req.SetBasicAuth(lab.BrokerAdmin, word)
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("broker of the drill: %w", err)
	}
	defer res.Body.Close()
	if said, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)); res.StatusCode/100 != 2 {
		return fmt.Errorf("broker of the drill: %s %s answered %d: %s", method, at, res.StatusCode, last(said))
	}
	return nil
}

// brokerForNode is what a node needs to stand a Service for the broker.
func (st *stage) brokerForNode() (map[string]any, error) {
	r := st.rec.Broker
	if r == nil {
		return nil, nil
	}
	words := map[string]string{}
	files, err := filepath.Glob(filepath.Join(st.brokerDir(), "*.word"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		who := strings.TrimSuffix(filepath.Base(name), ".word")
		if who == nameRobot || who == nameOperator {
			continue
		}
		if words[who], err = st.brokerPassword(who); err != nil {
			return nil, err
		}
	}
	return map[string]any{"service": r.Service, "amqp": r.AMQP, "api": strings.TrimPrefix(r.API, "http://"), "accounts": words}, nil
}

// brokerSecrets are the passwords of the broker's accounts.
func (st *stage) brokerSecrets() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(st.brokerDir(), "*.word"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, string(raw))
	}
	return out, nil
}
