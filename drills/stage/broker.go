package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"handrail/drills/lab"
)

// brokersVariable is where handrail looks for the brokers of an operator.
const brokersVariable = "HANDRAIL_BROKERS"

// BrokerDir is the directory of the message broker.
func (st *Stage) BrokerDir() string { return filepath.Join(st.Home, "broker") }

// BrokerWord is the file that holds the password of an account of the broker.
func (st *Stage) BrokerWord(who string) string { return filepath.Join(st.BrokerDir(), who+".word") }

// BrokerPassword is that of an account of the broker.
func (st *Stage) BrokerPassword(who string) (string, error) {
	raw, err := os.ReadFile(st.BrokerWord(who))
	if err != nil {
		return "", fmt.Errorf("the broker of the drill knows no %s: %w", who, err)
	}
	return string(raw), nil
}

// brokerEnviron is by what a caller reads the broker, nothing where there is none.
func (st *Stage) brokerEnviron(who string) []string {
	if st.Rec.Broker == nil {
		return nil
	}
	return []string{brokersVariable + "=" + filepath.Join(st.BrokerDir(), who+".brokers.yaml")}
}

// CallBroker sends one request to the broker as its administrator.
func (st *Stage) CallBroker(ctx context.Context, method, at string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, st.Rec.Broker.API+at, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	word, err := st.BrokerPassword(NameRobot)
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
	if said, _ := io.ReadAll(io.LimitReader(res.Body, MaxAnswer)); res.StatusCode/100 != 2 {
		return fmt.Errorf("broker of the drill: %s %s answered %d: %s", method, at, res.StatusCode, Tail(said))
	}
	return nil
}

// BrokerForNode is what a node needs to stand a Service for the broker.
func (st *Stage) BrokerForNode() (map[string]any, error) {
	r := st.Rec.Broker
	if r == nil {
		return nil, nil
	}
	words := map[string]string{}
	files, err := filepath.Glob(filepath.Join(st.BrokerDir(), "*.word"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		who := strings.TrimSuffix(filepath.Base(name), ".word")
		if who == NameRobot || who == NameOperator {
			continue
		}
		if words[who], err = st.BrokerPassword(who); err != nil {
			return nil, err
		}
	}
	return map[string]any{"service": r.Service, "amqp": r.AMQP, "api": strings.TrimPrefix(r.API, "http://"), "accounts": words}, nil
}

// BrokerSecrets are the passwords of the broker's accounts.
func (st *Stage) BrokerSecrets() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(st.BrokerDir(), "*.word"))
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
