package bucket

import (
	"bytes"
	"crypto/md5" // it is what an ETag is made of
	"crypto/rand"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func randomBytes() (out [16]byte) {
	_, _ = rand.Read(out[:]) // it never fails
	return out
}

func etag(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// object is one object as it is now.
type object struct {
	content []byte
	written time.Time
}

// load reads an object; one that is not there is nil.
func (s *server) load(bucket, key string) (*object, error) {
	name := ObjectFile(s.dir, bucket, key)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(name)
	return &object{content, info.ModTime()}, err
}

var (
	noSuchKey    = fault{http.StatusNotFound, "NoSuchKey", "The specified key does not exist."}
	precondition = fault{http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold"}
)

// get answers as net/http does for a file, which knows ranges and conditions.
func (s *server) get(c call) error {
	o, err := s.load(c.bucket, c.key)
	if err != nil {
		return err
	}
	if o == nil {
		return noSuchKey
	}
	if want := c.r.Header.Get("If-Match"); want != "" && strings.Trim(want, `"`) != strings.Trim(etag(o.content), `"`) {
		return precondition
	}
	c.r.Header.Del("If-Match") // quoted or not, it holds
	c.w.Header().Set("Content-Type", "application/octet-stream")
	c.w.Header().Set("Etag", etag(o.content))
	http.ServeContent(c.w, c.r, "", o.written, bytes.NewReader(o.content))
	return nil
}

// put stores an object, where its conditions hold.
func (s *server) put(c call, content []byte) error {
	if c.r.Header.Get("X-Amz-Copy-Source") != "" {
		return notImplemented
	}
	old, err := s.load(c.bucket, c.key)
	if err != nil {
		return err
	}
	if none := c.r.Header.Get("If-None-Match"); none != "" && old != nil {
		return precondition
	}
	if want := c.r.Header.Get("If-Match"); want != "" {
		if old == nil {
			return noSuchKey
		}
		if strings.Trim(want, `"`) != strings.Trim(etag(old.content), `"`) {
			return precondition
		}
	}
	name := ObjectFile(s.dir, c.bucket, c.key)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	partial := filepath.Join(s.dir, "partial")
	if err := errors.Join(os.WriteFile(partial, content, 0o600), os.Rename(partial, name)); err != nil {
		return err
	}
	c.w.Header().Set("Etag", etag(content))
	c.w.WriteHeader(http.StatusOK)
	return nil
}

// remove takes an object away; one that is gone already is no fault.
func (s *server) remove(c call) error {
	if err := os.Remove(ObjectFile(s.dir, c.bucket, c.key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// The documents that S3 answers with.
type (
	errorDocument struct {
		XMLName   xml.Name `xml:"Error"`
		Code      string
		Message   string
		Resource  string
		RequestID string `xml:"RequestId"`
	}
	versioning struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ VersioningConfiguration"`
	}
	location struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
	}
	listed struct {
		Key          string
		LastModified string
		ETag         string
		Size         int
		StorageClass string
	}
	listedVersion struct {
		Key          string
		VersionID    string `xml:"VersionId"`
		IsLatest     bool
		LastModified string
		ETag         string
		Size         int
		StorageClass string
	}
	prefixes struct{ Prefix string }
	listing  struct {
		XMLName        xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		Name           string
		Prefix         string
		Delimiter      string `xml:",omitempty"`
		KeyCount       int
		MaxKeys        int
		IsTruncated    bool
		Contents       []listed
		CommonPrefixes []prefixes
	}
	versions struct {
		XMLName     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListVersionsResult"`
		Name        string
		Prefix      string
		MaxKeys     int
		IsTruncated bool
		Version     []listedVersion
	}
)

func writeXML(w io.Writer, document any) {
	raw, err := xml.Marshal(document)
	if err == nil {
		_, _ = io.WriteString(w, xml.Header+string(raw)) // a client that is gone needs no answer
	}
}

// maxKeys is how many objects one list has.
const maxKeys = 1000

// ofBucket answers what is asked of the bucket itself.
func (s *server) ofBucket(c call) error {
	q := c.r.URL.Query()
	var document any
	switch {
	case c.r.Method == http.MethodHead:
		return nil
	case c.r.Method != http.MethodGet:
		return notImplemented
	case q.Has("versioning"):
		document = versioning{}
	case q.Has("location"):
		document = location{}
	case q.Has("versions"), q.Get("list-type") == "2":
		keys, err := s.keysOf(c.bucket)
		if err != nil {
			return err
		}
		if len(keys) > maxKeys || q.Has("continuation-token") || q.Has("start-after") || q.Has("key-marker") {
			return notImplemented
		}
		most := maxKeys
		if n, err := strconv.Atoi(q.Get("max-keys")); err == nil && n > 0 && n < maxKeys {
			most = n
		}
		if document, err = s.list(c, keys, q.Get("prefix"), q.Get("delimiter"), q.Has("versions"), most); err != nil {
			return err
		}
	default:
		return notImplemented
	}
	c.w.Header().Set("Content-Type", "application/xml")
	c.w.WriteHeader(http.StatusOK)
	writeXML(c.w, document)
	return nil
}

// list is the document of a list. One that is cut short says so, and cannot be gone on with.
func (s *server) list(c call, keys []string, prefix, delimiter string, all bool, most int) (any, error) {
	out := listing{Name: c.bucket, Prefix: prefix, Delimiter: delimiter, MaxKeys: most}
	old := versions{Name: c.bucket, Prefix: prefix, MaxKeys: most}
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if out.KeyCount == most {
			out.IsTruncated, old.IsTruncated = true, true
			break
		}
		if head, _, nested := strings.Cut(rest, delimiter); nested && delimiter != "" {
			if p := (prefixes{prefix + head + delimiter}); !slices.Contains(out.CommonPrefixes, p) {
				out.CommonPrefixes = append(out.CommonPrefixes, p)
				out.KeyCount++
			}
			continue
		}
		o, err := s.load(c.bucket, key)
		if err != nil {
			return nil, err
		}
		if o == nil { // taken away beside us
			continue
		}
		at := o.written.UTC().Format("2006-01-02T15:04:05.000Z")
		out.Contents = append(out.Contents, listed{key, at, etag(o.content), len(o.content), "STANDARD"})
		old.Version = append(old.Version, listedVersion{key, "null", true, at, etag(o.content), len(o.content), "STANDARD"})
		out.KeyCount++
	}
	if all {
		return old, nil
	}
	return out, nil
}

// keysOf are the keys of all objects, in order.
func (s *server) keysOf(bucket string) ([]string, error) {
	root := filepath.Join(s.dir, dirObjects, bucket)
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		out = append(out, filepath.ToSlash(name))
		return err
	})
	slices.Sort(out)
	return out, err
}
