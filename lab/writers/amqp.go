package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// brokerPlan is the broker that a Service of the namespace stands for.
type brokerPlan struct {
	Service  string            // its name
	AMQP     string            // host:port of loopback
	API      string            // host:port of loopback, of its management
	Accounts map[string]string // to their passwords
}

// as is a client of its management API.
func (b brokerPlan) as(user string) *client {
	word := base64.StdEncoding.EncodeToString([]byte(user + ":" + b.Accounts[user]))
	return &client{server: "http://" + b.API, scheme: "Basic", token: word, agent: "topology-reconciler/1.2", http: http.DefaultClient}
}

// amqp does what a program in a Pod does that wants a broker, by the URI that it
// was given: `amqp amqp://shop@broker:5672/%2Fplatform`. The Service must be
// there; whoever answers behind it is a real broker.
func amqp(ctx context.Context, in within, args []string) int {
	if len(args) != 1 {
		return 2
	}
	u, err := url.Parse(args[0])
	if err != nil || u.Scheme != "amqp" || u.User == nil {
		fmt.Fprintln(in.out, "AMQP scheme must be either 'amqp://' or 'amqps://', with an account")
		return 1
	}
	port := u.Port()
	if port == "" {
		port = "5672"
	}
	if code := reach(ctx, within{api: in.api, namespace: in.namespace, out: quietly{in.out}}, []string{net.JoinHostPort(u.Hostname(), port)}); code != 0 {
		return code
	}
	if in.broker.Service == "" || strings.SplitN(u.Hostname(), ".", 2)[0] != in.broker.Service {
		fmt.Fprintf(in.out, "%s is no broker\n", u.Hostname())
		return 1
	}
	vhost, err := url.PathUnescape(strings.TrimPrefix(u.EscapedPath(), "/"))
	if err != nil {
		fmt.Fprintln(in.out, err)
		return 1
	}
	if u.EscapedPath() == "" {
		vhost = "/"
	}
	if err := openAMQP(ctx, in.broker.AMQP, u.User.Username(), in.broker.Accounts[u.User.Username()], vhost); err != nil {
		fmt.Fprintln(in.out, err)
		return 1
	}
	fmt.Fprintln(in.out, "connected to", args[0])
	return 0
}

// quietly leaves out what is said of success.
type quietly struct{ io.Writer }

func (q quietly) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("connected")) {
		return len(b), nil
	}
	return q.Writer.Write(b)
}

// The methods of a connection, of class 10.
const (
	connStart, connStartOK = 10, 11
	connTune, connTuneOK   = 30, 31
	connOpen, connOpenOK   = 40, 41
	connClose              = 50
	largestFrame           = 128 << 10
)

// openAMQP opens a connection to a broker as version 0-9-1 has it, and closes it.
// A refusal is told as the client library for Go tells it.
func openAMQP(ctx context.Context, addr, user, password, vhost string) error {
	conn, err := (&net.Dialer{Timeout: oneRequest}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(oneRequest)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	// Whoever says so is told why a login fails.
	able := table("capabilities", 'F', table("authentication_failure_close", 't', []byte{1}))
	for _, talk := range []struct {
		wants uint16
		says  [][]byte
	}{
		{connStart, [][]byte{method(connStartOK, able, short("PLAIN"), long("\x00"+user+"\x00"+password), short("en_US"))}},
		{connTune, [][]byte{method(connTuneOK, []byte{0, 1}, binary.BigEndian.AppendUint32(nil, largestFrame), []byte{0, 0}), method(connOpen, short(vhost), short(""), []byte{0})}},
		{connOpenOK, [][]byte{method(connClose, []byte{0, 200}, short("bye"), []byte{0, 0, 0, 0})}},
	} {
		got, body, err := readMethod(conn)
		if err != nil {
			return err
		}
		if got == connClose && len(body) > 3 && len(body) >= 3+int(body[2]) {
			return fmt.Errorf("Exception (%d) Reason: %q", binary.BigEndian.Uint16(body), body[3:3+int(body[2])])
		}
		if got != talk.wants {
			return fmt.Errorf("the broker answered with method %d, not %d", got, talk.wants)
		}
		for _, frame := range talk.says {
			if _, err := conn.Write(frame); err != nil {
				return err
			}
		}
	}
	return nil
}

func short(s string) []byte { return append([]byte{byte(len(s))}, s...) }
func long(s string) []byte  { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

func table(key string, kind byte, value []byte) []byte {
	return []byte(long(string(append(append(short(key), kind), value...))))
}

// method is a frame of channel 0.
func method(id uint16, args ...[]byte) []byte {
	body := append([]byte{0, 10}, binary.BigEndian.AppendUint16(nil, id)...)
	body = append(body, bytes.Join(args, nil)...)
	frame := append([]byte{1, 0, 0}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
	return append(append(frame, body...), 0xCE)
}

func readMethod(r io.Reader) (id uint16, args []byte, err error) {
	head := make([]byte, 7)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[3:])
	if head[0] != 1 || size < 4 || size > largestFrame {
		return 0, nil, errors.New("the broker sent something else than a method")
	}
	body := make([]byte, size+1)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	if body[size] != 0xCE || body[0] != 0 || body[1] != 10 {
		return 0, nil, errors.New("the broker sent a method of another class")
	}
	return binary.BigEndian.Uint16(body[2:]), body[4:size], nil
}

// binding is one that is declared.
type binding struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Key         string `json:"routing_key"`
}

// topology brings a virtual host what a ConfigMap declares and it lacks:
// `topology reconciler /platform shop-topology`. It says each binding that it
// makes, and removes none.
func topology(ctx context.Context, in within, args []string) int {
	if len(args) != 3 {
		return 2
	}
	say := func(err error) int { fmt.Fprintln(in.out, err); return 1 }
	var declared struct{ Data map[string]string }
	if err := in.api.do(ctx, http.MethodGet, "/api/v1/namespaces/"+in.namespace+"/configmaps/"+url.PathEscape(args[2]), "", nil, &declared); err != nil {
		return say(err)
	}
	var want, there []binding
	if err := json.Unmarshal([]byte(declared.Data["bindings"]), &want); err != nil {
		return say(fmt.Errorf("configmap %s: %w", args[2], err))
	}
	broker := in.broker.as(args[0])
	at := "/api/bindings/" + url.PathEscape(args[1])
	if err := broker.do(ctx, http.MethodGet, at, "", nil, &there); err != nil {
		return say(err)
	}
	made := 0
	for _, b := range want {
		if slices.Contains(there, b) {
			continue
		}
		path := at + "/e/" + url.PathEscape(b.Source) + "/q/" + url.PathEscape(b.Destination)
		if err := broker.do(ctx, http.MethodPost, path, plainJSON, object{"routing_key": b.Key, "arguments": object{}}, nil); err != nil {
			return say(fmt.Errorf("binding %s to %s: %w", b.Destination, b.Source, err))
		}
		fmt.Fprintf(in.out, "bound %s to %s by %s\n", b.Destination, b.Source, b.Key)
		made++
	}
	fmt.Fprintf(in.out, "%d of %d were there, %d were made\n", len(want)-made, len(want), made)
	return 0
}
