//go:build unix

package iam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"handrail/drills/lab"
	"handrail/drills/lab/minio"
)

// signed sends one signed request, and returns the status with what a refusal says of itself.
func signed(ctx context.Context, who aws.Credentials, service, method, at string, body []byte, set func(*http.Request)) (int, string, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", digest)
	req.Header.Set("User-Agent", agent)
	if set != nil {
		set(req)
	}
	if err := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = service == "s3" }).SignHTTP(ctx, who, req, digest, service, "us-east-1", time.Now()); err != nil {
		return 0, "", nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	var says struct {
		Code, Message string
		Error         struct{ Code, Message string }
	}
	_ = xml.Unmarshal(raw, &says)
	return resp.StatusCode, strings.TrimSpace(says.Code + " " + says.Message + says.Error.Code + " " + says.Error.Message), raw, err
}

var client = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 16}}

// send asks the server what the pair is about, and reports whether it is allowed. The object that is read is there.
func (a ask) send(ctx context.Context, at string, owner, who aws.Credentials) (bool, error) {
	path := at + "/" + a.at + "/" + strings.NewReplacer(" ", "%20", "*", "%2A").Replace(a.key)
	method, body := http.MethodGet, []byte(nil)
	switch a.action {
	case "s3:PutObject":
		method, body = http.MethodPut, []byte("x")
	case "s3:DeleteObject":
		method = http.MethodDelete
	case "s3:ListBucket":
		path = at + "/" + a.at + "?list-type=2"
		if a.prefix != "" {
			path += "&prefix=" + url.QueryEscape(a.prefix)
		}
	default:
		if status, says, _, err := signed(ctx, owner, "s3", http.MethodPut, path, []byte("x"), nil); err != nil || status != 200 {
			return false, fmt.Errorf("the owner puts %s: %d %s %w", path, status, says, err)
		}
	}
	status, says, _, err := signed(ctx, who, "s3", method, path, body, func(r *http.Request) {
		if a.referer != "" {
			r.Header.Set("Referer", a.referer)
		}
	})
	switch {
	case err != nil:
		return false, err
	case status/100 == 2:
		return true, nil
	case status == http.StatusForbidden && strings.HasPrefix(says, "AccessDenied"):
		return false, nil
	}
	return false, fmt.Errorf("%s %s: %d %s", method, path, status, says)
}

const (
	pairs   = 500
	workers = 4
)

// gateway is a versitygw with the IAM service that belongs to it: users by ARN, with policies of their own.
type gateway struct {
	s3, iam string
	owner   aws.Credentials
}

func startGateway(t *testing.T) gateway {
	t.Helper()
	program, err := lab.Service(t.Context(), lab.Options{}, "s3")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pairs") // short: the path of a Unix socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ports, err := lab.LastingPorts(2)
	if err != nil {
		t.Fatal(err)
	}
	g := gateway{owner: aws.Credentials{AccessKeyID: "LABOWNER", SecretAccessKey: "owner-of-the-lab"}}
	at := []string{fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"users", "buckets", "attributes"} {
		if err := os.Mkdir(in(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + dir, "ROOT_ACCESS_KEY=" + g.owner.AccessKeyID, "ROOT_SECRET_KEY=" + g.owner.SecretAccessKey}
	for _, p := range []lab.Process{
		{Name: "iam", Program: program, Dir: dir, Env: env, Ready: "tcp://" + at[1], Args: []string{"--quiet", "--port", at[1], "iam", "--quiet", "--dir", in("users"), "--private-ports", in("sock")}},
		{Name: "gateway", Program: program, Dir: dir, Env: env, Ready: "tcp://" + at[0], Args: []string{"--quiet", "--port", at[0], "--iam-standalone-endpoint", in("sock"), "posix", "--sidecar", in("attributes"), in("buckets")}},
	} {
		s, err := lab.Start(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
	}
	g.s3, g.iam = "http://"+at[0], "http://"+at[1]
	return g
}

// ask runs one action of the IAM API.
func (g gateway) ask(ctx context.Context, action string, in map[string]string) ([]byte, string, error) {
	form := url.Values{"Action": {action}, "Version": {"2010-05-08"}}
	for k, v := range in {
		form.Set(k, v)
	}
	status, says, raw, err := signed(ctx, g.owner, "iam", http.MethodPost, g.iam+"/", []byte(form.Encode()), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})
	if err == nil && status != 200 {
		return raw, says, nil
	}
	return raw, "", err
}

// user makes one, and returns its account and its key.
func (g gateway) user(t *testing.T, name string) (account string, who aws.Credentials) {
	t.Helper()
	raw, says, err := g.ask(t.Context(), "CreateUser", map[string]string{"UserName": name})
	var made struct {
		Arn string `xml:"CreateUserResult>User>Arn"`
	}
	if err != nil || says != "" || xml.Unmarshal(raw, &made) != nil {
		t.Fatalf("making %s: %s, %v: %s", name, says, err, raw)
	}
	raw, says, err = g.ask(t.Context(), "CreateAccessKey", map[string]string{"UserName": name})
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	if err != nil || says != "" || xml.Unmarshal(raw, &key) != nil || key.Secret == "" {
		t.Fatalf("a key of %s: %s, %v: %s", name, says, err, raw)
	}
	return accountOf(made.Arn), aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}
}

// result is what one server made of a pair.
type result struct {
	pair    pair
	refused string // what it says of a policy that it does not take
	allowed bool
	err     error
}

// TestPairs holds the evaluation against real servers.
func TestPairs(t *testing.T) {
	t.Parallel()
	store, err := minio.Start(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	g := startGateway(t)
	const secret = "writer-of-the-lab"
	root := aws.Credentials{AccessKeyID: store.Access, SecretAccessKey: store.Secret}
	var all [workers][]pair
	var keys [workers]aws.Credentials
	account := ""
	g.user(t, "other")
	for i := range workers {
		name, bucket := fmt.Sprintf("writer-%d", i), fmt.Sprintf("pairs-%d", i)
		account, keys[i] = g.user(t, name)
		for at, who := range map[string]aws.Credentials{store.URL: root, g.s3: g.owner} {
			if status, says, _, err := signed(t.Context(), who, "s3", http.MethodPut, at+"/"+bucket, nil, nil); err != nil || status != 200 {
				t.Fatalf("bucket: %d %s %v", status, says, err)
			}
		}
		for _, err := range []error{store.User(name, secret), store.Policy("of-"+name, document("2012-10-17", []element{{"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}})), store.Attach(name, "of-"+name)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	gen := generator{rand.New(rand.NewPCG(3, 500))}
	for n := range pairs {
		i := n % workers
		all[i] = append(all[i], gen.pair(fmt.Sprintf("writer-%d", i), account, fmt.Sprintf("pairs-%d", i)))
	}
	results := map[string][]result{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	began := time.Now()
	for i := range workers {
		wg.Go(func() {
			for _, p := range all[i] {
				ofMinio := result{pair: p}
				if err := store.Policy("of-"+p.ask.user, p.identity); err != nil {
					ofMinio.refused = err.Error()
				} else {
					ofMinio.allowed, ofMinio.err = p.ask.send(t.Context(), store.URL, root, aws.Credentials{AccessKeyID: p.ask.user, SecretAccessKey: secret})
				}
				ofGateway := result{pair: p}
				_, says, err := g.ask(t.Context(), "PutUserPolicy", map[string]string{"UserName": p.ask.user, "PolicyName": "own", "PolicyDocument": p.identity})
				if says == "" && err == nil {
					var status int
					if status, says, _, err = signed(t.Context(), g.owner, "s3", http.MethodPut, g.s3+"/"+p.ask.at+"?policy", []byte(p.bucket), nil); status/100 == 2 {
						says = ""
					}
				}
				if ofGateway.refused, ofGateway.err = says, err; says == "" && err == nil {
					ofGateway.allowed, ofGateway.err = p.ask.send(t.Context(), g.s3, g.owner, keys[i])
				}
				mu.Lock()
				results["minio"], results["versitygw"] = append(results["minio"], ofMinio), append(results["versitygw"], ofGateway)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d pairs on two servers within %s", pairs, time.Since(began).Round(time.Millisecond))
	seen := map[string]map[string]int{}
	for name, list := range results {
		seen[name] = map[string]int{}
		for _, r := range list {
			if r.err != nil {
				t.Errorf("%s: %v: %s", name, r.err, r.pair)
				continue
			}
			class := servers[name].class(t, r)
			if class == "" {
				t.Errorf("%s: a difference of no known class: refused %q, allowed %v: %s", name, r.refused, r.allowed, r.pair)
			}
			seen[name][class]++
		}
	}
	want := documented(t)
	for name := range servers {
		if !maps.Equal(seen[name], want[name]) {
			t.Errorf("%s: seen %v\ndocs/store.md has %v", name, seen[name], want[name])
		}
	}
}

// documented are the counts of the table in docs/store.md: by server, by class.
func documented(t *testing.T) map[string]map[string]int {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/store.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "| class | MinIO | versitygw |")
	if !found {
		t.Fatal("docs/store.md has no table of the classes")
	}
	out := map[string]map[string]int{"minio": {}, "versitygw": {}}
	table, _, _ := strings.Cut(rest, "\n\n")
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, "|")
		for i, name := range []string{"minio", "versitygw"} {
			text := strings.TrimSpace(cells[2+i])
			if text == "-" {
				continue
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("docs/store.md: %s", row)
			}
			out[name][strings.Trim(strings.TrimSpace(cells[1]), "`")] = n
		}
	}
	return out
}
