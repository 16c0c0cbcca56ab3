package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/lib/pq"
)

// ask sends a request to a server that knows its owner by the address alone.
func ask(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxState))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s answered %d: %.300s", method, req.URL.Path, res.StatusCode, raw)
	}
	return raw, err
}

// taken is when a run took its lock, by its own word.
var taken = regexp.MustCompile(`"Created":"([^"]+)"`)

// older is what a run wrote of itself into its lock, as if that had been earlier. Every other byte stays: the item of
// a table is released only as the run wrote it.
func older(raw []byte, by time.Duration) (aged []byte, then time.Time, err error) {
	m := taken.FindSubmatch(raw)
	if m == nil {
		return nil, then, errors.New("the lock does not say when it was taken")
	}
	created, err := time.Parse(time.RFC3339Nano, string(m[1]))
	if err != nil {
		return nil, then, fmt.Errorf("lock of the state: %w", err)
	}
	then = created.Add(-by).UTC()
	return taken.ReplaceAll(raw, []byte(`"Created":"`+then.Format(time.RFC3339Nano)+`"`)), then, nil
}

// Backdate makes the lock older: what it says of itself, and when the server says that it was written.
func (p *Place) Backdate(ctx context.Context, by time.Duration) error {
	set := map[string]func(context.Context, time.Duration) (time.Time, error){Table: p.ageItem, GCS: p.ageObject, Azure: p.ageLease}[p.Plan.Backend]
	if set == nil {
		return fmt.Errorf("a lock on %s has no age that a drill could change", p.Plan.Backend)
	}
	then, err := set(ctx, by)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, fileAged), []byte(then.Format(time.RFC3339Nano)), 0o600)
}

// ageItem writes the item of the table anew.
func (p *Place) ageItem(ctx context.Context, by time.Duration) (then time.Time, err error) {
	items, id := p.items(), map[string]dtypes.AttributeValue{"LockID": &dtypes.AttributeValueMemberS{Value: bucketName + "/" + p.key()}}
	got, err := items.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(tableName), Key: id, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return then, err
	}
	info, ok := got.Item["Info"].(*dtypes.AttributeValueMemberS)
	if !ok {
		return then, errors.New("the table has no lock of the state")
	}
	aged, then, err := older([]byte(info.Value), by)
	if err != nil {
		return then, err
	}
	got.Item["Info"] = &dtypes.AttributeValueMemberS{Value: string(aged)}
	_, err = items.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: got.Item})
	return then, err
}

// ageObject writes the lock object anew, which has another generation then.
func (p *Place) ageObject(ctx context.Context, by time.Duration) (then time.Time, err error) {
	name := p.Plan.Unit + "/default.tflock"
	raw, err := ask(ctx, http.MethodGet, p.Server["url"]+"/storage/v1/b/"+bucketName+"/o/"+url.PathEscape(name)+"?alt=media", nil)
	if err != nil {
		return then, err
	}
	aged, then, err := older(raw, by)
	if err != nil {
		return then, err
	}
	_, err = ask(ctx, http.MethodPost, p.Server["url"]+"/upload/storage/v1/b/"+bucketName+"/o?uploadType=media&name="+url.QueryEscape(name), aged)
	return then, err
}

// ageLease writes the metadata of the blob anew, under its lease.
func (p *Place) ageLease(ctx context.Context, by time.Duration) (then time.Time, err error) {
	box, err := p.box()
	if err != nil {
		return then, err
	}
	b := box.NewBlobClient(p.key())
	now, err := b.GetProperties(ctx, nil)
	if err != nil {
		return then, err
	}
	for name, text := range now.Metadata {
		if !strings.EqualFold(name, "terraformlockid") || text == nil {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(*text)
		if err != nil {
			return then, err
		}
		aged, then, err := older(raw, by)
		if err != nil {
			return then, err
		}
		id := lockID(aged)
		now.Metadata[name] = aws.String(base64.StdEncoding.EncodeToString(aged))
		_, err = b.SetMetadata(ctx, now.Metadata, &blob.SetMetadataOptions{AccessConditions: &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: &id}}})
		return then, err
	}
	return then, errors.New("the blob of the state describes no lock")
}

// Release ends the lock as the owner of the server does, where force-unlock cannot.
func (p *Place) Release(ctx context.Context) error {
	switch p.Plan.Backend {
	case HTTP:
		return os.Remove(filepath.Join(p.dir, fileLock))
	case PG:
		return p.query(ctx, "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()")
	}
	return fmt.Errorf("on %s the lock is released by force-unlock, or by the end of its holder", p.Plan.Backend)
}

// Overwrite puts bytes where the state is, past the tools and their lock, as a write does that breaks off.
func (p *Place) Overwrite(ctx context.Context, raw []byte) error {
	switch p.Plan.Backend {
	case Table: // the digest stays as it is, as after such a write
		_, err := p.bucket().PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucketName), Key: aws.String(p.key()), Body: bytes.NewReader(raw)})
		return err
	case GCS:
		_, err := ask(ctx, http.MethodPost, p.Server["url"]+"/upload/storage/v1/b/"+bucketName+"/o?uploadType=media&name="+url.QueryEscape(p.Plan.Unit+"/default.tfstate"), raw)
		return err
	case Azure:
		box, err := p.box()
		if err != nil {
			return err
		}
		_, err = box.NewBlockBlobClient(p.key()).UploadBuffer(ctx, raw, nil)
		return err
	case Consul:
		_, err := ask(ctx, http.MethodPut, p.Server["url"]+"/v1/kv/"+p.Plan.Unit, raw)
		return err
	case PG:
		return p.query(ctx, "UPDATE "+pq.QuoteIdentifier(p.schema())+".states SET data = $1 WHERE name = 'default'", string(raw))
	case HTTP:
		return os.WriteFile(filepath.Join(p.dir, fileState), raw, 0o600)
	}
	return fmt.Errorf("a drill keeps no state on %q", p.Plan.Backend)
}

// query runs one statement as the owner of the database.
func (p *Place) query(ctx context.Context, text string, args ...any) error {
	var dsn []string
	for name, key := range map[string]string{"PGHOST": "host", "PGPORT": "port", "PGUSER": "user", "PGPASSWORD": "password", "PGDATABASE": "dbname", "PGSSLMODE": "sslmode"} {
		dsn = append(dsn, key+"="+p.Server[name])
	}
	c, err := pq.NewConnector(strings.Join(append(dsn, "application_name=owner"), " "))
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	_, err = db.ExecContext(ctx, text, args...)
	return errors.Join(err, db.Close())
}
