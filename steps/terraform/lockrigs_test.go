package terraform

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/drills/lab"
	"handrail/steps/terraform/backend"
)

// lockRig is one backend on a real server, where locks can be written as the
// backend itself writes them.
type lockRig struct {
	name, backend, block string
	w                    *world
	// put writes the lock of an info; of none, one that nothing describes. It is
	// nil where only a run can hold one.
	put   func(info []byte, id string)
	clear func() // takes whatever lock there is away
	// tear puts bytes where the state is, past the backend, as an accident would.
	tear func(raw []byte)
	// hold takes the lock as a run elsewhere does, where the server holds a write to it.
	hold func() (letGo func())
	// extra are states that only this backend knows.
	extra []lockState
	deny  []string // environment in which nothing may be read
	proof func() string
}

// lockState is one that only some backends can be in; end undoes it.
type lockState struct {
	name string
	make func() (end func())
}

// ok fails the test that sets a lock up, not the one that is looked at.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, method, address string, body []byte) []byte {
	t.Helper()
	req, err := http.NewRequest(method, address, bytes.NewReader(body))
	ok(t, err)
	resp, err := http.DefaultClient.Do(req)
	ok(t, err)
	raw, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	ok(t, err)
	if resp.StatusCode/100 != 2 && resp.StatusCode != http.StatusNotFound {
		t.Fatalf("%s %s: %s %s", method, address, resp.Status, raw)
	}
	return raw
}

// otherID is that of a second lock.
const otherID = "22222222-2222-2222-2222-222222222222"

func s3Rig(t *testing.T, name, more string, file, table bool) *lockRig {
	a := newAWS(t)
	bucket, key := "team", "net/terraform.tfstate"
	if file {
		bucket = "plain"
	}
	r := &lockRig{name: name, backend: "s3", block: a.block(more)}
	r.w = newBackend(t, r.backend, r.block, quick, a.environ...)
	at := map[string]dtypes.AttributeValue{"LockID": &dtypes.AttributeValueMemberS{Value: bucket + "/" + key}}
	putFile := func(info []byte) {
		_, err := a.bucket.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String(key + ".tflock"), Body: bytes.NewReader(info)})
		ok(t, err)
		if l, err := lockOf(info); err == nil && !l.Created.IsZero() {
			a.writtenAt(t, l.Created)
		}
	}
	putItem := func(info []byte) {
		item := map[string]dtypes.AttributeValue{"LockID": at["LockID"]}
		if info != nil {
			item["Info"] = &dtypes.AttributeValueMemberS{Value: string(info)}
		}
		_, err := a.table.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("locks"), Item: item})
		ok(t, err)
	}
	dropFile := func() {
		_, err := a.bucket.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String(key + ".tflock")})
		ok(t, err)
	}
	dropItem := func() {
		_, err := a.table.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("locks"), Key: at})
		ok(t, err)
	}
	r.tear = func(raw []byte) {
		_, err := a.bucket.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(raw)})
		ok(t, err)
	}
	r.put = func(info []byte, _ string) {
		if file {
			putFile(info)
		}
		if table {
			putItem(info)
		}
	}
	r.clear = func() {
		if file {
			dropFile()
		}
		if table {
			dropItem()
		}
	}
	if file && table {
		mine, theirs := r.info(backend.LockInfo{Who: "ci@runner-7"}, time.Hour), r.info(backend.LockInfo{ID: otherID, Who: "ci@runner-9"}, 2*time.Hour)
		r.extra = append(r.extra,
			lockState{"two runs hold it, one in each system", func() func() { putFile(mine); putItem(theirs); return r.clear }},
			lockState{"the table alone holds it: somebody deleted the lock file", func() func() { putItem(mine); return r.clear }},
			lockState{"the lock file alone holds it: the other run does not use the table", func() func() { putFile(mine); return r.clear }})
	}
	if table {
		r.extra = append(r.extra, lockState{"the table cannot be reached", func() func() {
			was := r.w.env.Environ
			r.w.env.Environ = append(was[:len(was):len(was)], "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1")
			return func() { r.w.env.Environ = was }
		}})
	}
	r.deny = []string{"AWS_SECRET_ACCESS_KEY=wrong"}
	r.proof = func() string {
		if table {
			a.onlyReads(t)
			return "The access log of the S3 server and a gateway before DynamoDB show nothing of handrail but GetObject, HeadObject and GetItem."
		}
		a.onlyReadsOfBucket(t)
		return "The access log of the S3 server shows nothing of handrail but GetObject and HeadObject."
	}
	return r
}

func gcsRig(t *testing.T) *lockRig {
	w, gate := gcsWorld(t, quick)
	r := &lockRig{name: "gcs", backend: "gcs", block: gate.gcsBlock(), w: w}
	at := gate.URL + "/storage/v1/b/team/o/" + url.PathEscape(gate.unit+"/default.tflock")
	r.put = func(info []byte, _ string) {
		gate.writtenAt(info)
		send(t, http.MethodPost, gate.URL+"/upload/storage/v1/b/team/o?uploadType=media&name="+url.QueryEscape(gate.unit+"/default.tflock"), info)
	}
	r.clear = func() { send(t, http.MethodDelete, at, nil) }
	r.tear = func(raw []byte) {
		send(t, http.MethodPost, gate.URL+"/upload/storage/v1/b/team/o?uploadType=media&name="+url.QueryEscape(gate.unit+"/default.tfstate"), raw)
	}
	r.deny = []string{"STORAGE_EMULATOR_HOST=127.0.0.1:1"}
	r.proof = func() string {
		gate.onlyReads(t)
		return "A gateway before the server saw nothing of handrail but GET."
	}
	return r
}

func azureRig(t *testing.T) *lockRig {
	a := newAzureWorld(t)
	r := &lockRig{name: "azurerm", backend: "azurerm", block: a.block(), w: newBackend(t, "azurerm", a.block(), quick, a.environ...)}
	b := a.box.NewBlobClient(a.unit)
	meta := func(info []byte, with *blob.AccessConditions) {
		m := map[string]*string{}
		if info != nil {
			m["terraformlockid"] = aws.String(base64.StdEncoding.EncodeToString(info))
		}
		_, err := b.SetMetadata(t.Context(), m, &blob.SetMetadataOptions{AccessConditions: with})
		ok(t, err)
	}
	r.put = func(info []byte, id string) {
		a.writtenAt(info)
		c, err := lease.NewBlobClient(b, &lease.BlobClientOptions{LeaseID: &id})
		ok(t, err)
		_, err = c.AcquireLease(t.Context(), -1, nil)
		ok(t, err)
		meta(info, &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: &id}})
	}
	r.clear = func() {
		c, err := lease.NewBlobClient(b, nil)
		ok(t, err)
		_, err = c.BreakLease(t.Context(), &lease.BlobBreakOptions{BreakPeriod: new(int32)})
		ok(t, err)
		meta(nil, nil)
	}
	r.tear = func(raw []byte) {
		_, err := a.box.NewBlockBlobClient(a.unit).UploadBuffer(t.Context(), raw, nil)
		ok(t, err)
	}
	r.hold = func() func() { r.put(r.info(backend.LockInfo{}, 0), rigID); return r.clear }
	r.deny = []string{"ARM_ACCESS_KEY=d3Jvbmcga2V5"}
	r.proof = func() string {
		a.onlyReads(t)
		return "A gateway before the server saw nothing of handrail but GET and HEAD."
	}
	return r
}

func consulRig(t *testing.T) *lockRig {
	gate := newGateway(t, service(t, "consul", t.TempDir()).URL)
	r := &lockRig{name: "consul", backend: "consul", block: consulBlock(gate.URL)}
	r.w = newBackend(t, r.backend, r.block, quick)
	kv := gate.URL + "/v1/kv/tf/net"
	session := func(ttl string) string {
		var made struct{ ID string }
		ok(t, json.Unmarshal(send(t, http.MethodPut, gate.URL+"/v1/session/create", []byte(`{"LockDelay":"0s","TTL":"`+ttl+`","Behavior":"release"}`)), &made))
		return made.ID
	}
	hold := func(info []byte, ttl string) {
		id := session(ttl)
		if took := send(t, http.MethodPut, kv+"/.lock?acquire="+id, []byte("x")); strings.TrimSpace(string(took)) != "true" {
			t.Fatalf("taking the lock in consul: %s", took)
		}
		if info != nil {
			send(t, http.MethodPut, kv+"/.lockinfo", bytes.ReplaceAll(info, []byte(rigID), []byte(id)))
		}
	}
	r.tear = func(raw []byte) { send(t, http.MethodPut, kv, raw) }
	r.hold = func() func() { hold(r.info(backend.LockInfo{}, 0), ""); return r.clear }
	// A killed run keeps its lock for the time to live of its session.
	r.put = func(info []byte, _ string) { hold(info, "") }
	r.clear = func() {
		var keys []struct{ Session string }
		if raw := send(t, http.MethodGet, kv+"/.lock", nil); len(raw) > 0 {
			ok(t, json.Unmarshal(raw, &keys))
		}
		// Without its key a session holds no lock after its end.
		send(t, http.MethodDelete, kv+"/.lock", nil)
		send(t, http.MethodDelete, kv+"/.lockinfo", nil)
		for _, k := range keys {
			if k.Session != "" {
				send(t, http.MethodPut, gate.URL+"/v1/session/destroy/"+k.Session, nil)
			}
		}
	}
	r.extra = []lockState{
		{"a session that must be renewed holds it, for a run elsewhere", func() func() {
			hold(r.info(backend.LockInfo{Who: "ci@runner-7"}, time.Hour), "3600s")
			return r.clear
		}},
		{"it cannot be read: the agent is not behind its load balancer", func() func() {
			gate.down.Store(true)
			return func() { gate.down.Store(false) }
		}},
	}
	r.proof = func() string {
		gate.onlyReads(t)
		return "A gateway before the agent saw nothing of handrail but GET."
	}
	return r
}

func kubernetesRig(t *testing.T) *lockRig {
	w := newWorld(t, "kubernetes", quick)
	r := &lockRig{name: "kubernetes", backend: "kubernetes", w: w, block: fmt.Sprintf("secret_suffix = %q\nnamespace = %q", w.suffix(), w.ns.Name)}
	r.tear = func(raw []byte) { w.overwrite(r.backend, packed(t, raw)) }
	r.put = func(info []byte, id string) {
		w.editLease(func(o map[string]any) {
			o["spec"] = map[string]any{"holderIdentity": id}
			notes := map[string]any{}
			if info != nil {
				notes["app.terraform.io/lock-info"] = string(info)
			}
			o["metadata"].(map[string]any)["annotations"] = notes
		})
		if l, err := lockOf(info); err == nil && !l.Created.IsZero() {
			w.editLease(func(o map[string]any) {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)["lab.example/aged"] = "yes"
				heldAt(o, func(time.Time) time.Time { return l.Created })
			})
		}
	}
	r.clear = func() {
		w.editLease(func(o map[string]any) {
			o["spec"] = map[string]any{}
			delete(o["metadata"].(map[string]any), "annotations")
		})
	}
	raw, err := os.ReadFile(w.ns.OperatorKubeconfig)
	ok(t, err)
	wrong := filepath.Join(t.TempDir(), "kubeconfig")
	ok(t, os.WriteFile(wrong, regexp.MustCompile(`token: \S+`).ReplaceAll(raw, []byte("token: expired")), 0o600))
	r.deny = []string{"KUBE_CONFIG_PATH=" + wrong}
	r.proof = func() string {
		events, err := w.lab.AuditEvents(t.Context(), lab.AuditFilter{Namespace: w.ns.Name})
		ok(t, err)
		runs := 0
		for _, e := range events {
			if strings.HasSuffix(e.User, ":operator") {
				t.Errorf("the audit log has %s %s of whom handrail asks as", e.Verb, e.URI)
			}
			if strings.HasSuffix(e.User, ":robot") {
				runs++
			}
		}
		if runs == 0 {
			t.Error("the audit log has no write at all, not even those of the runs")
		}
		return "The audit log of the API server has everything but plain reads, and nothing of the account that handrail reads with."
	}
	return r
}

func pgRig(t *testing.T) *lockRig {
	dir := t.TempDir()
	server := service(t, "postgres", dir)
	r := &lockRig{name: "pg", backend: "pg", block: pgBlock(t)}
	r.w = newBackend(t, "pg", r.block, quick, server.Env...)
	schema := strings.Trim(strings.TrimPrefix(r.block, "schema_name = "), `"`)
	db := openPG(t, strings.Join(connection(server.Env), " "))
	hold := func(query string) func() func() {
		return func() func() {
			conn, err := db.Conn(t.Context())
			ok(t, err)
			_, err = conn.ExecContext(t.Context(), query)
			ok(t, err)
			return func() {
				_, err := conn.ExecContext(t.Context(), "SELECT pg_advisory_unlock_all()")
				ok(t, err)
				ok(t, conn.Close())
			}
		}
	}
	r.extra = []lockState{
		{"another client of the server holds it: a run elsewhere", hold("SELECT pg_advisory_lock(id) FROM " + schema + ".states WHERE name = 'default'")},
		{"somebody makes a workspace with an old version", hold("SELECT pg_advisory_lock(-1)")},
	}
	r.clear = func() { r.gone(t, db) }
	r.tear = func(raw []byte) {
		_, err := db.ExecContext(t.Context(), "UPDATE "+schema+".states SET data = $1 WHERE name = 'default'", string(raw))
		ok(t, err)
	}
	r.hold = func() func() { return r.extra[0].make() }
	r.deny = []string{"PGPASSWORD=wrong"}
	r.proof = func() string {
		onlyReadsOfPG(t, dir)
		return "The log of the server, which has every statement, shows nothing of handrail but reads in read-only transactions."
	}
	return r
}

// gone waits until the server saw that the session of a killed run is over.
func (r *lockRig) gone(t *testing.T, db *sql.DB) {
	t.Helper()
	// A request for the lock is answered when it is there, not after a time.
	conn, err := db.Conn(t.Context())
	ok(t, err)
	_, err = conn.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()")
	ok(t, err)
	ok(t, conn.Close())
}

func onlyReadsOfPG(t *testing.T, dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	ok(t, err)
	ours := 0
	for line := range strings.Lines(string(raw)) {
		_, said, found := strings.Cut(line, "[handrail] ")
		if !found {
			continue
		}
		if strings.HasPrefix(said, "LOG:  execute") || strings.HasPrefix(said, "LOG:  statement") {
			ours++
		}
		for _, bad := range []string{"INSERT", "UPDATE", "DELETE", "CREATE", "pg_advisory", "pg_try", "pg_terminate", "COMMIT"} {
			if strings.Contains(said, bad) {
				t.Errorf("the log of the server has %s", line)
			}
		}
	}
	if ours == 0 {
		t.Errorf("the log has no statement of handrail:\n%.2000s", raw)
	}
}

func httpRig(t *testing.T) *lockRig {
	s := newStateServer(t)
	block := fmt.Sprintf("address = %q\nlock_address = %q\nunlock_address = %q", s.URL+"/state", s.URL+"/state/lock", s.URL+"/state/lock")
	r := &lockRig{name: "http", backend: "http", block: block}
	r.w = newBackend(t, "http", block, quick, "TF_HTTP_USERNAME=bot", "TF_HTTP_PASSWORD=http-password")
	r.clear = func() { s.mu.Lock(); s.held = nil; s.mu.Unlock() }
	r.tear = func(raw []byte) { s.mu.Lock(); s.state = raw; s.mu.Unlock() }
	r.hold = func() func() { return s.hold(anotherRun) }
	r.deny = []string{"TF_HTTP_PASSWORD=expired"}
	r.proof = func() string {
		s.onlyReads(t)
		for _, agent := range s.taken {
			if strings.Contains(agent, "handrail") {
				t.Errorf("handrail took the lock as %s", agent)
			}
		}
		return "The server saw nothing of handrail but GET, and no LOCK."
	}
	return r
}

func localRig(t *testing.T) *lockRig {
	r := &lockRig{name: "local", backend: "local", w: newBackend(t, "local", "", quick)}
	info, state := filepath.Join(r.w.dir, ".terraform.tfstate.lock.info"), filepath.Join(r.w.dir, "terraform.tfstate")
	leave := func(raw []byte) func() func() {
		return func() func() {
			ok(t, os.WriteFile(info, raw, 0o600))
			return func() { ok(t, os.Remove(info)) }
		}
	}
	r.clear = func() { _ = os.Remove(info) }
	r.tear = func(raw []byte) { r.w.overwrite(r.backend, raw) }
	r.extra = []lockState{
		{"an info file of another machine lies there, and nobody holds the lock", leave(r.info(backend.LockInfo{Who: "ci@runner-7"}, time.Hour))},
		{"a torn info file lies there, and nobody holds the lock", leave([]byte(`{"ID":"1111`))},
		{"the state file is a directory", func() func() {
			ok(t, os.Rename(state, state+".away"))
			ok(t, os.Mkdir(state, 0o700))
			return func() { ok(t, os.Remove(state)); ok(t, os.Rename(state+".away", state)) }
		}},
	}
	list := func() string {
		out := ""
		entries, err := os.ReadDir(r.w.dir)
		ok(t, err)
		for _, e := range entries {
			i, err := e.Info()
			ok(t, err)
			out += fmt.Sprintln(e.Name(), i.Size(), i.ModTime().UnixNano())
		}
		return out
	}
	r.proof = func() string {
		before := list()
		r.look(t)
		r.w.look()
		if after := list(); after != before {
			t.Errorf("the directory was\n%s\nand is\n%s", before, after)
		}
		return "No file of the directory changed its size or time while it was read."
	}
	return r
}
