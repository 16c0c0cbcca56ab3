package backend

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"handrail/steps"
	"handrail/steps/terraform/prose"
	"handrail/steps/transport"
)

// gcsStore is the backend that keeps the state as an object in Cloud Storage and
// the lock as an object beside it. What force-unlock takes is the generation of
// that object, not the id that stands in it.
type gcsStore struct {
	env         steps.Env
	fetch       *fetcher
	open        way
	token       oauth2.TokenSource // nil for an emulator
	out         steps.Sink
	base        string // address of the API; an endpoint of one's own may end in /b
	bucket, key string // of the state
	lockKey     string
	customer    []byte
	kms         string // key of the cloud that a new object is encrypted with
}

func newGCS(ctx context.Context, set settings, out steps.Sink) (*gcsStore, error) {
	g := &gcsStore{env: set.env, out: out, bucket: set.w.Setting("bucket"), kms: set.get("kms_encryption_key", "GOOGLE_KMS_ENCRYPTION_KEY")}
	if g.bucket == "" {
		return nil, errors.New("gcs backend: its settings name no bucket; run tofu init there yourself")
	}
	prefix := strings.TrimLeft(set.w.Setting("prefix"), "/")
	g.key, g.lockKey = path.Join(prefix, set.w.Space+".tfstate"), path.Join(prefix, set.w.Space+".tflock")
	if key := set.get("encryption_key", "GOOGLE_ENCRYPTION_KEY"); key != "" {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(contents(set, key)))
		if err != nil || len(raw) != 32 {
			return nil, errors.New("gcs backend: encryption_key is not 32 bytes in base64")
		}
		out.Secret(base64.StdEncoding.EncodeToString(raw))
		g.customer = raw
	}
	named := set.w.Setting("storage_custom_endpoint")
	g.base = set.get("storage_custom_endpoint", "GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT")
	emulator := set.env.Getenv("STORAGE_EMULATOR_HOST")
	switch {
	case g.base != "" && !strings.Contains(g.base, "://"):
		// A host alone, which the library of the tools puts in the place of its own.
		g.base = "https://" + g.base + "/storage/v1/"
	case g.base != "":
	case emulator != "":
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		g.base = strings.TrimSuffix(emulator, "/") + "/storage/v1/"
	default:
		domain := set.get("universe_domain", "GOOGLE_BACKEND_UNIVERSE_DOMAIN")
		if domain == "" {
			domain = "googleapis.com"
		} else if set.w.Setting("universe_domain") != "" {
			named = domain
		}
		g.base = "https://storage." + domain + "/storage/v1/"
	}
	keyFile := ""
	if key := set.w.Setting("encryption_key"); key != "" && contents(set, key) != key {
		keyFile = "the key in a file"
	}
	if err := set.refuseLoan(serverOf(named), "", set.lend("encryption_key", "GOOGLE_ENCRYPTION_KEY"), keyFile); err != nil {
		return nil, err
	}
	u, err := url.Parse(g.base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("gcs backend: %q is no address", steps.Clip(g.base, 200))
	}
	if emulator == "" || named != "" {
		if g.token, err = googleToken(ctx, set, named, out); err != nil {
			return nil, err
		}
	}
	g.open = func(guard guardOf) (*fetcher, error) {
		return newFetcher(set.env, trust{named: named != ""}, guard, u.Scheme+"://"+u.Host, out)
	}
	g.fetch, err = g.open(transport.Fetch)
	return g, err
}

func (g *gcsStore) Name() string { return "gcs" }

func (g *gcsStore) Cluster(context.Context) (string, string, error) { return g.fetch.server(), "", nil }

// generations are what Cloud Storage numbers the states of an object with.
var generations = regexp.MustCompile(`^[0-9]{1,19}$`)

func (g *gcsStore) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockByGeneration, Grammar: generations, ByHand: "delete the object of the lock by hand if the lock must go"}
}

func (g *gcsStore) where() string { return "gs://" + g.bucket + "/" + g.key }

func (g *gcsStore) Command(what string) string {
	switch what {
	case "lock":
		at := steps.Quote("gs://" + g.bucket + "/" + g.lockKey)
		return "gcloud storage objects describe " + at + "; gcloud storage cat " + at
	case "versions":
		return "gcloud storage ls --all-versions --long " + steps.Quote(g.where())
	}
	return "gcloud storage cat " + steps.Quote(g.where())
}

// header signs in, and brings the key of the customer for an object that is encrypted with one.
func (g *gcsStore) header(keyed bool) (http.Header, error) {
	header := http.Header{}
	if g.token != nil {
		token, err := g.token.Token()
		if err != nil {
			return nil, denied("gcs backend: no token: %v; sign in again, as for the run that failed", tokenTrouble(err))
		}
		g.out.Secret(token.AccessToken)
		header.Set("Authorization", "Bearer "+token.AccessToken)
	}
	if keyed && g.customer != nil {
		sum := sha256.Sum256(g.customer)
		header.Set("X-Goog-Encryption-Algorithm", "AES256")
		header.Set("X-Goog-Encryption-Key", base64.StdEncoding.EncodeToString(g.customer))
		header.Set("X-Goog-Encryption-Key-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return header, nil
}

// ask gets one address below the API; errAbsent says that there is nothing.
func (g *gcsStore) ask(ctx context.Context, what, below string, query url.Values, keyed bool) (*http.Response, error) {
	header, err := g.header(keyed)
	if err != nil {
		return nil, err
	}
	address, err := g.address("b/"+url.PathEscape(g.bucket)+below, query)
	if err != nil {
		return nil, err
	}
	resp, err := g.fetch.get(ctx, http.MethodGet, address, header)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent {
		return resp, nil
	}
	said, _ := small(resp)
	return nil, g.refused(what, resp.StatusCode, said)
}

// address is where the tools would ask: their library resolves what it asks for
// against the endpoint, as a link on a page. One that ends in /storage/v1/b, as the
// documentation has it, loses the b that way, and one that ends in /b/ keeps it.
func (g *gcsStore) address(from string, query url.Values) (string, error) {
	base, err := url.Parse(g.base)
	if err != nil {
		return "", fmt.Errorf("gcs backend: %q is no address", steps.Clip(g.base, 200))
	}
	rel, err := url.Parse(from)
	if err != nil {
		return "", fmt.Errorf("gcs backend: bucket %q: %w", steps.Clip(g.bucket, 100), err)
	}
	u := base.ResolveReference(rel)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// missing makes sure that an object is absent, and not merely asked for where no
// Cloud Storage answers: the list of its bucket is there and does not have it.
func (g *gcsStore) missing(ctx context.Context, key string) error {
	resp, err := g.ask(ctx, "gs://"+g.bucket, "/o", url.Values{"prefix": {key}, "maxResults": {"10"}}, false)
	if errors.Is(err, errAbsent) {
		return fmt.Errorf("%s has no bucket %q where the tools would ask for it (%s): check storage_custom_endpoint, it ends in /storage/v1/b", g.fetch.server(), g.bucket, steps.Clip(g.base, 200))
	}
	if err != nil {
		return fmt.Errorf("whether gs://%s/%s is absent or out of sight: %w", g.bucket, key, err)
	}
	raw, err := small(resp)
	if err != nil {
		return err
	}
	var list struct {
		Kind  string
		Items []struct{ Name string }
	}
	if json.Unmarshal(raw, &list) != nil || list.Kind != "storage#objects" {
		return fmt.Errorf("%s answered no list of Cloud Storage: check storage_custom_endpoint", g.fetch.server())
	}
	for _, o := range list.Items {
		if o.Name == key {
			return fmt.Errorf("gs://%s/%s is in the list of its bucket and could not be read: read it again", g.bucket, key)
		}
	}
	return nil
}

// refused tells apart what Cloud Storage says no to.
func (g *gcsStore) refused(what string, code int, said []byte) error {
	var doc struct {
		Error struct{ Message string }
	}
	text := string(said)
	if json.Unmarshal(said, &doc) == nil && doc.Error.Message != "" {
		text = doc.Error.Message
	}
	text = steps.Clip(strings.TrimSpace(text), 300)
	switch {
	case code == http.StatusNotFound && strings.Contains(text, "bucket") && strings.Contains(text, "not exist"):
		return fmt.Errorf("the bucket %q does not exist: check bucket and credentials", g.bucket)
	case code == http.StatusNotFound:
		return errAbsent
	case code == http.StatusUnauthorized:
		return denied("%s does not accept the credentials (%q); they may have expired: sign in again", g.fetch.server(), text)
	case code == http.StatusForbidden:
		return denied("forbidden: the credentials may not read %s (%q); ask for storage.objects.get and storage.objects.list on the bucket %s", what, text, g.bucket)
	}
	return fmt.Errorf("%s: %s answered %d: %q", what, g.fetch.server(), code, text)
}

func gcsPath(key string) string { return "/o/" + url.PathEscape(key) }

// gcsObject is what Cloud Storage says of one object.
type gcsObject struct {
	Name       string    `json:"name"`
	Generation string    `json:"generation"`
	Size       string    `json:"size"`
	Updated    time.Time `json:"updated"`
	Created    time.Time `json:"timeCreated"`
	Deleted    time.Time `json:"timeDeleted"` // of an older version
}

func parseGCSObject(raw []byte) (gcsObject, error) {
	var o gcsObject
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, fmt.Errorf("description of the object: %w", err)
	}
	if !generations.MatchString(o.Generation) {
		return o, fmt.Errorf("description of the object: its generation is %q", steps.Clip(o.Generation, 40))
	}
	return o, nil
}

func parseGCSList(raw []byte) (list []gcsObject, next string, err error) {
	var doc struct {
		Items []gcsObject `json:"items"`
		Next  string      `json:"nextPageToken"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, "", fmt.Errorf("list of versions: %w", err)
	}
	for _, o := range doc.Items {
		if !generations.MatchString(o.Generation) {
			return nil, "", fmt.Errorf("list of versions: one has the generation %q", steps.Clip(o.Generation, 40))
		}
	}
	return doc.Items, doc.Next, nil
}

func (g *gcsStore) describe(ctx context.Context, key string) (gcsObject, error) {
	resp, err := g.ask(ctx, "gs://"+g.bucket+"/"+key, gcsPath(key), nil, false)
	if err != nil {
		return gcsObject{}, err
	}
	raw, err := small(resp)
	if err != nil {
		return gcsObject{}, err
	}
	return parseGCSObject(raw)
}

// media reads the contents of one generation.
func (g *gcsStore) media(ctx context.Context, key, generation string) (*http.Response, error) {
	return g.ask(ctx, "gs://"+g.bucket+"/"+key, gcsPath(key), url.Values{"alt": {"media"}, "generation": {generation}}, key == g.key)
}

// smallMedia reads the whole of a small object.
func (g *gcsStore) smallMedia(ctx context.Context, key, generation string) ([]byte, error) {
	resp, err := g.media(ctx, key, generation)
	if err != nil {
		return nil, err
	}
	return small(resp)
}

func (g *gcsStore) Lock(ctx context.Context) (Lock, error) {
	r := Lock{Where: "gs://" + g.bucket + "/" + g.lockKey, Media: steps.MediaJSON}
	o, err := g.describe(ctx, g.lockKey)
	r.at, r.noClock = g.fetch.clock(g.env)
	if errors.Is(err, errAbsent) {
		if err := g.missing(ctx, g.lockKey); err != nil {
			return Lock{}, fmt.Errorf("lock: %w", err)
		}
		return r, nil
	}
	if err == nil {
		r.Raw, err = g.smallMedia(ctx, g.lockKey, o.Generation)
	}
	if errors.Is(err, errAbsent) {
		return Lock{}, errors.New("lock: it was released while it was read: read it again")
	}
	if err != nil {
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	r.Held, r.ID = true, o.Generation
	// A generation is written once; updated moves with its metadata too.
	if r.wrote.at = o.Created; r.wrote.at.IsZero() {
		r.wrote.why = "Cloud Storage does not say when it made the object of the lock"
	}
	info, err := parseLockInfo(r.Raw)
	if err != nil {
		r.InfoWhy = "the description of the lock cannot be read: " + err.Error()
		return r, nil
	}
	r.note(steps.Info, "force-unlock takes the generation %s here; the id that stands in the lock, %s, is refused.", o.Generation, steps.Clip(prose.OrUnknown(info.ID), 60))
	// The generation cannot stand in what it numbers.
	info.ID = o.Generation
	r.Info = info
	return r, nil
}

func (g *gcsStore) State(ctx context.Context) (State, error) {
	r := State{Where: g.where()}
	o, err := g.describe(ctx, g.key)
	if errors.Is(err, errAbsent) {
		if err := g.missing(ctx, g.key); err != nil {
			return r, fmt.Errorf("state: %w", err)
		}
		return r, nil
	}
	open := func(ctx context.Context) (io.ReadCloser, error) {
		resp, err := g.media(ctx, g.key, o.Generation)
		if errors.Is(err, errAbsent) {
			err = fmt.Errorf("generation %s is gone: it was written while it was read, read it again", o.Generation)
		}
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
	var first io.ReadCloser
	if err == nil {
		first, err = open(ctx)
	}
	if err != nil {
		return r, fmt.Errorf("state: %w", err)
	}
	r.Exists, r.Written, r.Version = true, o.Updated, o.Generation
	_, _ = fmt.Sscan(o.Size, &r.size)
	r.Body = newStateReader(ctx, first, open)
	return r, nil
}
