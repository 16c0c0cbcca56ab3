// Command minio-admin administers a MinIO of the lab, whose API for that is encrypted: it reads orders from its standard input, one
// JSON document in each line, and answers each with one, until the input ends. The server, and as whom it is asked, stand in
// MINIO_URL, MINIO_ROOT_USER and MINIO_ROOT_PASSWORD.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/minio/madmin-go/v3"
)

// order is what is to be done.
type order struct {
	Do       string // user, policy, attach, set, get
	Name     string // of the user or the policy, or the key of the settings
	Secret   string // of a user
	Document json.RawMessage
	Policy   string // that a user gets
	Settings string // key and values, as mc admin config set takes them
}

// answer is what came of it.
type answer struct {
	Error    string `json:",omitempty"`
	Settings string `json:",omitempty"`
	Restart  bool   `json:",omitempty"` // the settings wait for a restart
}

// askWithin is how long one order may take.
const askWithin = 30 * time.Second

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "minio-admin:", err)
		os.Exit(1)
	}
}

func run() error {
	at, err := url.Parse(os.Getenv("MINIO_URL"))
	if err != nil {
		return err
	}
	client, err := madmin.New(at.Host, os.Getenv("MINIO_ROOT_USER"), os.Getenv("MINIO_ROOT_PASSWORD"), at.Scheme == "https")
	if err != nil {
		return err
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var o order
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return err
		}
		var a answer
		if err := do(client, o, &a); err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return in.Err()
}

func do(client *madmin.AdminClient, o order, a *answer) error {
	ctx, stop := context.WithTimeout(context.Background(), askWithin)
	defer stop()
	switch o.Do {
	case "user":
		return client.AddUser(ctx, o.Name, o.Secret)
	case "policy":
		return client.AddCannedPolicy(ctx, o.Name, o.Document)
	case "attach":
		_, err := client.AttachPolicy(ctx, madmin.PolicyAssociationReq{Policies: []string{o.Policy}, User: o.Name})
		return err
	case "set":
		restart, err := client.SetConfigKV(ctx, o.Settings)
		a.Restart = restart
		return err
	case "get":
		raw, err := client.GetConfigKV(ctx, o.Name)
		a.Settings = string(raw)
		return err
	}
	return fmt.Errorf("%q is no order", o.Do)
}
